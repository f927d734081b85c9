package scenario

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Explain finds out which step of a violated run decided it. It runs each prefix
// of the schedule with many random tails, and counts how many of them violate the
// same invariant: at a step that brings the violation about, that number jumps.
//
// The tails are random walks, from streams of the run's seed: one Explain gives
// one Explanation, on any number of cores. A chance of p is off by more than
// 2*sqrt(p*(1-p)/Tails) one time in twenty.
type Explain struct {
	// Run is the violated run: its Strategy is sim.Replay of the recorded choices. Trace and Record are not used.
	Run Run
	// Tails is how many random tails each prefix gets; 0 is DefaultTails.
	Tails int
}

// DefaultTails is how many random tails each prefix of an explained run gets.
const DefaultTails = 200

// Explanation says how likely the violation was after each step.
type Explanation struct {
	Outcome *Outcome
	Tails   int
	Before  int // how many tails violate the invariant before the first step
	Steps   []ExplainedStep
	// Jump is the step at which that number grew most, the first one of several; Sealed is the first one after which
	// every tail violates the invariant. Both are positions in Steps, and Jump is -1 if it never grew.
	Jump, Sealed int
}

// ExplainedStep is a step of an explained run.
type ExplainedStep struct {
	N        int    // from 1
	Text     string // its line in the trace, and what it changed below it
	Chosen   bool   // something else could have happened instead
	Changed  bool   // it changed a row, or what a client knows
	Violated int    // of the tails that begin after it
}

// Do explains. If the run does not violate an invariant, the error is a
// *NotViolatedError; other errors are those of Run.Do, and that of a cancelled
// context.
func (e Explain) Do(ctx context.Context) (*Explanation, error) {
	if e.Tails <= 0 {
		e.Tails = DefaultTails
	}
	x := &Explanation{Tails: e.Tails, Jump: -1}
	var text bytes.Buffer
	run := e.Run
	run.Record, run.Trace = false, &text
	prefixes := []int{0} // by step, how many choices there were up to it
	run.onStep = func(t sim.Taken) {
		lines := strings.TrimRight(text.String(), "\n")
		text.Reset()
		x.Steps = append(x.Steps, ExplainedStep{N: t.N, Text: lines, Chosen: t.Options > 1, Changed: strings.Contains(lines, "\n")})
		choices := prefixes[len(prefixes)-1]
		if t.Options > 1 {
			choices++
		}
		prefixes = append(prefixes, choices)
	}
	o, err := run.Do(ctx)
	if err != nil {
		return nil, err
	}
	if o.Verdict != invariant.Violated {
		return nil, &NotViolatedError{Scenario: run.Scenario.Name, Protocol: run.Protocol.Name, Verdict: o.Verdict}
	}
	x.Outcome = o
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
		if before = after; after < e.Tails {
			x.Sealed = i + 1
		}
	}
	return x, nil
}

// tails counts, for each number of choices that the run begins with, the tails that violate the invariant.
func (e Explain) tails(ctx context.Context, o *Outcome) ([]int, error) {
	choices := o.Result.Choices
	violated := make([]bool, len(choices)*e.Tails)
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var workers sync.WaitGroup
	var stages stages
	defer stages.close()
	for range min(runtime.GOMAXPROCS(0), len(violated)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(violated) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				run := e.Run
				run.Trace, run.Record = nil, false
				rng := sim.Stream(sim.Derive(run.Seed, i), "explain")
				run.Strategy = sim.Prefix(choices[:i/e.Tails], sim.RandomWalk.From(rng))
				tail, err := stages.do(ctx, run)
				if err != nil {
					failed.CompareAndSwap(nil, &err)
					return
				}
				violated[i] = tail.Verdict == invariant.Violated && tail.Violation.Invariant.Name == o.Violation.Invariant.Name
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
	counts := make([]int, len(choices)+1)
	for i, v := range violated {
		if v {
			counts[i/e.Tails]++
		}
	}
	counts[len(choices)] = e.Tails // the run itself: there is nothing left to choose
	return counts, nil
}

// Print prints the chance of the violation after each step: in every line the
// chance, by how much the step has changed it, a mark (> at the largest jump, ! at
// the step from which the violation is certain, as far as the tails can tell), and
// the step as in a trace. Steps without a choice and without a change are left
// out unless all are asked for.
func (x *Explanation) Print(all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%6s          before the first step\n", x.percent(x.Before))
	before := x.Before
	for i, s := range x.Steps {
		jump := ""
		if s.Violated != before {
			jump = fmt.Sprintf("%+.1f", 100*float64(s.Violated-before)/float64(x.Tails))
		}
		before = s.Violated
		if !all && !s.Chosen && !s.Changed && i != x.Sealed {
			continue
		}
		mark := " "
		switch i {
		case x.Sealed:
			mark = "!"
		case x.Jump:
			mark = ">"
		}
		lines := strings.Split(s.Text, "\n")
		fmt.Fprintf(&b, "%6s %6s %s %s\n", x.percent(s.Violated), jump, mark, lines[0])
		for _, line := range lines[1:] {
			fmt.Fprintf(&b, "%16s%s\n", "", line)
		}
	}
	b.WriteString("\n")
	if x.Jump >= 0 {
		from := x.Before
		if x.Jump > 0 {
			from = x.Steps[x.Jump-1].Violated
		}
		fmt.Fprintf(&b, "largest jump: step %d, from %s to %s\n", x.Steps[x.Jump].N, x.percent(from), x.percent(x.Steps[x.Jump].Violated))
	}
	if x.Sealed < len(x.Steps) {
		fmt.Fprintf(&b, "certain from step %d on: every one of %d random tails violates %s\n",
			x.Steps[x.Sealed].N, x.Tails, x.Outcome.Violation.Invariant.Name)
	}
	return b.String()
}

func (x *Explanation) percent(violated int) string {
	return fmt.Sprintf("%.1f%%", 100*float64(violated)/float64(x.Tails))
}
