package prose

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
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
func TableRow(name, protocol, schedules, steps, verdict string, reached []kernel.Mark) string {
	return tableLine(name, protocol, schedules, steps, verdict, join(notable(reached)))
}

func tableLine(scenario, protocol, schedules, steps, verdict, reached string) string {
	return strings.TrimRight(
		fmt.Sprintf("%-20s  %-23s  %9s  %8s  %-24s  %s", scenario, protocol, schedules, steps, verdict, reached), " ",
	)
}

// notable leaves out the basic marks.
func notable(marks []kernel.Mark) []kernel.Mark {
	return slices.DeleteFunc(slices.Clone(marks), schedules.Basic)
}

// join lists marks in one line.
func join(marks []kernel.Mark) string { return strings.Join(Names(marks), " ") }

// Names returns the names of marks, or nil.
func Names(marks []kernel.Mark) []string {
	var all []string
	for _, m := range marks {
		all = append(all, string(m))
	}
	return all
}

// Missing prints the marks that no schedule reached, and the faults that could not strike. The parameter which names
// these schedules in the text.
func Missing(b *strings.Builder, which string, missing []kernel.Mark, unmet []string) {
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

// Metrics prints a line for each metric that is not zero, by its name in CloudWatch, added up over its dimensions.
func Metrics(all []ddbfake.Metrics) string {
	var b strings.Builder
	for _, field := range reflect.VisibleFields(reflect.TypeFor[ddbfake.Metrics]()) {
		if field.Name == "SuccessfulRequests" || strings.HasSuffix(field.Name, "Latency") {
			continue // an alarm on these tells nothing here, because the fake's calls take no time
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
