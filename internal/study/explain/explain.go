// Package explain finds the step of a violated run that decided it, and the events that the violation needed.
//
//	explanation, err := explain.Explain{Failed: failed}.Run(ctx)
//	fmt.Print(explanation.Text(false))
//
// # Determinism
//
// The random tails are drawn from streams of the run's seed: the same Explain gives the same [Explanation], on any
// number of cores.
//
// # Limits
//
// A chance is an estimate from counted runs; [Explain] says how far it may be off.
package explain

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// Explain finds the step of a violated run that decided it, and the events that the violation needed. It runs each
// prefix of the schedule with many random tails, and counts the tails that violate the same invariant. At a step that
// brings the violation about, that number jumps. Later steps may undo a jump; after the last jump, no step prevents the
// violation.
//
// Some events need not have happened: a pause, a crash, a fault, a deletion by TTL, a step of a clock, an error of a
// clock, a move of time while an actor can run, a context switch while the former actor can run. Explain leaves them
// out, one at a time, and makes Tails runs without each. Each run follows the recorded schedule up to some later step,
// which differs between runs, and goes on at random. To leave out a context switch, the former actor goes on for as
// long as it can.
//
// The tails are random walks, drawn from streams of the run's seed: the same Explain gives the same Explanation, on any
// number of cores. A chance of p is off by more than 2*sqrt(p*(1-p)/Tails) one time in twenty; if none of 200 tails
// violates the invariant, the chance is below 1.5%.
type Explain struct {
	// Failed is the violated run: its Strategy is strategy.Replay of the recorded choices. Its Trace is not written.
	Failed kernel.Run
	// Tails is the number of random tails for each prefix; 0 is DefaultTails.
	Tails int
	// Workers is the number of runs at the same time; 0 is one for each core. It does not change the result.
	Workers int
}

// DefaultTails is the number of random tails for each prefix of an explained run.
const DefaultTails = 200

// Explanation has the chance of the violation after each step.
type Explanation struct {
	Outcome *kernel.Outcome
	Tails   int
	Before  int // number of tails that violate the invariant before the first step
	Steps   []Step
	// Last is the last step at which the number of violations grew by more than chance. Jump is the step at which it
	// grew most; if there are several, the first of them. Sealed is the first step after which every tail violates the
	// invariant. All three are positions in Steps, and -1 if the number never grew.
	Last, Jump, Sealed int
	Events             []Event // the events that the violation needed come first
}

// Step is a step of an explained run.
type Step struct {
	N        int    // from 1
	What     string // the actor and the kind of the step
	Did      string // its effect
	Text     string // its line in the trace, and below it the lines of its changes
	Chosen   bool   // something else could have happened instead
	Changed  bool   // it changed a row, or a client got an answer
	Violated int    // the number of violations among the tails that begin after it
}

// Run explains the run. If the run does not violate an invariant, the error is a *campaign.NotViolatedError; other
// errors come from kernel.Run.Do or from a cancelled context.
func (e Explain) Run(ctx context.Context) (*Explanation, error) {
	if e.Tails <= 0 {
		e.Tails = DefaultTails
	}
	x := &Explanation{Tails: e.Tails, Last: -1, Jump: -1}
	run := e.Failed
	var seen *witness
	run.Strategy = witnessed(sim.StrategyOf(run.Strategy), &seen)
	o, steps, err := told(ctx, run)
	if err != nil {
		return nil, err
	}
	if o.Verdict != invariant.Violated {
		return nil, &campaign.NotViolatedError{
			Scenario: run.Scenario.Name, Protocol: run.Protocol.Name, Verdict: o.Verdict,
		}
	}
	x.Outcome, x.Steps, seen.faults = o, steps, len(e.possible())
	prefixes := []int{0} // by step, the number of choices up to it
	for i, step := range steps {
		choices := prefixes[i]
		if step.Chosen {
			choices++
		}
		prefixes = append(prefixes, choices)
	}
	violated, err := e.tails(ctx, o)
	if err != nil {
		return nil, err
	}
	x.Before = violated[0]
	before, most := x.Before, 0
	for i := range x.Steps {
		after := violated[prefixes[i+1]]
		x.Steps[i].Violated = after
		if after-before > most {
			x.Jump, most = i, after-before
		}
		if x.Grew(before, after) {
			x.Last = i
		}
		if before = after; after < e.Tails {
			x.Sealed = i + 1
		}
	}
	x.Events, err = e.without(ctx, o, x, seen)
	return x, err
}

