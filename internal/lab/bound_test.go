package lab

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/lab/policy"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
)

// Advice on the age of served data depends on the protocol. A protocol that serves stale pages needs a shorter lifetime
// than a protocol whose readers wait. Advice is refused if the protocol serves stale pages for too long.
func TestAdviceKeepsTheLongestStaleness(t *testing.T) {
	effort.Long(t)
	for _, test := range []struct {
		protocol, contention string
		longest, skew        time.Duration
		want                 time.Duration // 0 is none
	}{
		{"recipe-a", "serve-stale", time.Minute, 0, 30 * time.Second},
		{"recipe-a", "wait", time.Minute, 0, time.Minute},
		{"recipe-b", "serve-stale", time.Minute, 2 * time.Second, 30 * time.Second},
		{"recipe-a", "serve-stale", time.Second, 0, 0},
		{"policy-swr", "serve-stale", time.Minute, 0, 30 * time.Second},
		{"policy-swr", "serve-stale", 50 * time.Second, 0, 15 * time.Second},
		{"policy-swr", "serve-stale", 30 * time.Second, 0, 0},
		{"policy-absolute", "serve-stale", time.Minute, 0, time.Minute},
	} {
		of, err := kernel.ProtocolNamed(test.protocol)
		if err != nil {
			t.Fatal(err)
		}
		d := policy.Demand{Changes: 1.0 / 3600, Reads: 100, Miss: 1, Stale: 1, Longest: test.longest, Skew: test.skew}
		c := Cache{Protocol: of, Contention: test.contention, Lease: 30 * time.Second}
		got, err := c.Bound(t.Context(), d)
		switch {
		case test.want == 0 && (!errors.Is(err, policy.ErrImpossible) ||
			!strings.Contains(err.Error(), "before it asked")):
			t.Errorf("%s, %s, %s: got %s, %v, want no advice, and a violation", test.protocol, test.contention,
				test.longest, got.Lifetime, err)
		case test.want > 0 && (err != nil || got.Lifetime != test.want ||
			got.Lifetime+got.Retention > test.longest+time.Second):
			t.Errorf("%s, %s, %s: got a lifetime of %s and a retention of %s, %v; want %s", test.protocol,
				test.contention, test.longest, got.Lifetime, got.Retention, err, test.want)
		}
	}
}

// The former advice violates the demand: its lifetime is the whole demanded staleness, but the protocol then serves
// stale pages for a day.
func TestAStalePageBreaksTheLongestStaleness(t *testing.T) {
	c := Cache{Protocol: kernel.Protocols()[0], Contention: "serve-stale", Lease: 30 * time.Second}
	b := Bounded{Advice: policy.Advice{Lifetime: time.Minute}, Retention: 24 * time.Hour}
	why, err := c.breaks(t.Context(), policy.Demand{Longest: time.Minute}, b)
	if err != nil || !strings.Contains(why, "as stale") {
		t.Errorf("got %q, %v, want a stale page that is older than a minute", why, err)
	}
}

func TestLag(t *testing.T) {
	for text, want := range map[string]policy.Dist{
		"never":           policy.Fixed(policy.Never),
		"at-once":         policy.Fixed(0),
		"fixed 10m":       policy.Fixed(10 * time.Minute),
		"uniform 1m 48h":  policy.Between(time.Minute, 48*time.Hour),
		"exponential 10m": policy.ExponentialWith(10 * time.Minute),
		"90s":             policy.ExponentialWith(90 * time.Second),
		"0s":              policy.Fixed(0),
	} {
		var got Lag
		if err := got.Set(text); err != nil || got.Dist != want {
			t.Errorf("%q: got %s, %v; want %s", text, got.Dist, err, want)
		}
	}
	for _, text := range []string{"", "soon", "manual", "per-item lag", "-1h", "fixed -1h", "uniform 1m",
		"uniform -2m -1m", "exponential"} {
		if err := new(Lag).Set(text); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}

// A lease has to last for the render and for twice the skew: the holder's clock is behind, and the other one ahead.
func TestSafeLease(t *testing.T) {
	effort.Long(t)
	for _, test := range []struct{ render, skew, least, most time.Duration }{
		{100 * time.Millisecond, 0, time.Second, time.Second},
		{3 * time.Second, 0, 3 * time.Second, 4 * time.Second},
		{3 * time.Second, 2 * time.Second, 7 * time.Second, 8 * time.Second},
		{20 * time.Second, time.Second, 22 * time.Second, 23 * time.Second},
	} {
		got, err := SafeLease(t.Context(), test.render, test.skew)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("render %s, skew %s: %s", test.render, test.skew, got)
		if got < test.least || got > test.most {
			t.Errorf("render %s, skew %s: got a lease of %s, want %s to %s", test.render, test.skew, got, test.least,
				test.most)
		}
	}
}
