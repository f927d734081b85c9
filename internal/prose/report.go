// Package prose puts reports of campaigns, proofs, explanations and replay commands into words: for isr-sim, for
// package property, and for the messages of tests.
package prose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/schedules"
	"github.com/isr-sim/isr-sim/internal/shell"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// Row prints a campaign on one line: scenario, protocol, schedules, steps, verdict, and the marks that were reached.
func Row(r *campaign.Report) string {
	return TableRow(r.Scenario.Name, r.Protocol.Name, fmt.Sprint(r.Schedules), fmt.Sprint(r.Steps), r.Summary(), r.Reached())
}

// Report prints why a campaign did not pass, in this order: verdict, invariant and its statement, the few events that
// violate it, seed, and the commands that run it again and that shrink it. program is how the reader calls isr-sim, and
// file how the reader names the scenario. Of a campaign that passed there is nothing to print.
func Report(r *campaign.Report, program, file string) string {
	var b strings.Builder
	switch {
	case r.Vacuous() && r.Doubt != nil:
		fmt.Fprintf(&b, "vacuous: %s under %s: %s\n", r.Scenario.Name, r.Protocol.Name, r.Doubt.Why)
	case r.Verdict == invariant.Violated:
		b.WriteString(r.Failure.Explain(r.Scenario.Name, r.Protocol.Name))
		fmt.Fprintf(&b, "\nfound in schedule %d of seed %d (%s), after %d steps\n", r.FailedAt, r.Seed, r.FailureStrategy, r.Failure.Result.Steps)
		b.WriteString(ReplayLine(r.Failure.Replay(), "replay", program, file))
		b.WriteString(ReplayLine(r.Failure.Replay(), "shrink", program, file))
	case r.Verdict == invariant.Unknown:
		fmt.Fprintf(&b, "unknown: %s under %s: %s\n", r.Scenario.Name, r.Protocol.Name, r.Why)
		if r.Doubt != nil {
			b.WriteString(ReplayLine(r.Doubt.Replay(), "replay", program, file))
		}
	case r.Vacuous():
		which := fmt.Sprintf("vacuous: %s under %s: no schedule of %d (seed %d)", r.Scenario.Name, r.Protocol.Name, r.Schedules, r.Seed)
		Missing(&b, which, r.Missing, schedules.FaultTexts(r.Unmet))
		switch {
		case r.Misfit != "":
			b.WriteString(r.Misfit + "\n")
		case len(r.Scenario.Rows.Rows) > 0 && slices.Contains(r.Missing, scenario.Published):
			b.WriteString("hint: the tables have the keys that rows name; the protocols of isr-sim write pk and sk\n")
		}
	}
	return b.String()
}

// ReplayLine prints the command that replays a schedule, or another command about it, such as shrink, with everything
// that decides the run. program is how the reader calls isr-sim, and file how the reader names the scenario. By the
// digest, if there is one, the command notices that it runs another schedule.
func ReplayLine(r scenario.Replay, command, program, file string) string {
	flags := ""
	if r.Swarm {
		flags += " --swarm"
	}
	if r.Digest != "" {
		flags += " --trace " + r.Digest
	}
	protocol := "--protocol " + r.Protocol
	if text, ok := strings.CutPrefix(r.Protocol, shell.ExecPrefix); ok {
		protocol = "--exec " + shell.Quote(text)
	}
	return fmt.Sprintf("%s: %s %s %s --seed %d --choices '%s'%s %s\n", command, program, command, protocol, r.Seed, r.Choices, flags, file)
}
