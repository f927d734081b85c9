package property

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// TestWorldsKeepTheirPromises draws worlds, sees that their file says the same,
// and runs the reference in them: the clocks stay within the promised skew, no run
// is cut, and nothing is violated.
func TestWorldsKeepTheirPromises(t *testing.T) {
	generator := worlds("TestWorlds", "recipe-a", 5, extras{})
	skewed := false
	rapid.Check(t, func(rt *rapid.T) {
		w := generator.Draw(rt, "world")
		s, err := w.checked()
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(w.Scenario, s, cmpopts.EquateComparable(ddbfake.Lag{}), cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("the file says something else (-drawn +read):\n%s", diff)
		}
		if n := len(s.Actors); n < 2 || n > 4 {
			rt.Fatalf("%d actors, want 2 to 4", n)
		}
		report, err := campaign.Campaign{Scenario: s, Seed: rapid.Uint64().Draw(rt, "seed")}.Run(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		if report.Verdict != invariant.OK {
			rt.Fatalf("verdict %v, want ok: %s", report.Verdict, prose.Report(report, "isr-sim", s.Name))
		}
		if slices.Contains(report.Reached(), scenario.SkewBroken) {
			rt.Fatal("a clock was off by more than promised")
		}
		skewed = skewed || s.Skew > 0 && slices.ContainsFunc(s.Actors, func(a scenario.Actor) bool { return a.Drift.PPM != 0 })
	})
	if !skewed && !testing.Short() {
		t.Error("no clock drifted in any world")
	}
}

// TestWorldsShrinkToTheSimplest holds what a failure that needs nothing is left
// with.
func TestWorldsShrinkToTheSimplest(t *testing.T) {
	simplest := "\n" + `name: TestSimple
actors:
  - name: alice
    script:
      - get /home
  - name: bob
    script:
      - get /home
settle: 5s
bounds:
  schedules: 7
  steps: 10000
  ticks: 0
`
	w := worlds("TestSimple", "recipe-a", 7, extras{}).Example(0)
	if _, err := w.checked(); err != nil {
		t.Fatal(err)
	}
	// An all-zero bit stream is what rapid shrinks to.
	found := ""
	rapid.MakeFuzz(func(rt *rapid.T) {
		found = worlds("TestSimple", "recipe-a", 7, extras{}).Draw(rt, "world").text()
	})(t, slices.Repeat([]byte{0}, 8*1000))
	if diff := cmp.Diff(simplest, found); diff != "" {
		t.Errorf("the simplest world (-want +got):\n%s", diff)
	}
}
