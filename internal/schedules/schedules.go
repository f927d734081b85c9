// Package schedules runs schedules of a scenario, many at a time, and hands out what
// they came to one by one and in order. It is what campaigns, explorations and the
// tests of the tester have in common.
package schedules

import (
	"context"
	"runtime"
	"slices"

	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Options are the fields of campaign.Campaign, which says what they mean: one
// converts to the other, and does not compile where they differ.
type Options struct {
	Scenario          *scenario.Scenario
	Protocol          isr.Protocol
	Seed              uint64
	Plan              sim.Plan
	Schedules         int
	Workers           int
	Swarm, SDK, Blind bool
	Only              string
	Bubble            func(run func(sim.Bubble)) error
	Before            func(seed uint64)
	Record            int
	Progress          func(done, of int)
}

// Set is the schedules to run, with nothing left to defaults. A Set is used once.
type Set struct {
	Options
	pool *scenario.Pool
}

// New fills in what was left to the scenario and to the defaults.
func New(o Options) (Set, error) {
	if o.Protocol.New == nil {
		p, err := scenario.ProtocolNamed(o.Scenario.Protocol)
		if err != nil {
			return Set{}, err
		}
		o.Protocol = p
	}
	if o.Schedules <= 0 {
		o.Schedules = o.Scenario.Bounds.Schedules
	}
	if o.Plan.At == nil {
		o.Plan = sim.Portfolio()
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return Set{o, new(scenario.Pool)}, nil
}

// Attempt is what became of one schedule.
type Attempt struct {
	Index    int // from 0
	Strategy string
	Outcome  *scenario.Outcome
	Err      error // then there is no outcome
}

// Each runs n schedules, the k-th of which is index(k), and has take look at them
// in this order, until it returns false or ctx is done. The length of schedule 0
// is the estimate that the others get.
func (c Set) Each(ctx context.Context, n int, index func(k int) int, run func(ctx context.Context, i, expected int) Attempt, take func(Attempt) bool) {
	if n <= 0 || ctx.Err() != nil {
		return
	}
	defer c.pool.Close()
	first := run(ctx, 0, 1)
	from, expected := 0, 1
	if first.Err == nil {
		expected = max(first.Outcome.Result.Steps, 1)
	}
	if index(0) == 0 {
		if from = 1; !take(first) {
			return
		}
	}
	inOrder(ctx, c.Workers, n-from,
		func(k int) Attempt { return run(ctx, index(from+k), expected) },
		func(_ int, a Attempt) bool { return take(a) })
}

// All is Each for all schedules, run as Run does.
func (c Set) All(ctx context.Context, take func(Attempt) bool) {
	c.Each(ctx, c.Schedules, func(k int) int { return k }, c.Run, take)
}

// Run runs the schedule with an index, as Each has it done.
func (c Set) Run(ctx context.Context, i, expected int) Attempt { return c.run(ctx, i, expected, false) }

// RunCovered is Run with Outcome.Order and Outcome.States. A run that violates an
// invariant is run once more. Most failing runs are only counted, so the hash of
// their orders is compared, which costs less than traces.
func (c Set) RunCovered(ctx context.Context, i, expected int) Attempt {
	a := c.run(ctx, i, expected, true)
	if a.Err == nil && a.Outcome.Verdict == invariant.Violated {
		a.Err = c.repeat(ctx, a.Outcome)
	}
	return a
}

func (c Set) run(ctx context.Context, i, expected int, coverage bool) Attempt {
	strategy := c.Plan.At(i)
	o, err := c.pool.Do(ctx, scenario.Run{
		Scenario: c.Scenario, Protocol: c.Protocol, Seed: sim.Derive(c.Seed, i), Strategy: strategy, ExpectedSteps: expected,
		Record: c.Record > 0, SDK: c.SDK, Bubble: c.Bubble, Before: c.Before, Swarm: c.Swarm, Blind: c.Blind, Only: c.Only, Coverage: coverage,
	})
	return Attempt{Index: i, Strategy: strategy.Name, Outcome: o, Err: err}
}

// Total counts runs.
type Total struct {
	Schedules, Steps int
	Marks            MarkSet
	// Unmet are the declared faults that no run could meet.
	Unmet []scenario.Fault
}

// Add counts one run.
func (t *Total) Add(o *scenario.Outcome) {
	t.Schedules++
	t.Steps += o.Result.Steps
	if t.Marks == nil {
		t.Marks = MarkSet{}
	}
	for _, mark := range o.Marks {
		t.Marks[mark]++
	}
	if t.Schedules == 1 {
		t.Unmet = slices.Clone(o.Unmet)
	}
	t.Unmet = slices.DeleteFunc(t.Unmet, func(f scenario.Fault) bool { return !slices.Contains(o.Unmet, f) })
}
