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
