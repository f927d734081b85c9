package prose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/schedules"
	"github.com/isr-sim/isr-sim/scenario"
)

// Header is the first line of a table of campaigns and explorations.
func Header() string {
	return tableLine("scenario", "protocol", "schedules", "steps", "verdict", "reached")
}

// ProofHeader is the first line of a table of proofs.
func ProofHeader() string {
	return tableLine("scenario", "protocol", "schedules", "states", "verdict", "reached")
}

// TableRow is a line of such a table. Marks that every campaign must reach are left out of it.
func TableRow(name, protocol, schedules, steps, verdict string, reached []scenario.Mark) string {
	return tableLine(name, protocol, schedules, steps, verdict, join(notable(reached)))
}

func tableLine(scenario, protocol, schedules, steps, verdict, reached string) string {
	return strings.TrimRight(fmt.Sprintf("%-20s  %-23s  %9s  %8s  %-24s  %s", scenario, protocol, schedules, steps, verdict, reached), " ")
}

// notable leaves out the basic marks.
func notable(marks []scenario.Mark) []scenario.Mark {
	return slices.DeleteFunc(slices.Clone(marks), schedules.Basic)
}

// join lists marks in one line.
func join(marks []scenario.Mark) string {
	words := make([]string, len(marks))
	for i, m := range marks {
		words[i] = string(m)
	}
	return strings.Join(words, " ")
}

// Missing prints the marks that no schedule reached, and the faults that could not strike. The text which names the
// schedules.
func Missing(b *strings.Builder, which string, missing []scenario.Mark, unmet []string) {
	for _, m := range missing {
		if schedules.Basic(m) {
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
