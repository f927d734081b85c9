package property_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// A caller runs the worlds itself: the reference passes in them, one of its mutants does not, and they have the verbs
// that were asked for.
func TestScenariosAreRunByTheCaller(t *testing.T) {
	invalidated, broken := false, 0
	verdict := func(t *rapid.T, protocol string) *campaign.Report {
		s := property.Check{Protocol: protocol, Schedules: 5}.Scenarios(scenario.Invalidate).Draw(t, "scenario")
		report, err := campaign.Campaign{Scenario: s, Seed: rapid.Uint64().Draw(t, "seed")}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range s.Actors {
			invalidated = invalidated || slices.ContainsFunc(a.Script, func(c scenario.Command) bool { return c.Verb == scenario.Invalidate })
		}
		return report
	}
	rapid.Check(t, func(t *rapid.T) {
		if report := verdict(t, "recipe-a"); report.Verdict != invariant.OK {
			t.Fatalf("the reference: got %v, want ok", report.Verdict)
		}
		if verdict(t, "blind-publish").Verdict == invariant.Violated {
			broken++
		}
	})
	if !invalidated {
		t.Error("no page was invalidated")
	}
	if broken == 0 {
		t.Error("an unfenced publish was found in no world")
	}
}

func TestScenariosRefuseOtherVerbs(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a world was drawn with the verb sleep")
		}
	}()
	property.Check{}.Scenarios(scenario.Sleep).Example(0)
}
