package campaign

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Campaign runs a scenario under many schedules, until one violates an invariant
// or all have been run. Schedule i uses the i-th seed derived from Seed, and the
// strategy that the plan has for it.
type Campaign struct {
	Scenario *scenario.Scenario
	// Protocol is what runs; the zero Protocol is the scenario's own.
	Protocol isr.Protocol
	Seed     uint64
	// Plan says which strategies pick the schedules; the zero Plan is sim.Portfolio.
	Plan sim.Plan
	// Schedules is how many to run; 0 is what the scenario says.
	Schedules int
	// Workers is how many schedules run at the same time; 0 is one for each processor that Go may use. What a campaign
	// comes to does not depend on it. The protocol's New, and with it all code under test, is called by all of them.
	Workers int
	// Swarm, SDK, Blind and Only are as in scenario.Run.
	Swarm, SDK, Blind bool
	Only              string
	// Bubble and Before are as in scenario.Run.
	Bubble func(run func(sim.Bubble)) error
	Before func(seed uint64)
	// Record, if positive, keeps the outcomes of that many first runs, and of a violated one, with what went over the
	// wire.
	Record int
	// Progress, if set, hears how many schedules are done, from one goroutine and in order.
	Progress func(done, of int)

	coverage bool // as in scenario.Run
	pool     *scenario.Pool
}

// Report is what a campaign came to.
type Report struct {
	Scenario  *scenario.Scenario
	Protocol  isr.Protocol
	Seed      uint64
	Schedules int // that were run
	Steps     int // in all of them
	marks     markSet
	Missing   []scenario.Mark // what the scenario declares and no schedule reached
	// Unmet are the declared faults that could never strike: no call of any schedule fits them.
	Unmet   []scenario.Fault
	Verdict invariant.Verdict
	Why     string // for the verdict unknown
	// Doubt is the first run whose verdict is unknown, if there is one.
	Doubt *scenario.Outcome
	// Failure is the violated run, which stopped the campaign; FailedAt is its place among the schedules, from 1.
	Failure         *scenario.Outcome
	FailedAt        int
	FailureStrategy string
	Recorded        []*scenario.Outcome
}

// Run runs the campaign. A cancelled context ends it: the report is then about
// the schedules that were run, and its verdict unknown unless one was violated.
// An error is not a verdict; see scenario.Run.Do. Runs that are not ok are run again, and a
// protocol that then does something else is a *BrokenError with a
// *NondeterminismError in it.
func (c Campaign) Run(ctx context.Context) (*Report, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	r := &Report{Scenario: c.Scenario, Protocol: c.Protocol, Seed: c.Seed, marks: markSet{}, Verdict: invariant.OK}
	var broken error
	c.each(ctx, c.Schedules, func(i int) int { return i }, c.run, func(a attempt) bool {
		if broken = a.err; broken != nil {
			return false
		}
		o := a.outcome
		if o.Verdict == invariant.Violated || o.Verdict == invariant.Unknown && r.Doubt == nil {
			if broken = c.confirm(ctx, o); broken != nil {
				return false
			}
		}
		r.add(o)
		if len(r.Recorded) < c.Record || c.Record > 0 && o.Verdict == invariant.Violated {
			r.Recorded = append(r.Recorded, o)
		}
		if c.Progress != nil {
			c.Progress(r.Schedules, c.Schedules)
		}
		if o.Verdict == invariant.Violated {
			r.Failure, r.FailedAt, r.FailureStrategy = o, a.index+1, a.strategy
			return false
		}
		return true
	})
	switch {
	case broken != nil:
		return nil, broken
	case r.Failure != nil:
	case r.Schedules < c.Schedules:
		r.Verdict, r.Why = invariant.Unknown, fmt.Sprintf("interrupted after %d of %d schedules", r.Schedules, c.Schedules)
	default:
		r.Missing = missing(c.Scenario.Reach, r.marks.has)
	}
	return r, nil
}

// complete fills in what was left to the scenario and to the defaults.
func (c Campaign) complete() (Campaign, error) {
	if c.Protocol.New == nil {
		p, err := scenario.ProtocolNamed(c.Scenario.Protocol)
		if err != nil {
			return c, err
		}
		c.Protocol = p
	}
	if c.Schedules <= 0 {
		c.Schedules = c.Scenario.Bounds.Schedules
	}
	if c.Plan.At == nil {
		c.Plan = sim.Portfolio()
	}
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	c.pool = new(scenario.Pool)
	return c, nil
}

// attempt is what became of one schedule.
type attempt struct {
	index    int // from 0
	strategy string
	outcome  *scenario.Outcome
	err      error // then there is no outcome
}

// each runs n schedules, the k-th of which is index(k), and has take look at them
// in this order, until it returns false or ctx is done. The length of schedule 0
// is the estimate that the others get.
func (c Campaign) each(ctx context.Context, n int, index func(k int) int, run func(ctx context.Context, i, expected int) attempt, take func(attempt) bool) {
	if n <= 0 || ctx.Err() != nil {
		return
	}
	defer c.pool.Close()
	first := run(ctx, 0, 1)
	from, expected := 0, 1
	if first.err == nil {
		expected = max(first.outcome.Result.Steps, 1)
	}
	if index(0) == 0 {
		if from = 1; !take(first) {
			return
		}
	}
	inOrder(ctx, c.Workers, n-from,
		func(k int) attempt { return run(ctx, index(from+k), expected) },
		func(_ int, a attempt) bool { return take(a) })
}

// run runs one schedule.
func (c Campaign) run(ctx context.Context, i, expected int) attempt {
	strategy := c.Plan.At(i)
	o, err := c.pool.Do(ctx, scenario.Run{
		Scenario: c.Scenario, Protocol: c.Protocol, Seed: sim.Derive(c.Seed, i), Strategy: strategy, ExpectedSteps: expected,
		Record: c.Record > 0, SDK: c.SDK, Bubble: c.Bubble, Before: c.Before, Swarm: c.Swarm, Blind: c.Blind, Only: c.Only, Coverage: c.coverage,
	})
	return attempt{index: i, strategy: strategy.Name, outcome: o, err: err}
}

// add counts one run. A violation outweighs unknown, and unknown outweighs ok.
func (r *Report) add(o *scenario.Outcome) {
	r.Schedules++
	r.Steps += o.Result.Steps
	for _, mark := range o.Marks {
		r.marks[mark]++
	}
	if r.Schedules == 1 {
		r.Unmet = slices.Clone(o.Unmet)
	}
	r.Unmet = slices.DeleteFunc(r.Unmet, func(f scenario.Fault) bool { return !slices.Contains(o.Unmet, f) })
	switch o.Verdict {
	case invariant.Violated:
		r.Verdict, r.Why = invariant.Violated, ""
	case invariant.Unknown:
		if r.Doubt == nil {
			r.Doubt = o
		}
		if r.Verdict == invariant.OK {
			r.Verdict, r.Why = invariant.Unknown, o.Why
		}
	case invariant.OK:
	}
}

// Reached returns the marks that some schedule reached, in the order of Marks.
func (r *Report) Reached() []scenario.Mark { return r.marks.reached() }
