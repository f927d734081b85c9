package schedules

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Confirm runs a schedule twice more, traced, and notes the traces' digest in its outcome. The second of these runs
// does not reuse what nodes did in other runs. If one of the three runs differs from another it returns a
// *kernel.BrokenError with a *scenario.NondeterminismError in it. If one of them is left in its middle, what was
// violated stays violated; nothing else is confirmed, and the error is sim.ErrLeft.
func (c Set) Confirm(ctx context.Context, o *kernel.Outcome) error {
	var traces [2]bytes.Buffer
	for i, ctx := range []context.Context{ctx, hooks.Afresh(ctx)} {
		run := c.again(o)
		run.Trace = &traces[i]
		again, err := run.Do(ctx)
		if errors.Is(err, sim.ErrLeft) {
			return left(o)
		}
		if err := c.same(ctx, o, again, err); err != nil {
			return err
		}
		o.Digest = again.Digest
	}
	if first, second := traces[0].String(), traces[1].String(); first != second {
		return c.nondeterministic(o, difference(first, second))
	}
	return nil
}

// left is the error for an outcome whose repetition was left in its middle.
func left(o *kernel.Outcome) error {
	if o.Verdict == invariant.Violated {
		return nil // it did happen
	}
	return sim.ErrLeft
}

// repeat runs a schedule once more, and compares the hash of its order and its conclusion.
func (c Set) repeat(ctx context.Context, a Attempt) error {
	coverage := hooks.Probe{Coverage: true, Memory: sim.Memory{Afresh: true}}
	again, err := c.again(a.Outcome).Do(hooks.With(ctx, &coverage))
	if errors.Is(err, sim.ErrLeft) {
		return left(a.Outcome)
	}
	if err := c.same(ctx, a.Outcome, again, err); err != nil {
		return err
	}
	if coverage.Order != a.Order {
		return c.nondeterministic(a.Outcome, fmt.Sprintf("%s both times, but by other steps, or in another order%s",
			conclusion(a.Outcome), c.where(ctx, a.Outcome)))
	}
	return nil
}

// same compares the conclusions of two runs of one schedule; err is the error of the second.
func (c Set) same(ctx context.Context, o, again *kernel.Outcome, err error) error {
	switch {
	case err != nil:
		return c.nondeterministic(o,
			fmt.Sprintf("%s the first time, and then it broke: %v%s", conclusion(o), err, c.where(ctx, o)))
	case conclusion(again) != conclusion(o):
		return c.nondeterministic(o,
			fmt.Sprintf("%s the first time, and then %s%s", conclusion(o), conclusion(again), c.where(ctx, o)))
	default:
		return nil
	}
}

// where runs a schedule again a few times, after two runs of it have differed. It says where two of the new runs
// differ, with a separator in front. It returns "" if the new runs are all the same. Runs that break are compared up to
// the break.
func (c Set) where(ctx context.Context, o *kernel.Outcome) string {
	const times = 4
	var before string
	for i := range times {
		var trace bytes.Buffer
		run := c.again(o)
		run.Trace = &trace
		_, _ = run.Do(hooks.Afresh(ctx)) // only its trace is needed
		if i > 0 && trace.String() != before {
			return "; " + difference(before, trace.String())
		}
		before = trace.String()
	}
	return ""
}

func (c Set) nondeterministic(o *kernel.Outcome, difference string) error {
	result := o.Result
	result.Err = &kernel.NondeterminismError{Found: o, Difference: difference}
	return Broken(c.Scenario, c.Protocol, c.Options, result)
}

// Broken is the error of a run of a scenario that broke off.
func Broken(s *spec.Scenario, p isr.Protocol, of kernel.Options, result sim.Result) error {
	return &kernel.BrokenError{
		Scenario: s.Name, Protocol: p.Name, Swarm: of.Swarm, AllStops: of.AllStops, Result: result,
	}
}

// conclusion is the part of an outcome that two runs of one schedule must share, in words.
func conclusion(o *kernel.Outcome) string {
	said := o.Verdict.String()
	if o.Violation != nil {
		said += ": " + o.Violation.Invariant.Name
	}
	return fmt.Sprintf("%s after %d steps and %d choices", said, o.Result.Steps,
		len(o.Result.Choices))
}

// difference names the first request in which two traces of one schedule differ, or else the first line in which they
// do.
func difference(a, b string) string {
	before, now := requests(a), requests(b)
	for i, was := range before {
		if i >= len(now) {
			return fmt.Sprintf("request %d of %s was %q in one run, and was not made in another", was.number, was.node,
				was.asked)
		}
		if is := now[i]; was != is {
			if was.node == is.node {
				return fmt.Sprintf("request %d of %s was %q in one run, and %q in another", was.number,
					was.node, was.asked, is.asked)
			}
			break // the order of nodes follows from something before
		}
	}
	return FirstDifference(a, b)
}

// request is a request that took effect: the node's name, the request's number among the node's, and its content.
type request struct {
	node   string
	number int
	asked  string
}

// requests returns the requests of a trace, in their order.
func requests(trace string) (all []request) {
	numbers := map[string]int{}
	for line := range strings.Lines(trace) {
		fields := strings.Fields(line)
		if len(fields) < 5 || fields[3] != sim.Effect.String() {
			continue
		}
		node, _, _ := strings.Cut(fields[2], "/") // without its lane
		numbers[node]++
		asked, _, _ := strings.Cut(strings.Join(fields[4:], " "), " -> ")
		all = append(all, request{node, numbers[node], asked})
	}
	return all
}

// FirstDifference returns the first line in which two traces, or other texts, differ.
func FirstDifference(a, b string) string {
	linesOfA, linesOfB := strings.Split(a, "\n"), strings.Split(b, "\n")
	line := func(lines []string, i int) string {
		if i < len(lines) {
			return strings.TrimSpace(lines[i])
		}
		return ""
	}
	i := 0
	for line(linesOfA, i) == line(linesOfB, i) && i < max(len(linesOfA), len(linesOfB)) {
		i++
	}
	return fmt.Sprintf("line %d of the trace is %q in one run and %q in another", i+1,
		line(linesOfA, i), line(linesOfB, i))
}
