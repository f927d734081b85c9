package campaign_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

func TestTheReferencePassesEveryEmbeddedScenario(t *testing.T) {
	effort.OneAtATime(t)
	for _, name := range fixtures.Names() {
		t.Run(name, func(t *testing.T) {
			s := scenariotest.Embedded(t, name)
			// With fewer schedules, a declared mark may remain unreached.
			r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Seed: 1, Schedules: effort.Fewer(500, 50)})
			if !r.Passed() && !(effort.Fewer(false, true) && r.Verdict == s.Expect) {
				t.Error(prose.Report(r, "isr-sim", name))
			}
		})
	}
}

// The seed differs from that of package selftest, which runs every mutant in each of its scenarios under seed 1.
func TestEmbeddedScenariosCatchTheMutantsTheyName(t *testing.T) {
	effort.OneAtATime(t)
	for _, name := range fixtures.Names() {
		s := scenariotest.Embedded(t, name)
		for _, caught := range effort.Fewer(s.Catches, s.Catches[:1]) {
			t.Run(name+"/"+caught, func(t *testing.T) {
				p := scenariotest.Protocol(t, caught)
				r := scenariotest.Ran(t,
					campaign.Campaign{Scenario: s, Protocol: p, Seed: 2, Options: kernel.Options{Only: p.Breaks}})
				if r.Verdict != invariant.Violated {
					t.Errorf("verdict %v, want violated", r.Verdict)
				} else if got := r.Failure.Violation.Invariant.Name; got != p.Breaks && p.Breaks != "" {
					t.Errorf("caught by %s, but the mutant is there to break %s", got, p.Breaks)
				}
			})
		}
	}
}

func TestTheSDKChangesNoScheduleAndNoVerdict(t *testing.T) {
	effort.NotShort(t)
	s := scenariotest.Embedded(t, "lost-response")
	for _, p := range effort.Fewer(kernel.Protocols(), recipe.References()) {
		c := campaign.Campaign{Scenario: s, Protocol: p, Seed: 5, Schedules: 30}
		plain := scenariotest.Ran(t, c)
		c.SDK = true
		sdk := scenariotest.Ran(t, c)
		if prose.Row(plain) != prose.Row(sdk) {
			t.Errorf("%s\n own client %s\nSDK client %s", p.Name, prose.Row(plain), prose.Row(sdk))
		}
	}
}
