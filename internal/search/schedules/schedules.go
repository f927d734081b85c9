// Package schedules runs schedules of a scenario, many at a time, and hands out the results one by one and in order.
// Campaigns, explorations and the tests of the tester share it.
package schedules

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Set is the schedules to run, with nothing left to defaults. A Set is used once.
type Set struct {
	// Run is the run that each schedule is made from. The seeds of the schedules are derived from its Seed.
	kernel.Run
	Plan      strategy.Plan
	Schedules int
	Workers   int
	pool      *hooks.Pool
}

// New returns the schedules of a run. The zero Protocol, the zero Plan, and a number that is not positive stand for the
// defaults that campaign.Campaign documents.
func New(run kernel.Run, plan strategy.Plan, schedules, workers int) (Set, error) {
	protocol, err := ProtocolOf(run.Scenario, run.Protocol)
	if err != nil {
		return Set{}, err
	}
	run.Protocol = protocol
	if schedules <= 0 {
		schedules = run.Scenario.Bounds.Schedules
	}
	if plan.At == nil {
		plan = strategy.Portfolio()
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return Set{run, plan.Begin(), schedules, workers, new(hooks.Pool)}, nil
}

// ProtocolOf returns the protocol to run a scenario with: p, or the scenario's own if p is the zero Protocol.
func ProtocolOf(s *spec.Scenario, p isr.Protocol) (isr.Protocol, error) {
	if p.New != nil {
		return p, nil
	}
	return kernel.ProtocolNamed(s.Protocol)
}

// Attempt is the result of one schedule.
type Attempt struct {
	Index    int // from 0
	Strategy string
	Outcome  *kernel.Outcome
	Err      error // if it is not nil there is no outcome
	// Order and States are the run's coverage (see hooks.Probe), if AttemptCovered made it.
	Order  uint64
	States []uint64
}

// Each runs n schedules, and calls take with them in order, until take returns false or ctx is done. The k-th schedule
// has the index index(k). Schedule 0 runs first; its length is the estimate that the others get.
func (c Set) Each(ctx context.Context, n int, index func(k int) int,
	run func(ctx context.Context, i, expected int) Attempt, take func(Attempt) bool) {
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
	most := 16
	if c.OfProgram() {
		most = 1 // one run may take longer than a user waits
	}
	InOrder(ctx, c.Workers, most, n-from,
		func(k int) Attempt { return run(ctx, index(from+k), expected) },
		func(_ int, a Attempt) bool { return take(a) })
}

// All runs all schedules with Attempt: see Each.
func (c Set) All(ctx context.Context, take func(Attempt) bool) {
	c.Each(ctx, c.Schedules, func(k int) int { return k }, c.Attempt, take)
}

// Attempt runs the schedule with an index, for Each.
func (c Set) Attempt(ctx context.Context, i, expected int) Attempt {
	run := c.Run
	run.Seed, run.Strategy, run.ExpectedSteps = sim.Derive(c.Seed, i), c.Plan.At(i), expected
	o, err := run.Do(c.pool.In(ctx))
	return Attempt{Index: i, Strategy: run.Strategy.String(), Outcome: o, Err: err}
}

// AttemptCovered is Attempt with the run's coverage. A run that violates an invariant is run once more. Most failing
// runs are only counted, so only the hashes of the two orders are compared: that costs less than traces.
func (c Set) AttemptCovered(ctx context.Context, i, expected int) Attempt {
	coverage := hooks.Probe{Coverage: true}
	a := c.Attempt(hooks.With(ctx, &coverage), i, expected)
	a.Order, a.States = coverage.Order, coverage.States
	if a.Err == nil && a.Outcome.Verdict == invariant.Violated {
		a.Err = c.repeat(ctx, a)
	}
	return a
}

// First returns the first n runs, or fewer if ctx is done before, each ready to be made again.
func (c Set) First(ctx context.Context, n int) (runs []kernel.Run, err error) {
	c.Each(ctx, min(n, c.Schedules), func(k int) int { return k }, c.Attempt, func(a Attempt) bool {
		if err = a.Err; err != nil {
			return false
		}
		runs = append(runs, kernel.Replay(a.Outcome.Replay(), c.Scenario, c.Protocol))
		return true
	})
	return runs, err
}

// OfProgram reports whether the nodes are processes of a command: their code is not known to be deterministic.
func (c Set) OfProgram() bool { return OfProgram(c.Protocol) }

// OfProgram reports whether a protocol is a command, each of whose processes is a node.
func OfProgram(p isr.Protocol) bool { return strings.HasPrefix(p.Name, shell.ExecPrefix) }

// Sampled says whether a schedule of code under test, by its number, is run again without memory, whatever its verdict.
// The seed draws one in a hundred.
func Sampled(seed uint64, number int) bool {
	const one = 100
	return fingerprint.Mix(sim.Derive(seed, number), one)%one == 0
}

// Suspect reports whether a schedule must be confirmed whatever its verdict: the code under test is not known to be
// deterministic, and the remembered answers of a program are checked before they are believed. The schedules that are
// Sampled are suspect, and so is the first one of a program.
func (c Set) Suspect(a Attempt) bool {
	if c.OfProgram() {
		return a.Index == 0 || Sampled(c.Seed, a.Index)
	}
	repeats := c.Setup.Repeats
	return repeats != nil && Sampled(c.Seed, a.Index) && repeats()
}

func (c Set) again(o *kernel.Outcome) kernel.Run {
	run := c.Run
	run.Seed, run.Strategy = o.Result.Seed, strategy.Replay(o.Result.Choices)
	return run
}

// Total counts runs.
type Total struct {
	Schedules, Steps int
	Marks            MarkSet
	// Unmet are the declared faults that could strike in no run.
	Unmet []spec.Fault
	// Judged says that in some run an invariant that judges had something to judge.
	Judged bool
}

// Add counts one run.
func (t *Total) Add(o *kernel.Outcome) {
	t.Schedules++
	t.Steps += o.Result.Steps
	t.Judged = t.Judged || o.Judged
	if t.Marks == nil {
		t.Marks = MarkSet{}
	}
	for _, mark := range o.Marks {
		t.Marks[mark]++
	}
	if t.Schedules == 1 {
		t.Unmet = slices.Clone(o.Unmet)
	}
	t.Unmet = slices.DeleteFunc(t.Unmet, func(f spec.Fault) bool { return !slices.Contains(o.Unmet, f) })
}
