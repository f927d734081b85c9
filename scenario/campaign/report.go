package campaign

import (
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/internal/schedules"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// Vacuous says that nothing was violated, but that no schedule reached what the
// scenario declares it must, or that a fault it declares could never strike.
func (r *Report) Vacuous() bool {
	return r.Verdict == invariant.OK && len(r.Missing)+len(r.Unmet) > 0
}

// Passed says whether the campaign came to what its scenario expects and reached
// what it declares. Under another protocol than the scenario's own, ok is what is
// expected.
func (r *Report) Passed() bool {
	return r.Verdict == r.Scenario.Expected(r.Protocol.Name) && !r.Vacuous()
}

// Summary is the verdict in a few words.
func (r *Report) Summary() string {
	switch {
	case r.Vacuous():
		return "vacuous"
	case r.Verdict == invariant.Violated:
		return "violated: " + r.Failure.Violation.Invariant.Name
	default:
		return r.Verdict.String()
	}
}

// Row prints the campaign on one line: scenario, protocol, schedules, steps,
// verdict, and what was reached.
func (r *Report) Row() string {
	return schedules.Row(r.Scenario.Name, r.Protocol.Name, fmt.Sprint(r.Schedules), fmt.Sprint(r.Steps), r.Summary(), schedules.JoinMarks(schedules.Notable(r.Reached())))
}

// Explain prints why the campaign did not pass, in this order: verdict, invariant
// and its statement, the few events that violate it, seed, and the commands that
// run it again and that shrink it. program is how the reader calls isr-sim, and file how they name
// the scenario. A campaign that passed is explained by nothing.
func (r *Report) Explain(program, file string) string {
	var b strings.Builder
	switch {
	case r.Verdict == invariant.Violated:
		b.WriteString(r.Failure.Explain(r.Scenario.Name, r.Protocol.Name))
		fmt.Fprintf(&b, "\nfound in schedule %d of seed %d (%s), after %d steps\n", r.FailedAt, r.Seed, r.FailureStrategy, r.Failure.Result.Steps)
		b.WriteString(r.Failure.Replay().Line("replay", program, file))
		b.WriteString(r.Failure.Replay().Line("shrink", program, file))
	case r.Verdict == invariant.Unknown:
		fmt.Fprintf(&b, "unknown: %s under %s: %s\n", r.Scenario.Name, r.Protocol.Name, r.Why)
		if r.Doubt != nil {
			b.WriteString(r.Doubt.Replay().Line("replay", program, file))
		}
	case r.Vacuous():
		which := fmt.Sprintf("vacuous: %s under %s: no schedule of %d (seed %d)", r.Scenario.Name, r.Protocol.Name, r.Schedules, r.Seed)
		schedules.ExplainMissing(&b, which, r.Missing, schedules.FaultTexts(r.Unmet))
	}
	return b.String()
}
