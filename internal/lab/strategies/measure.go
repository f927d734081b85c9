package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/lab/programs"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// subject is a program or a mutant with a bug.
type subject struct {
	name string
	// where is the scenario in which a mutant runs; "" for a program.
	where string
	// once runs one schedule and returns whether it has shown the bug, and how many choices it had.
	once func(ctx context.Context, seed uint64, s sim.Strategy, expected int) (shown bool, choices int, err error)
}

// limits bounds the search of a plan.
type limits struct {
	seeds     int
	schedules int // per seed, at most
}

// buckets are the bounds of the buckets for findings.
var buckets = [...]int{10, 100, 1_000, 10_000}

// cell is the result of one plan with one subject.
type cell struct {
	plan  string
	found []int // for each seed, the number of the schedule that found the bug, from 1; 0 if none did
	limit int
}

// row is the results of all plans with one subject.
type row struct {
	subject
	cells []cell
}

// measureAll measures each plan with each subject, and prints its progress.
func measureAll(
	ctx context.Context, subjects []subject, plans []strategy.Plan, e limits, progress io.Writer,
) ([]row, error) {
	rows := make([]row, len(subjects))
	for i, s := range subjects {
		rows[i].subject = s
		for j, plan := range plans {
			c, err := measure(ctx, s, plan, e)
			if err != nil {
				return nil, fmt.Errorf("%s with %s: %w", s.name, plan.Name, err)
			}
			rows[i].cells = append(rows[i].cells, c)
			if _, err := fmt.Fprintf(progress, "%d of %d: %s with %s: %s\n",
				i*len(plans)+j+1, len(subjects)*len(plans), s.name, plan.Name, c.mean()); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// measure searches under every seed, on all cores. If a plan finds nothing under a quarter of them, the others are not
// run and count as without a finding: hopeless searches would take most of the time.
func measure(ctx context.Context, s subject, plan strategy.Plan, e limits) (cell, error) {
	c := cell{plan: plan.Name, found: make([]int, e.seeds), limit: e.schedules}
	few := (e.seeds + 3) / 4
	if err := c.search(ctx, s, plan, 0, few); err != nil {
		return c, err
	}
	if _, found := c.average(); found == 0 {
		return c, nil
	}
	return c, c.search(ctx, s, plan, few, e.seeds)
}

// search fills in the findings of the seeds in [from, to).
func (c cell) search(ctx context.Context, s subject, plan strategy.Plan, from, to int) error {
	errs := make([]error, to)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				i := from + int(next.Add(1)) - 1
				if i >= to {
					return
				}
				c.found[i], errs[i] = search(ctx, s, plan, uint64(i)+1, c.limit)
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}

// search returns the first schedule of a seed that shows the bug, from 1; 0 if none does. It searches as a
// campaign.Campaign does.
func search(ctx context.Context, s subject, plan strategy.Plan, seed uint64, limit int) (int, error) {
	expected := 1
	plan = plan.Begin()
	for i := range limit {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		shown, choices, err := s.once(ctx, sim.Derive(seed, i), plan.At(i), expected)
		if err != nil {
			return 0, err
		}
		if shown {
			return i + 1, nil
		}
		if i == 0 {
			expected = max(choices, 1)
		}
	}
	return 0, nil
}

// average returns the mean number of schedules, and the number of seeds that found something. A seed without a finding
// counts with all schedules that it tried.
func (c cell) average() (mean float64, found int) {
	sum := 0
	for _, at := range c.found {
		if at > 0 {
			found++
			sum += at
		} else {
			sum += c.limit
		}
	}
	return float64(sum) / float64(len(c.found)), found
}

// mean prints the average: 311, or 3688 (36) if only 36 seeds found it, or - if none did.
func (c cell) mean() string {
	mean, found := c.average()
	switch {
	case found == 0:
		return "-"
	case found < len(c.found):
		return fmt.Sprintf("%s (%d)", figure(mean), found)
	default:
		return figure(mean)
	}
}

func figure(f float64) string {
	if f < 100 {
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.0f", f)
}

// counts returns the number of findings in each bucket and, last, the number of seeds that found nothing.
func (c cell) counts() [len(buckets) + 1]int {
	var n [len(buckets) + 1]int
	for _, at := range c.found {
		n[bucketOf(at)]++
	}
	return n
}

// bucketOf returns the bucket of a finding in schedule at; 0 is none.
func bucketOf(at int) int {
	for i, bound := range buckets {
		if at > 0 && at <= bound {
			return i
		}
	}
	return len(buckets)
}

func smallPrograms() ([]subject, error) {
	var subjects []subject
	for _, p := range programs.All() {
		subjects = append(subjects, subject{
			name: p.Name,
			once: func(_ context.Context, seed uint64, s sim.Strategy, expected int) (bool, int, error) {
				shown, result := p.Run(sim.Config{Seed: seed, Strategy: s, ExpectedSteps: expected})
				return shown, result.Steps, result.Err
			},
		})
	}
	return subjects, nil
}

// published is a paper's figures for a program: mean schedules to the first bug, as printed. "" is no figure.
type published struct{ randomWalk, pct3, pos string }

// asplos25 is from the evaluation of SURW. There were 20 trials; a figure in parentheses is the number of trials that
// found the bug.
//
// Source: Zhao, Wolff, Mathur, Roychoudhury: Selectively uniform concurrency testing (ASPLOS 2025),
// https://doi.org/10.1145/3669940.3707214
var asplos25 = map[string]published{
	"reorder_3":    {"-", "185", "86"},
	"reorder_5":    {"-", "647", "2169"},
	"reorder_10":   {"-", "3225 (16)", "-"},
	"twostage":     {"464", "13", "15"},
	"account":      {"18", "4", "4"},
	"stack":        {"176", "3", "2"},
	"wronglock":    {"36", "51", "10"},
	"stringbuffer": {"2243", "281", "23"},
}

// mutants returns the mutants as subjects, each in the scenario that fits it best: of the scenarios that catch it, the
// one that catches the fewest others.
func mutants() ([]subject, error) {
	var scenarios []*spec.Scenario
	for _, name := range fixtures.Names() {
		if strings.HasPrefix(name, "prove-") {
			continue // small enough for every schedule: a strategy has no choice left
		}
		data, err := fixtures.Read(name)
		if err != nil {
			return nil, err
		}
		s, err := spec.Parse(name+".yaml", data)
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
	made := func(s *spec.Scenario) int {
		if s.Protocol == recipe.Reference().Name {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(scenarios, func(a, b *spec.Scenario) int {
		return cmp.Or(cmp.Compare(made(a), made(b)), cmp.Compare(len(a.Catches), len(b.Catches)))
	})
	var subjects []subject
	for _, m := range mutant.All() {
		i := slices.IndexFunc(scenarios, func(s *spec.Scenario) bool { return slices.Contains(s.Catches, m.Name) })
		if i < 0 {
			continue // the museum has a scenario made to show it
		}
		subjects = append(subjects, mutantIn(scenarios[i], m))
	}
	return subjects, nil
}

// mutantIn is the search for a mutant. It succeeds when the mutant's invariant is violated.
func mutantIn(s *spec.Scenario, m isr.Protocol) subject {
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
