package selftest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/schedules"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Mutation asks which invariants a mutant breaks, in the scenarios that are known
// to catch it: those that name it under catches or broken.
//
//	caught, err := Mutation{Mutant: m, Scenarios: all, Seed: 1}.Run(ctx)
//	caught.By[m.Breaks].Schedule // which schedule was the first
type Mutation struct {
	Mutant    isr.Protocol
	Scenarios []*scenario.Scenario
	Seed      uint64
	Workers   int // as in campaign.Campaign
}

// Caught is what became of a mutant.
type Caught struct {
	Mutant isr.Protocol
	By     map[string]Catch // by the name of the invariant
}

// Catch is the first schedule that breaks an invariant.
type Catch struct {
	Scenario string
	Schedule int // from 1
}

// Named says whether the invariant that the mutant names has caught it.
func (c *Caught) Named() bool { _, ok := c.By[c.Mutant.Breaks]; return ok }

// lookedAt is for how many schedules a mutant is looked at once the invariant that
// it names has caught it: enough for the others to show, too.
const lookedAt = 200

// Run runs, in each scenario, at most Within schedules until the invariant that
// the mutant names is violated, and some for the others. An error is not a
// verdict; see scenario.Run.Do.
func (m Mutation) Run(ctx context.Context) (*Caught, error) {
	caught := &Caught{Mutant: m.Mutant, By: map[string]Catch{}}
	for _, s := range m.Scenarios {
		if s.Broken != m.Mutant.Name && !slices.Contains(s.Catches, m.Mutant.Name) {
			continue
		}
		if err := m.in(ctx, s, caught); err != nil {
			return nil, err
		}
	}
	return caught, nil
}

// in looks at the mutant in one scenario.
func (m Mutation) in(ctx context.Context, s *scenario.Scenario, caught *Caught) error {
	set, err := schedules.New(scenario.Run{Scenario: s, Protocol: m.Mutant, Seed: m.Seed}, sim.Plan{}, Within, m.Workers)
	if err != nil {
		return err
	}
	named := false
	var broken error
	set.All(ctx, func(a schedules.Attempt) bool {
		if broken = a.Err; broken != nil {
			return false
		}
		for _, name := range a.Outcome.Broken {
			named = named || name == m.Mutant.Breaks
			if before, already := caught.By[name]; !already || a.Index+1 < before.Schedule {
				caught.By[name] = Catch{s.Name, a.Index + 1}
			}
		}
		return !named || a.Index+1 < lookedAt
	})
	return broken
}

// speaks says whether a protocol can run a scenario that is made for another one:
// it has to understand the scripts. Getting, changing and sleeping everybody
// understands.
func speaks(s *scenario.Scenario, p isr.Protocol) bool {
	if s.Protocol == p.Name {
		return true
	}
	for _, a := range s.Actors {
		for _, c := range a.Script {
			if c.Verb != scenario.Get && c.Verb != scenario.Change && c.Verb != scenario.Sleep {
				return false
			}
		}
	}
	return true
}

// Clean runs a protocol that should break nothing in every scenario that it
// understands, about so many schedules in all. It is the verdicts that count: so few
// schedules of another protocol need not reach what a scenario declares.
func Clean(ctx context.Context, p isr.Protocol, scenarios []*scenario.Scenario, seed uint64, schedules, workers int) ([]*campaign.Report, error) {
	var some []*scenario.Scenario
	for _, s := range scenarios {
		if speaks(s, p) && s.Expected(p.Name) == invariant.OK {
			some = append(some, s)
		}
	}
	var reports []*campaign.Report
	for _, s := range some { // a context that is over makes each of the rest unknown, at once
		r, err := campaign.Campaign{Scenario: s, Protocol: p, Seed: seed, Schedules: (schedules + len(some) - 1) / len(some), Workers: workers}.Run(ctx)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// MutationTable is mutant by invariant, as a page of Markdown: in which schedule
// each invariant first caught it.
func MutationTable(all []*Caught) string {
	var b strings.Builder
	judges := invariant.All()
	b.WriteString("| mutant |")
	for _, inv := range judges {
		b.WriteString(" " + inv.Name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(judges)) + "\n")
	for _, c := range all {
		cells := make([]string, len(judges))
		for i, inv := range judges {
			catch, is := c.By[inv.Name]
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
