package lab

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

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
