package schedules

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/internal/probe"
	"github.com/isr-sim/isr-sim/scenario"
)

// Confirm runs a schedule twice more, traced, and notes the traces' digest in its outcome. If one of the three runs
// differs from another it returns a *scenario.BrokenError with a *scenario.NondeterminismError in it.
func (c Set) Confirm(ctx context.Context, o *scenario.Outcome) error {
	var traces [2]bytes.Buffer
	for i := range traces {
		run := c.again(o)
		run.Trace = &traces[i]
		again, err := run.Do(ctx)
		if err := c.same(o, again, err); err != nil {
			return err
		}
		o.Digest = again.Digest
	}
	if first, second := traces[0].String(), traces[1].String(); first != second {
		return c.nondeterministic(o, firstDifference(first, second))
	}
	return nil
}

// repeat runs a schedule once more, and compares the hash of its order and its conclusion.
func (c Set) repeat(ctx context.Context, a Attempt) error {
	coverage := probe.Probe{Coverage: true}
	again, err := c.again(a.Outcome).Do(probe.With(ctx, &coverage))
	if err := c.same(a.Outcome, again, err); err != nil {
		return err
	}
	if coverage.Order != a.Order {
		return c.nondeterministic(a.Outcome, fmt.Sprintf("%s both times, but by other steps, or in another order", conclusion(a.Outcome)))
	}
	return nil
}

// same compares the conclusions of two runs of one schedule; err is of the second.
func (c Set) same(o, again *scenario.Outcome, err error) error {
	switch {
	case err != nil:
		return c.nondeterministic(o, fmt.Sprintf("%s the first time, and then it broke: %v", conclusion(o), err))
	case conclusion(again) != conclusion(o):
		return c.nondeterministic(o, fmt.Sprintf("%s the first time, and then %s", conclusion(o), conclusion(again)))
	default:
		return nil
	}
}

func (c Set) nondeterministic(o *scenario.Outcome, difference string) error {
	result := o.Result
	result.Err = &scenario.NondeterminismError{Found: o, Difference: difference}
	return &scenario.BrokenError{Scenario: c.Scenario.Name, Protocol: c.Protocol.Name, Swarm: c.Swarm, Result: result}
}

// conclusion is the part of an outcome that two runs of one schedule must share, in words.
func conclusion(o *scenario.Outcome) string {
	said := o.Verdict.String()
	if o.Violation != nil {
		said += ": " + o.Violation.Invariant.Name
	}
	return fmt.Sprintf("%s after %d steps and %d choices", said, o.Result.Steps, len(o.Result.Choices))
}

// firstDifference returns the first line in which two traces differ.
func firstDifference(a, b string) string {
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
	return fmt.Sprintf("line %d of the trace is %q in one run and %q in another", i+1, line(linesOfA, i), line(linesOfB, i))
}
