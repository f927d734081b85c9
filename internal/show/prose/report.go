// Package prose words reports of campaigns, proofs, explanations and replay commands: for isr-sim, for package
// property, and for the messages of tests.
package prose

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// Row prints a campaign on one line: scenario, protocol, schedules, steps, verdict, and the marks that were reached.
func Row(r *campaign.Report) string {
	return TableRow(r.Scenario.Name, r.Protocol.Name, fmt.Sprint(r.Schedules), fmt.Sprint(r.Steps),
		Expected(r.Summary(), r.Verdict, r.Passed()), r.Reached())
}

// Expected adds to the summary of a violation that passed that it is as expected.
func Expected(summary string, verdict invariant.Verdict, passed bool) string {
	if verdict == invariant.Violated && passed {
		summary += ", as expected"
	}
	return summary
}

// Report prints why a campaign did not pass, in this order: verdict, invariant and its statement, the few events that
// violate it, seed, and the commands that replay and shrink the run. The parameters program and file are the reader's
// names for isr-sim and the scenario. For a campaign that passed, Report prints nothing.
func Report(r *campaign.Report, program, file string) string {
	var b strings.Builder
	switch {
	case r.Vacuous() && r.Doubt != nil:
		fmt.Fprintf(&b, "vacuous: %s under %s: %s\n", r.Scenario.Name, r.Protocol.Name, r.Doubt.Why)
	case r.Verdict == invariant.Violated:
		b.WriteString(Outcome(r.Failure, r.Scenario.Name, r.Protocol.Name))
		fmt.Fprintf(&b, "\nfound in schedule %d of seed %d (%s), after %d steps\n", r.FailedAt, r.Seed,
			r.FailureStrategy, r.Failure.Result.Steps)
		b.WriteString(ReplayLine(r.Failure.Replay(), "replay", program, file))
		b.WriteString(ReplayLine(r.Failure.Replay(), "shrink", program, file))
	case r.Verdict == invariant.Unknown:
		fmt.Fprintf(&b, "unknown: %s under %s: %s\n", r.Scenario.Name, r.Protocol.Name, r.Why)
		if r.Doubt != nil {
			b.WriteString(r.Doubt.Shown())
			b.WriteString(ReplayLine(r.Doubt.Replay(), "replay", program, file))
		}
	case r.Vacuous():
		which := fmt.Sprintf("vacuous: %s under %s: no schedule of %d (seed %d)", r.Scenario.Name,
			r.Protocol.Name, r.Schedules, r.Seed)
		Missing(&b, which, r.Missing, schedules.FaultTexts(r.Unmet))
		if names := r.Idle(); names != nil {
			fmt.Fprintf(&b, "%s had anything to judge for %s\n", which, strings.Join(names, ", "))
		}
		for _, d := range r.Unreached() {
			fmt.Fprintf(&b, "%s came to %s on all sides: %s\n", which, d.Of, d)
		}
		switch {
		case r.Misfit != "":
			b.WriteString(r.Misfit + "\n")
		case len(r.Scenario.Rows.Rows) > 0 && slices.Contains(r.Missing, mark.Published):
			b.WriteString("hint: the tables have the keys that rows name; the protocols of isr-sim write pk and sk\n")
		}
	}
	return b.String()
}

// Outcome prints the verdict of a run, its evidence and, where that helps, the flag of isr-sim replay that draws each
// node's history.
func Outcome(o *kernel.Outcome, name, protocol string) string {
	text := o.Explain(name, protocol)
	if o.Verdict == invariant.Violated && o.Violation.Invariant.Name == invariant.Named("linearizable").Name {
		text += "\nwith --history FILE.html the replay draws what every node was told, and when\n"
	}
	return text
}

// ReplayLine is ReplayCommand on a line that begins with the command's name.
func ReplayLine(r spec.Replay, command, program, file string) string {
	return command + ": " + ReplayCommand(r, command, program, file) + "\n"
}