// told makes a run, and returns the steps of its schedule.
func told(ctx context.Context, run kernel.Run) (*kernel.Outcome, []Step, error) {
	var text bytes.Buffer
	var steps []Step
	run.Trace = &text
	o, err := run.Do(hooks.With(ctx, &hooks.Probe{OnStep: func(t hooks.Step) {
		if t.Visit {
			return
		}
		lines := strings.TrimRight(text.String(), "\n")
		text.Reset()
		steps = append(steps, Step{
			N: t.N, What: fmt.Sprintf("%s %s", t.Step.Name, t.Step.Kind), Did: t.TraceStep.Text, Text: lines,
			Chosen: t.Options > 1, Changed: strings.Contains(lines, "\n"),
		})
	}}))
	return o, steps, err
}

// Grew reports whether the number of violated tails grew by more than three standard errors.
func (x *Explanation) Grew(before, after int) bool {
	p, q, n := float64(before)/float64(x.Tails), float64(after)/float64(x.Tails), float64(x.Tails)
	return after > before && q-p > 3*math.Sqrt((p*(1-p)+q*(1-q))/n)
}

// tails counts the tails that violate the invariant, for each number of choices that the run begins with.
func (e Explain) tails(ctx context.Context, o *kernel.Outcome) ([]int, error) {
	choices := o.Result.Choices
	counts, err := e.count(ctx, o, len(choices), e.Tails, func(int) int { return 0 },
		func(prefix, tail int) kernel.Run {
			rng := sim.Stream(sim.Derive(e.Failed.Seed, prefix*e.Tails+tail), "explain")
			return e.in(nil, strategy.Prefix(choices[:prefix], sim.RandomWalk.From(rng)))
		})
	return append(counts, e.Tails), err // this is the run itself: no choice is left
}

// count makes n groups of runs, and counts the runs of each group that violate the invariant. The function fresh gives
// each group the number of a read that no replica answers in its runs; 0 means none.
func (e Explain) count(ctx context.Context, o *kernel.Outcome, n, each int, fresh func(group int) int,
	of func(group, i int) kernel.Run) ([]int, error) {
	violated := make([]bool, n*each)
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var workers sync.WaitGroup
	var pool hooks.Pool
	defer pool.Close()
	for range min(cmp.Or(e.Workers, runtime.GOMAXPROCS(0)), len(violated)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(violated) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				at := ctx
				if read := fresh(i / each); read > 0 {
					at = hooks.With(ctx, &hooks.Probe{Fresh: read})
				}
				tail, err := of(i/each, i%each).Do(pool.In(at))
				if err != nil {
					failed.CompareAndSwap(nil, &err)
					return
				}
				violated[i] = tail.Verdict == invariant.Violated &&
					tail.Violation.Invariant.Name == o.Violation.Invariant.Name
			}
		})
	}
	workers.Wait()
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	counts := make([]int, n)
	for i, v := range violated {
		if v {
			counts[i/each]++
		}
	}
	return counts, nil
}

// Record is the explanation in the form of records.
func (x *Explanation) Record() *record.Explanation {
	r := &record.Explanation{
		Tails: x.Tails, Before: x.Before, After: make([]int, len(x.Steps)), Causes: make([]record.Cause, len(x.Events)),
	}
	for i, step := range x.Steps {
		r.After[i] = step.Violated
	}
	for i, e := range x.Events {
		from, to := Interval(e.Violated, x.Tails)
		r.Causes[i] = record.Cause{Step: x.Steps[e.Step].N, What: e.What, Effect: e.Effect(x.Tails),
			Without: e.Violated, From: from, To: to, With: e.With}
	}
	return r
}
