package campaign_test

import (
	"fmt"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// A search that ends at a bound, and one that is vacuous, have judged something, and prove nothing.
func TestOnlyAProofNamesWhatIsProved(t *testing.T) {
	for _, test := range []struct {
		ticks, schedules int
		verdict          invariant.Verdict
		proves           bool
	}{{1, 0, invariant.OK, true}, {1, 1, invariant.Unknown, false},
		{0, 0, invariant.OK, false}} { // without a tick no lease comes to its end
		text := "name: two\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\n" +
			"actors: [{name: alice, script: [get /home]}, {name: bob, script: [get /home]}]\n"
		s, err := scenario.Parse("two.yaml", fmt.Appendf([]byte(text), "bounds: {ticks: %d}\n", test.ticks))
		if err != nil {
			t.Fatal(err)
		}
		proof := scenariotest.Ran(t, campaign.Prove{Scenario: s, Seed: 1, MaxSchedules: test.schedules})
		if proved := len(proof.Proved) > 0; proof.Verdict != test.verdict || proved != test.proves {
			t.Errorf("%+v: %s, proved %v", test, proof.Summary(), proof.Proved)
		}
	}
}

// A campaign has passed where it comes to the verdict that its scenario expects of its own protocol, and of another one
// where it is ok.
func TestAReportPassesWithTheExpectedVerdict(t *testing.T) {
	for _, test := range []struct {
		expect   string
		protocol isr.Protocol
		passes   bool
	}{{"ok", isr.Protocol{}, true}, {"violated", isr.Protocol{}, false}, {"ok", behind, false},
		{"violated", behind, false}} {
		s := scenariotest.Parsed(t, pausedWriter+"expect: "+test.expect+"\n")
		report := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: test.protocol, Seed: 1, Schedules: 20})
		if report.Passed() != test.passes {
			t.Errorf("expected %s, protocol %q: %s, and passed is %v", test.expect, test.protocol.Name,
				report.Summary(), report.Passed())
		}
	}
}
