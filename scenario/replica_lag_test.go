package scenario_test

import (
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/probe"
	"github.com/isr-sim/isr-sim/internal/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// An eventually consistent read right after a write is behind by the scenario's lag, in every schedule; a strongly
// consistent one never is.
func TestReplicaLag(t *testing.T) {
	s, err := scenario.Parse("f.yaml", []byte("name: reads\nreplica-lag: 2s\nactors: [{name: alice, script: [get /home]}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.ReplicaLag != 2*time.Second {
		t.Fatalf("got a lag of %v, want 2s", s.ReplicaLag)
	}
	for _, consistent := range []bool{false, true} {
		p := isr.Protocol{Name: "reader", New: func(cfg isr.Config) (isr.Handler, error) { return reader{cfg, consistent}, nil }}
		for seed := range uint64(5) {
			text, _ := scenariotest.Trace(t, scenario.Run{Scenario: s, Protocol: p, Seed: seed})
			want := "(eventually consistent) -> absent"
			if consistent {
				want = "-> body second"
			}
			if !strings.Contains(text, want) {
				t.Errorf("consistent %v, seed %d: want a read that ends with %q:\n%s", consistent, seed, want, text)
			}
		}
	}
}

// The reference reads consistently where it matters, so a lag of any length does it no harm; a mutant is caught as
// before.
func TestReplicaLagOfTheReference(t *testing.T) {
	s := scenariotest.Embedded(t, "paused-writer")
	s.ReplicaLag = 5 * time.Second
	if r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Seed: 1, Schedules: 200}); r.Verdict != invariant.OK {
		t.Errorf("the reference: got %v, want ok", r.Verdict)
	}
	s.Protocol = "blind-publish"
	if r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Seed: 1, Schedules: 200}); r.Verdict != invariant.Violated {
		t.Errorf("blind-publish: got %v, want a violation", r.Verdict)
	}
}

// What a replica that lags has answered cannot be compared with a store that has none.
func TestReplicaLagIsNotCompared(t *testing.T) {
	s, err := scenario.Parse("f.yaml", []byte("name: reads\nreplica-lag: 2s\nactors: [{name: alice, script: [get /home]}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := isr.Protocol{Name: "reader", New: func(cfg isr.Config) (isr.Handler, error) { return reader{cfg, false}, nil }}
	recorded := probe.Probe{Record: true}
	if _, err := (scenario.Run{Scenario: s, Protocol: p, Seed: 1}).Do(probe.With(t.Context(), &recorded)); err != nil {
		t.Fatal(err)
	}
	hidden := 0
	for _, e := range recorded.Exchanges {
		if e.Hidden {
			hidden++
		}
	}
	if hidden != 1 {
		t.Errorf("got %d exchanges that are not compared, want the one read", hidden)
	}
}
