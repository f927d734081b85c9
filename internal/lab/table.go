package lab

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// compared are the measures of a comparison's table; CSV and JSON have all.
var compared = []struct {
	measure policy.Measure
	header  string
}{
	{policy.HitRatio, "hits"}, {policy.Outdated, "outdated"}, {policy.OutdatedP99, "by p99"},
	{policy.KnownStale, "known stale"}, {policy.Renders, "renders"}, {policy.RendersOfOneKey, "at once"},
	{policy.LatencyP99, "wait p99"}, {policy.CostMonth, "$/month"},
}

// printTable prints rows of cells in columns. An empty row is an empty line.
func printTable(out io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		if _, err := io.WriteString(table, strings.Join(cells, "\t")+"\n"); err != nil {
			return err
		}
	}
	return table.Flush()
}

// PrintComparison prints a table for each workload.
func PrintComparison(out io.Writer, rows []Row) error {
	var table [][]string
	workload := ""
	for _, r := range rows {
		if r.Workload != workload {
			if workload != "" {
				table = append(table, nil)
			}
			workload = r.Workload
			header := []string{workload}
			for _, c := range compared {
				header = append(header, c.header)
			}
			table = append(table, header)
		}
		cells := []string{r.Policy}
		for _, c := range compared {
			cells = append(cells, c.measure.Format(round(r.Of(c.measure).Mean)))
		}
		table = append(table, cells)
	}
	return printTable(out, table)
}

// PrintRun prints all measures of one experiment with their intervals.
func PrintRun(out io.Writer, r Row) error {
	table := [][]string{{r.Policy + " on " + r.Workload, "mean", "99 % interval"}}
	for _, m := range policy.Measures() {
		i := r.Of(m)
		table = append(table, []string{m.String(), m.Format(i.Mean), r.intervalText(m, i)})
	}
	return printTable(out, table)
}

func (r Row) intervalText(m policy.Measure, i policy.Interval) string {
	if math.IsNaN(i.Low) {
		return "one seed has none"
	}
	if r.trace {
		return "one trace has none"
	}
	high := i.High
	if strings.HasSuffix(m.Format(0), "%") {
		high = min(1, high) // Student's distribution has no bounds, but a share has
	}
	return fmt.Sprintf("%s to %s", m.Format(max(0, i.Low)), m.Format(high))
}

// round leaves three digits, for readability.
func round(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// PrintCSV prints one line for each policy, workload and measure.
func PrintCSV(out io.Writer, rows []Row) error {
	w := csv.NewWriter(out)
	_ = w.Write([]string{"workload", "policy", "measure", "mean", "low", "high"}) // Error reports a failure
	for _, r := range rows {
		for _, m := range r.measures() {
			i := r.Of(m)
			_ = w.Write([]string{r.Workload, r.Policy, m.String(), number(i.Mean), number(i.Low), number(i.High)})
		}
	}
	w.Flush()
	return w.Error()
}

func (r Row) measures() []policy.Measure {
	return slices.DeleteFunc(policy.Measures(), func(m policy.Measure) bool { return r.cold && m == policy.CostMonth })
}

// number prints a figure. NaN means no figure, and prints as nothing.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 9, 64)
}

// Figure is an interval in JSON. One seed has no bounds.
type Figure struct {
	Mean float64  `json:"mean"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// Measured has the results of one policy on one workload, in JSON: the measures by name.
type Measured struct {
	Workload   string            `json:"workload"`
	Policy     string            `json:"policy"`
	Seeds      int               `json:"seeds"`
	Confidence float64           `json:"confidence"`
	Measures   map[string]Figure `json:"measures"`
}

// ErrNotMeasured means that a file was not written by PrintJSON.
var ErrNotMeasured = errors.New(
	"found no figures of policies, expected what isr-sim policy compare --format json prints",
)

// ReadJSON reads the output of PrintJSON. Its error is ErrNotMeasured.
func ReadJSON(in io.Reader) ([]Measured, error) {
	var all []Measured
	if err := json.NewDecoder(in).Decode(&all); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotMeasured, mistake.JSON(err))
	}
	for _, m := range all {
		if m.Workload == "" || m.Policy == "" || m.Measures == nil {
			return nil, ErrNotMeasured
		}
	}
	if len(all) == 0 {
		return nil, ErrNotMeasured
	}
	return all, nil
}

// Text prints a figure of a measure, with its bounds.
func (f Figure) Text(m policy.Measure) string {
	if f.Low == nil || f.High == nil {
		return m.Format(f.Mean)
	}
	return fmt.Sprintf("%s (%s to %s)", m.Format(f.Mean), m.Format(max(0, *f.Low)), m.Format(*f.High))
}

// PrintJSON prints an array with an object for each policy and workload.
func PrintJSON(out io.Writer, rows []Row) error { return encode(out, measured(rows)) }

func measured(rows []Row) []Measured {
	all := []Measured{}
	for _, r := range rows {
		row := Measured{r.Workload, r.Policy, len(r.Results), r.Confidence, map[string]Figure{}}
		for _, m := range r.measures() {
			i := r.Of(m)
			value := Figure{Mean: i.Mean}
			if !math.IsNaN(i.Low) {
				value.Low, value.High = &i.Low, &i.High
			}
			row.Measures[m.String()] = value
		}
		all = append(all, row)
	}
	return all
}

func encode(out io.Writer, value any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
