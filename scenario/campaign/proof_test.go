package campaign_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// A search that ends at a bound has judged something, and proves nothing.
func TestOnlyAProofNamesWhatIsProved(t *testing.T) {
	s, err := scenario.Parse("lonely.yaml", []byte("name: lonely\ncache: {lease: 10s, render: 0s}\nbounds: {ticks: 1}\nactors: [{name: alice, script: [get /home]}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]invariant.Verdict{0: invariant.OK, 1: invariant.Unknown} {
		proof, err := campaign.Prove{Scenario: s, Seed: 1, MaxSchedules: most}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if proved := len(proof.Proved) > 0; proof.Verdict != want || proved != (want == invariant.OK) {
			t.Errorf("%d schedules: %v, proved %v; want %v", most, proof.Verdict, proof.Proved, want)
		}
	}
}
