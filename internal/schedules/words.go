package schedules

import (
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/scenario"
)

// Header is the first line of a table of campaigns and explorations.
func Header() string { return Row("scenario", "protocol", "schedules", "steps", "verdict", "reached") }

// ProofHeader is the first line of a table of proofs.
func ProofHeader() string {
	return Row("scenario", "protocol", "schedules", "states", "verdict", "reached")
}

// Row is a line of a table of campaigns.
func Row(scenario, protocol, schedules, steps, verdict, reached string) string {
	return strings.TrimRight(fmt.Sprintf("%-20s  %-23s  %9s  %8s  %-24s  %s", scenario, protocol, schedules, steps, verdict, reached), " ")
}

// JoinMarks lists marks in one line.
func JoinMarks(marks []scenario.Mark) string {
	words := make([]string, len(marks))
	for i, m := range marks {
		words[i] = string(m)
	}
	return strings.Join(words, " ")
}

// ExplainMissing prints what no schedule reached: which says which schedules.
func ExplainMissing(b *strings.Builder, which string, missing []scenario.Mark, unmet []string) {
	for _, m := range missing {
		if m.Basic() {
			fmt.Fprintf(b, "%s reached %s: nothing was there to be judged\n", which, m)
		}
	}
	if declared := Notable(missing); len(declared) > 0 {
		fmt.Fprintf(b, "%s reached %s, which the scenario declares\n", which, JoinMarks(declared))
	}
	for _, f := range unmet {
		fmt.Fprintf(b, "%s makes a call that the fault %q could strike\n", which, f)
	}
}

// Plural prints a count of things.
func Plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "ch"):
		return fmt.Sprintf("%d %ses", n, thing)
	default:
		return fmt.Sprintf("%d %ss", n, thing)
	}
}
