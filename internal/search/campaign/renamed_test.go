package campaign_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
)

// A proof of a cache with other names for every row, key and attribute searches the same states, and finds the
// same mutants.
func TestProofsOfRenamedRows(t *testing.T) {
	effort.Long(t)
	for name, most := range map[string]int{
		"prove-crashed-writer": effort.Fewer(0, 300), "prove-two-writers": effort.Fewer(1000, 300),
		"prove-recipe-b": effort.Fewer(1000, 300), "prove-regenerate": 1000,
	} {
		s := scenariotest.Embedded(t, name)
		own := *s
		own.Rows = scenariotest.RenamedRows
		// Without memory nothing tells whether code reads the ttl of locks, so ticks go there in both searches.
		native := prove(t, campaign.Prove{Scenario: s, Seed: 1, MaxSchedules: most, Forgetful: true})
		renamed := prove(t, campaign.Prove{Scenario: &own,
			Protocol: scenariotest.Renamed(scenariotest.Protocol(t, s.Protocol)), Seed: 1, MaxSchedules: most})
		if most == 0 && (!renamed.Passed() || !renamed.Explored.Complete) {
			t.Errorf("%s: %v, %+v", name, renamed.Verdict, renamed.Explored)
		}
		if diff := cmp.Diff(native.Explored, renamed.Explored); diff != "" {
			t.Errorf("%s: the search is another one (-META and LOCK +renamed):\n%s", name, diff)
		}
		if diff := cmp.Diff(native.Deadlines, renamed.Deadlines); diff != "" {
			t.Errorf("%s: the search came to other deadlines (-META and LOCK +renamed):\n%s", name, diff)
		}
		if name != "prove-two-writers" {
			continue // the mutants of one scenario are enough
		}
		for _, of := range effort.Fewer(s.Catches, s.Catches[:1]) {
			if of == "generated-at-late" {
				continue // it takes a long search
			}
			p := scenariotest.Protocol(t, of)
			want := prove(t, campaign.Prove{Scenario: s, Protocol: p, Seed: 1})
			got := prove(t, campaign.Prove{Scenario: &own, Protocol: scenariotest.Renamed(p), Seed: 1})
			if diff := cmp.Diff(broken(want), broken(got)); diff != "" {
				t.Errorf("%s under %s (-META and LOCK +renamed):\n%s", name, of, diff)
			}
		}
	}
}

// broken returns the invariants that a proof has found to be violated.
func broken(p *campaign.Proof) []string {
	if p.Failure == nil {
		return nil
	}
	return p.Failure.Broken
}
