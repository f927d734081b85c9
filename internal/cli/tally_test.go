package cli

import (
	"testing"

	"github.com/isr-sim/isr-sim/internal/invariant"
)

func TestTally(t *testing.T) {
	var none, all Tally
	if got := none.String(); got != "0 scenarios: " {
		t.Errorf("of none: got %q", got)
	}
	all.Add(true, invariant.OK, false)
	all.Add(true, invariant.Violated, false) // as expected
	all.Add(false, invariant.Violated, true)
	all.Add(false, invariant.OK, true)
	all.Add(false, invariant.OK, false)
	all.Add(false, invariant.Unknown, true)
	want := "6 scenarios: 2 as expected, 1 violated, 1 vacuous, 1 expected a violation and found none, 1 unknown"
	if got := all.String(); got != want || all.Total() != 6 {
		t.Errorf("got %q of %d, want %q", got, all.Total(), want)
	}
}
