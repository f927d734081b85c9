package prose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/explain"
)

// Explanation prints the chance of the violation after each step. A line has the chance, the change that the step made
// to it, a mark, and the step as in a trace. The mark ! stands at the step from which the violation is certain, as far
// as the tails can tell; > stands at the last jump, where that is another step. Steps without a choice and without a
// change are left out, unless all are asked for. Below the steps stand the jumps, and the events that the violation
// needed.
func Explanation(e *explain.Explanation, all bool) string {
	var b strings.Builder
	x := explanation{e}
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
		case x.Last:
			mark = ">"
		}
		lines := strings.Split(s.Text, "\n")
		fmt.Fprintf(&b, "%6s %6s %s %s\n", x.percent(s.Violated), jump, mark, lines[0])
		for _, line := range lines[1:] {
			fmt.Fprintf(&b, "%16s%s\n", "", line)
		}
	}
	b.WriteString("\n")
	x.printJumps(&b)
	x.printEvents(&b, all)
	return b.String()
}

// explanation is an explanation on its way into words.
type explanation struct{ *explain.Explanation }

// printJumps says when the violation became certain, and at which steps its chance grew.
func (x explanation) printJumps(b *strings.Builder) {
	name := x.Outcome.Violation.Invariant.Name
	if x.Last >= 0 {
		fmt.Fprintf(b, "last jump: %s, from %s to %s\n", x.step(x.Last), x.percent(x.before(x.Last)), x.percent(x.Steps[x.Last].Violated))
	}
	if x.Sealed < len(x.Steps) {
		fmt.Fprintf(b, "certain from step %d on: every one of %d random tails violates %s\n", x.Steps[x.Sealed].N, x.Tails, name)
	}
	if x.Jump >= 0 && x.Jump != x.Last {
		fmt.Fprintf(b, "largest jump: %s, from %s to %s", x.step(x.Jump), x.percent(x.before(x.Jump)), x.percent(x.Steps[x.Jump].Violated))
		if slices.ContainsFunc(x.Steps[x.Jump:], func(s explain.Step) bool { return s.Violated < x.Steps[x.Jump].Violated }) {
			b.WriteString(", which did not last")
		}
		b.WriteString("\n")
	}
}

// printEvents prints the number of violations without each event. Those without which the same schedule violates it,
// too, are only counted unless all are asked for.
func (x explanation) printEvents(b *strings.Builder, all bool) {
	if len(x.Events) == 0 {
		b.WriteString("\nnothing happened that need not have: the order of the steps decided\n")
		return
	}
	b.WriteString("\nrandom tails that violate it without what need not have happened, from there on:\n")
	idle := 0
	for _, e := range x.Events {
		also := ", and by the same schedule"
		switch {
		case e.Needed():
			also = ", and not by the same schedule: needed"
		case !e.Rest:
			also = ", and not by the same schedule"
		default:
			idle++
			if !all {
				continue
			}
		}
		fmt.Fprintf(b, "  without step %d, %s: %d of %d%s\n", x.Steps[e.Step].N, e.What, e.Violated, x.Tails, also)
	}
	if idle > 0 && !all {
		fmt.Fprintf(b, "  without any one of %d others: by the same schedule, too (--all)\n", idle)
	}
}

// step names a step: its number, whose it is, and its kind.
func (x explanation) step(i int) string {
	s := x.Steps[i]
	line, _, _ := strings.Cut(s.Text, "\n")
	words := strings.Fields(line) // number, time, actor, kind
	if len(words) < 4 {
		return fmt.Sprintf("step %d", s.N)
	}
	return fmt.Sprintf("step %d (%s %s)", s.N, words[2], words[3])
}

// before is how many tails violate the invariant before a step.
func (x explanation) before(i int) int {
	if i == 0 {
		return x.Before
	}
	return x.Steps[i-1].Violated
}

func (x explanation) percent(violated int) string {
	return fmt.Sprintf("%.1f%%", 100*float64(violated)/float64(x.Tails))
}
