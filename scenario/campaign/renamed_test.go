package campaign_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/internal/scenariotest"
	"github.com/isr-sim/isr-sim/scenario/campaign"
)

// A proof of a cache with other names for every row, key and attribute searches the same states, and finds the
// same mutants.
func TestProofsOfRenamedRows(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("long searches of one goroutine")
	}
	for i, name := range []string{"prove-two-writers", "prove-recipe-b", "prove-regenerate"} {
		s := scenariotest.Embedded(t, name)
		own := *s
		own.Rows = scenariotest.RenamedRows
		native := prove(t, campaign.Prove{Scenario: s, Seed: 1})
		renamed := prove(t, campaign.Prove{Scenario: &own, Protocol: scenariotest.Renamed(scenariotest.Protocol(t, s.Protocol)), Seed: 1})
		if !renamed.Passed() || !renamed.Explored.Complete {
			t.Errorf("%s: %v, %+v", name, renamed.Verdict, renamed.Explored)
		}
		if diff := cmp.Diff(native.Explored, renamed.Explored); diff != "" {
			t.Errorf("%s: the search is another one (-META and LOCK +renamed):\n%s", name, diff)
		}
		if i > 0 {
			continue // one scenario has mutants enough
		}
		for _, of := range s.Catches {
			p := scenariotest.Protocol(t, of)
			want := prove(t, campaign.Prove{Scenario: s, Protocol: p, Seed: 1})
			got := prove(t, campaign.Prove{Scenario: &own, Protocol: scenariotest.Renamed(p), Seed: 1})
			if diff := cmp.Diff(broken(want), broken(got)); diff != "" {
				t.Errorf("%s under %s (-META and LOCK +renamed):\n%s", name, of, diff)
			}
		}
	}
}

// broken are the invariants that a proof has found to be violated.
func broken(p *campaign.Proof) []string {
	if p.Failure == nil {
		return nil
	}
	return p.Failure.Broken
}
