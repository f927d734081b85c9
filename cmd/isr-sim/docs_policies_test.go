package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/catalog"
	"github.com/isr-sim/isr-sim/internal/policyprotocol"
	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/internal/selftest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// TestDocsPolicies: the table has every policy, and the invariants that it breaks.
func TestDocsPolicies(t *testing.T) {
	if race.Enabled {
		t.Skip("it runs two thousand schedules")
	}
	s, err := catalog.Load("steady-reads")
	if err != nil {
		t.Fatal(err)
	}
	var want [][]string
	for _, p := range policyprotocol.All() {
		want = append(want, []string{p.Name, p.Summary, broken(t, s, p)})
	}
	got := table(t, page(t, "INVARIANTS.md"), "than its window of twenty. The last column has the invariants that break there within 200 schedules.")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policies (-code +docs/INVARIANTS.md):\n%s", diff)
	}
}

// broken lists the invariants that a policy breaks.
func broken(t *testing.T, s *scenario.Scenario, p isr.Protocol) string {
	t.Helper()
	if p.Breaks == "" {
		r, err := campaign.Campaign{Scenario: s, Protocol: p, Seed: 1, Schedules: 200}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != invariant.OK {
			return r.Summary()
		}
		return "nothing"
	}
	caught, err := selftest.Mutation{Mutant: p, Scenarios: []*scenario.Scenario{s}, Seed: 1}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, inv := range invariant.All() {
		if _, is := caught.First[inv.Name]; is {
			names = append(names, inv.Name)
		}
	}
	return strings.Join(names, ", ")
}
