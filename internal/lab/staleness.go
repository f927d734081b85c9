package lab

import (
	"io"
	"strconv"
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// The table of staleness as tutorials print it: a row for each rate of changes, a cell for each lifetime.
var (
	tutorialLifetimes = []time.Duration{time.Minute, 5 * time.Minute, time.Hour}
	tutorialStaleness = []struct {
		changes string
		rate    float64 // a second
		stale   [3]string
	}{
		{"1 an hour", 1.0 / 3600, [3]string{"1.7 %", "8.3 %", "63 %"}},
		{"1 in 10 min", 1.0 / 600, [3]string{"10 %", "50 %", "~100 %"}},
		{"1 a minute", 1.0 / 60, [3]string{"63 %", "~100 %", "~100 %"}},
		{"1 a second", 1, [3]string{"~100 %", "~100 %", "~100 %"}},
	}
)

// changes prints a percentage with three digits, and without an exponent.
func changes(percent float64) string { return strconv.FormatFloat(round(percent), 'f', -1, 64) + " %" }

// PrintStaleness prints the table of staleness by rate of changes and lifetime: the tutorial's figures, and the exact
// values of the quantities that these claim to be.
func PrintStaleness(out io.Writer) error {
	share := policy.HitRatio.Format
	table := [][]string{{"changes", "lifetime", "tutorial", "WT", "at expiry", "over reads"}}
	for _, row := range tutorialStaleness {
		for i, lifetime := range tutorialLifetimes {
			atExpiry, overReads := policy.Staleness(row.rate, lifetime)
			table = append(table, []string{
				row.changes, lifetime.String(), row.stale[i],
				changes(100 * row.rate * lifetime.Seconds()), share(round(atExpiry)), share(round(overReads)),
			})
		}
	}
	if err := printTable(out, table); err != nil {
		return err
	}
	_, err := io.WriteString(out, `
tutorial    the share of stale reads, as it is printed in tutorials
WT          changes in a lifetime, the rule of thumb for the next column: right where it is small
at expiry   the chance that the data has changed when the lifetime ends: 1 - exp(-WT)
over reads  the share of hits that see outdated data: 1 - (1 - exp(-WT))/(WT)
`)
	return err
}
