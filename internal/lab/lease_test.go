package lab

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
)

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