// ReplayCommand is the command that replays a schedule, or another command for it, such as shrink, with everything that
// decides the run. The parameters program and file are the reader's names for isr-sim and the scenario. With the
// digest, if there is one, the command can tell whether it runs the same schedule.
func ReplayCommand(r spec.Replay, command, program, file string) string {
	flags := ""
	if r.Swarm {
		flags += " --swarm"
	}
	if r.AllStops {
		flags += " --all-stops"
	}
	if r.Steps > 0 {
		flags += fmt.Sprintf(" --steps %d", r.Steps)
	}
	if r.Digest != "" {
		flags += " --trace " + r.Digest
	}
	protocol := "--protocol " + r.Protocol
	if text, ok := strings.CutPrefix(r.Protocol, shell.ExecPrefix); ok {
		protocol = "--exec " + shell.Quote(text)
	}
	return fmt.Sprintf("%s %s %s --seed %d --choices '%s'%s %s", program, command, protocol, r.Seed, r.Choices, flags,
		file)
}

// Header is the first line of a table of campaigns and explorations.
func Header() string {
	return tableLine("scenario", "protocol", "schedules", "steps", "verdict", "reached")
}

// ProofHeader is the first line of a table of proofs.
func ProofHeader() string {
	return tableLine("scenario", "protocol", "schedules", "states", "verdict", "reached")
}

// TableRow is a line of such a table. It leaves out the marks that every campaign must reach.
func TableRow(name, protocol, schedules, steps, verdict string, reached []spec.Mark) string {
	return tableLine(name, protocol, schedules, steps, verdict, join(notable(reached)))
}

func tableLine(scenario, protocol, schedules, steps, verdict, reached string) string {
	return strings.TrimRight(
		fmt.Sprintf("%-20s  %-23s  %9s  %8s  %-24s  %s", scenario, protocol, schedules, steps, verdict, reached), " ",
	)
}

// notable returns the marks without the basic ones.
func notable(marks []spec.Mark) []spec.Mark {
	return slices.DeleteFunc(slices.Clone(marks), func(m spec.Mark) bool { return list.Basic(string(m)) })
}

// join lists marks on one line.
func join(marks []spec.Mark) string { return strings.Join(Names(marks), " ") }

// Names returns the names of marks, or nil.
func Names(marks []spec.Mark) []string {
	var all []string
	for _, m := range marks {
		all = append(all, string(m))
	}
	return all
}

// Missing prints the marks that no schedule reached, and the faults that could not strike. The parameter which names
// the schedules in the text.
func Missing(b *strings.Builder, which string, missing []spec.Mark, unmet []string) {
	for _, m := range missing {
		if list.Basic(string(m)) {
			fmt.Fprintf(b, "%s reached %s: nothing was there to be judged\n", which, m)
		}
	}
	if declared := notable(missing); len(declared) > 0 {
		fmt.Fprintf(b, "%s reached %s, which the scenario declares\n", which, join(declared))
	}
	for _, f := range unmet {
		fmt.Fprintf(b, "%s makes a call that the fault %q could strike\n", which, f)
	}
}

// Sizes prints two sizes as a table.
func Sizes(before, after campaign.Size) string {
	var b strings.Builder
	line := func(what string, before, after any) { fmt.Fprintf(&b, "%-18s %10v %10v\n", what, before, after) }
	line("", "before", "after")
	line("context switches", before.Switches, after.Switches)
	line("steps", before.Steps, after.Steps)
	line("true time", before.Elapsed, after.Elapsed)
	line("faults", before.Faults, after.Faults)
	line("actors", before.Actors, after.Actors)
	line("commands", before.Commands, after.Commands)
	return b.String()
}

// Metrics prints a line for each metric that is not zero, by its name in CloudWatch, summed over its dimensions.
func Metrics(all []ddbfake.Metrics) string {
	var b strings.Builder
	for _, field := range reflect.VisibleFields(reflect.TypeFor[ddbfake.Metrics]()) {
		if field.Name == "SuccessfulRequests" || strings.HasSuffix(field.Name, "Latency") {
			continue // they tell nothing here, because the fake's calls take no time
		}
		var sum float64
		for i := range all {
			switch v := reflect.ValueOf(&all[i]).Elem().FieldByIndex(field.Index); {
			case v.CanInt():
				sum += float64(v.Int())
			case v.CanFloat():
				sum += v.Float()
			}
		}
		if sum != 0 {
			fmt.Fprintf(&b, "  %-30s  %10.10g\n", field.Name, sum)
		}
	}
	return b.String()
}
