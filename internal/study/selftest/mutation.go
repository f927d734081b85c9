package selftest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Mutation finds the invariants that a mutant breaks, in the scenarios that are known to catch it: those that name it
// under catches or broken.
//
//	result, err := Mutation{Mutant: m, Scenarios: all, Seed: 1}.Run(ctx)
//	result.First[m.Breaks].Schedule // the first schedule that breaks m.Breaks
type Mutation struct {
	Mutant    isr.Protocol
	Scenarios []*spec.Scenario
	Seed      uint64
	Workers   int // as in campaign.Campaign
}

// MutantResult has the invariants that a mutant broke.
type MutantResult struct {
	Mutant isr.Protocol
	First  map[string]FirstViolation // by the invariant's name
	// Ran are the scenarios in which the mutant ran, in the order of Mutation.Scenarios.
	Ran []ScenarioRuns
}

// ScenarioRuns is the number of schedules of a scenario in which a mutant ran.
type ScenarioRuns struct {
	Scenario  string
	Schedules int
}

// Tried tells where the mutant ran.
func (c *MutantResult) Tried() string {
	if len(c.Ran) == 0 {
		return "no scenario names the mutant under catches or broken"
	}
	var parts []string
	for _, r := range c.Ran {
		parts = append(parts, fmt.Sprintf("%s of %s", schedules.Plural(r.Schedules, "schedule"), r.Scenario))
	}
	return "it ran in " + strings.Join(parts, ", ")
}

// FirstViolation names the first schedule in which an invariant is broken.
type FirstViolation struct {
	Scenario string
	Schedule int // from 1
}

// CaughtByNamed reports whether the invariant that the mutant names caught it.
func (c *MutantResult) CaughtByNamed() bool { _, ok := c.First[c.Mutant.Breaks]; return ok }

// atLeast is the number of schedules that every mutant runs, even if the invariant that it names caught it earlier: so
// other invariants can catch it, too.
const atLeast = 200

// Run makes at most Within schedules in each scenario, until the invariant that the mutant names is violated, and some
// more for the other invariants. An error is not a verdict; see kernel.Run.Do.
func (m Mutation) Run(ctx context.Context) (*MutantResult, error) {
	result := &MutantResult{Mutant: m.Mutant, First: map[string]FirstViolation{}}
	for _, s := range m.Scenarios {
		if s.Broken != m.Mutant.Name && !slices.Contains(s.Catches, m.Mutant.Name) {
			continue
		}
		if err := m.in(ctx, s, result); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func (m Mutation) in(ctx context.Context, s *spec.Scenario, result *MutantResult) error {
	set, err := schedules.New(kernel.Run{Scenario: s, Protocol: m.Mutant, Seed: m.Seed}, strategy.Plan{}, Within,
		m.Workers)
	if err != nil {
		return err
	}
	named := false
	var broken error
	ran := ScenarioRuns{Scenario: s.Name}
	set.All(ctx, func(a schedules.Attempt) bool {
		ran.Schedules++
		if broken = a.Err; broken != nil {
			return false
		}
		for _, name := range a.Outcome.Broken {
			named = named || name == m.Mutant.Breaks
			if before, already := result.First[name]; !already || a.Index+1 < before.Schedule {
				result.First[name] = FirstViolation{s.Name, a.Index + 1}
			}
		}
		return !named || a.Index+1 < atLeast
	})
	result.Ran = append(result.Ran, ran)
	return broken
}

// Understands reports whether a protocol can carry out the scripts of a scenario made for another protocol. Every
// protocol can get, change and sleep.
func Understands(s *spec.Scenario, p isr.Protocol) bool {
	if s.Protocol == p.Name {
		return true
	}
	for _, a := range s.Actors {
		for _, c := range a.Script {
			if c.Verb != "get" && c.Verb != "change" && c.Verb != "sleep" {
				return false
			}
		}
	}
	return true
}

// runReference runs a reference protocol in every scenario that it understands, with about the given number of
// schedules in all. Only the verdicts count: in a few schedules, another protocol need not reach the marks that a
// scenario declares.
func runReference(
	ctx context.Context, p isr.Protocol, scenarios []*spec.Scenario, seed uint64, schedules, workers int,
) ([]*campaign.Report, error) {
	var some []*spec.Scenario
	for _, s := range scenarios {
		if Understands(s, p) && campaign.Expected(s, p.Name) == invariant.OK && !slices.Contains(s.Catches, p.Name) {
			some = append(some, s)
		}
	}
	var reports []*campaign.Report
	for _, s := range some { // after the end of ctx, each remaining scenario is unknown at once
		r, err := campaign.Campaign{
			Scenario: s, Protocol: p, Seed: seed, Schedules: (schedules + len(some) - 1) / len(some), Workers: workers,
		}.Run(ctx)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// MutationTable is a page of Markdown with a row for each mutant and a column for each invariant of their subject. A
// cell has the schedule in which the invariant first caught the mutant.
func MutationTable(all []*MutantResult) string {
	var b strings.Builder
	judges := list.JudgedBy(all[0].Mutant.Breaks).All
	b.WriteString("| mutant |")
	for _, inv := range judges {
		b.WriteString(" " + inv.Name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(judges)) + "\n")
	for _, c := range all {
		cells := make([]string, len(judges))
		for i, inv := range judges {
			catch, is := c.First[inv.Name]
			switch {
			case is && inv.Name == c.Mutant.Breaks:
				cells[i] = fmt.Sprintf("**%d**", catch.Schedule)
			case is:
				cells[i] = fmt.Sprint(catch.Schedule)
			case inv.Name == c.Mutant.Breaks:
				cells[i] = "**not found**"
			}
		}
		b.WriteString("| " + c.Mutant.Name + " | " + strings.Join(cells, " | ") + " |\n")
	}
	return b.String()
}
