package explain

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/isr-sim/isr-sim/internal/search/schedules"
)

// Text returns the events that the violation needed, and its chance after each step. A line has the chance, how the
// step changed it, a mark, and the step as in a trace. The mark ! is at the step from which the violation is certain,
// as far as the tails can tell. The mark > is at the last jump, if that is another step. Steps without a choice and
// without a change are left out, unless all is true. The jumps come after the steps.
func (x *Explanation) Text(all bool) string {
	var b strings.Builder
	x.printEvents(&b, all)
	fmt.Fprintf(&b, "\nthe chance of it after each step, from %d random tails each\n\n", x.Tails)
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
	return b.String()
}

// printJumps prints when the violation became certain, and at which steps its chance grew.
func (x *Explanation) printJumps(b *strings.Builder) {
	name := x.Outcome.Violation.Invariant.Name
	if x.Last >= 0 {
		fmt.Fprintf(b, "last jump: %s, from %s to %s\n", x.step(x.Last), x.percent(x.before(x.Last)),
			x.percent(x.Steps[x.Last].Violated))
	}
	if x.Sealed < len(x.Steps) {
		fmt.Fprintf(b, "certain from step %d on: every one of %d random tails violates %s\n",
			x.Steps[x.Sealed].N, x.Tails, name)
	}
	if x.Jump >= 0 && x.Jump != x.Last {
		fmt.Fprintf(b, "largest jump: %s, from %s to %s", x.step(x.Jump), x.percent(x.before(x.Jump)),
			x.percent(x.Steps[x.Jump].Violated))
		if slices.ContainsFunc(x.Steps[x.Jump:], func(s Step) bool { return s.Violated < x.Steps[x.Jump].Violated }) {
			b.WriteString(", which did not last")
		}
		b.WriteString("\n")
	}
}

// printEvents prints the number of violations without each event. Needed events come first. Events that do not change
// the chance of the violation are only counted, unless all is true.
func (x *Explanation) printEvents(b *strings.Builder, all bool) {
	fmt.Fprintf(b, "what had to happen: violations in %d runs without it, and with it\n\n", x.Tails)
	if len(x.Events) == 0 {
		b.WriteString("  nothing had to: the run has no pause, no fault and no context switch;\n" +
			"  the protocol, or whose turn it was, is enough\n")
		return
	}
	if !x.Events[0].Needed() {
		b.WriteString("  no single event had to: without each of them, some runs violate it still\n")
	}
	idle := 0
	for _, e := range x.Events {
		mark := e.Effect(x.Tails)
		if mark == "idle" {
			if idle++; !all {
				continue
			}
		}
		name := fmt.Sprintf("  %s: step %d, %s:", mark, x.Steps[e.Step].N, e.What)
		from, to := Interval(e.Violated, x.Tails)
		counts := fmt.Sprintf("without it %d of %d (%.1f%% to %.1f%%), with it %d", e.Violated, x.Tails,
			100*from, 100*to, e.With)
		if utf8.RuneCountInString(name)+1+len(counts) > 80 {
			name += "\n         "
		}
		fmt.Fprintf(b, "%s %s\n", name, counts)
	}
	if idle > 0 && !all {
		fmt.Fprintf(b, "  idle: %s, without which it is as likely (--all)\n", schedules.Plural(idle, "other event"))
	}
}

func (x *Explanation) step(i int) string {
	return fmt.Sprintf("step %d (%s)", x.Steps[i].N, x.Steps[i].What)
}

// before is the number of tails that violate the invariant before a step.
func (x *Explanation) before(i int) int {
	if i == 0 {
		return x.Before
	}
	return x.Steps[i-1].Violated
}

func (x *Explanation) percent(violated int) string {
	return fmt.Sprintf("%.1f%%", 100*float64(violated)/float64(x.Tails))
}
