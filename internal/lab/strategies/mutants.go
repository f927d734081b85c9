package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// mutants returns the mutants as subjects, each in the scenario that fits it best: of the scenarios that catch it, the
// one that catches the fewest others.
func mutants() ([]subject, error) {
	var scenarios []*kernel.Scenario
	for _, name := range fixtures.Names() {
		if strings.HasPrefix(name, "prove-") {
			continue // small enough for every schedule: a strategy has no choice left
		}
		data, err := fixtures.Read(name)
		if err != nil {
			return nil, err
		}
		s, err := kernel.Parse(name+".yaml", data)
		if err != nil {
			return nil, err
		}
		if s.Expect != invariant.OK {
			continue // it is violated with any mutant
		}
		if len(s.CompareLags) > 0 {
			continue // a schedule is several runs, so it cannot be compared
		}
		scenarios = append(scenarios, s)
	}
	// Scenarios made for the plain reference come first: most mutants are made from it.
	made := func(s *kernel.Scenario) int {
		if s.Protocol == recipe.Reference().Name {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(scenarios, func(a, b *kernel.Scenario) int {
		return cmp.Or(cmp.Compare(made(a), made(b)), cmp.Compare(len(a.Catches), len(b.Catches)))
	})
	var subjects []subject
	for _, m := range mutant.All() {
		i := slices.IndexFunc(scenarios, func(s *kernel.Scenario) bool { return slices.Contains(s.Catches, m.Name) })
		if i < 0 {
			continue // the museum has a scenario made to show it
		}
		subjects = append(subjects, mutantIn(scenarios[i], m))
	}
	return subjects, nil
}

// mutantIn is the search for a mutant. It succeeds when the mutant's invariant is violated.
func mutantIn(s *kernel.Scenario, m isr.Protocol) subject {
	return subject{
		name: m.Name, where: s.Name,
		once: func(ctx context.Context, seed uint64, strategy sim.Strategy, expected int) (bool, int, error) {
			o, err := kernel.Run{
				Scenario: s, Protocol: m, Seed: seed, Strategy: strategy, ExpectedSteps: expected,
			}.Do(ctx)
			if err != nil {
				return false, 0, err
			}
			shown := slices.Contains(o.Broken, m.Breaks)
			return shown, o.Result.Steps, nil
		},
	}
}
