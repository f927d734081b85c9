package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// report returns the page with all figures.
func report(all []judged, machine machine) string {
	var b strings.Builder
	missed, total := countMissed(all)
	fmt.Fprintf(&b, head, total-missed, total, machine.table(), len(all[0].verdicts[0].ours))
	for _, c := range all {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", c.title, c.about)
		if c.peer == "" {
			b.WriteString("| what | isr-sim | rounds | target | |\n|---|---|---|---|---|\n")
		} else {
			fmt.Fprintf(&b,
				"| request | isr-sim | %s | ratio | rounds | target | |\n|---|---|---|---|---|---|---|\n", c.peer)
		}
		for _, v := range c.verdicts {
			cells := []string{strings.ReplaceAll(v.name, "-", " "), quantity(v.ours.median(), v.line.ours.unit)}
			if c.peer != "" {
				cells = append(cells, quantity(v.theirs.median(), v.line.theirs.unit), v.show(v.ratio))
			}
			cells = append(cells, v.show(v.low)+" to "+v.show(v.high), v.target(), v.outcome())
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	b.WriteString(tail)
	return b.String()
}

// docs/COMPARISON.md has a part of the report between these lines.
const (
	partBegins = "<!-- speed: written by bench/run -->\n"
	partEnds   = "<!-- end of speed -->\n"
)

// intoPage returns the text of a page with the ratios of this report.
func intoPage(page string, all []judged) (string, error) {
	before, rest, begins := strings.Cut(page, partBegins)
	_, after, ends := strings.Cut(rest, partEnds)
	if !begins || !ends {
		return "", fmt.Errorf("the page has no lines %q and %q", partBegins, partEnds)
	}
	var b strings.Builder
	b.WriteString(before + partBegins + "\n| | " + strings.ReplaceAll(strings.Join(operationNames, " | "), "-", " ") +
		" |\n|---|---|---|---|---|\n")
	for _, c := range all {
		if c.peer == "" || c.verdicts[0].target() == "" {
			continue
		}
		fmt.Fprintf(&b, "| %s |", c.title)
		for _, op := range operationNames {
			ratio := "-"
			for _, v := range c.verdicts {
				if v.name == op {
					ratio = v.show(v.ratio)
				}
			}
			fmt.Fprintf(&b, " %s |", ratio)
		}
		b.WriteString("\n")
	}
	return b.String() + "\n" + partEnds + after, nil
}

// summary returns the verdicts for a terminal.
func summary(all []judged) string {
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "%s\n", c.title)
		for _, v := range c.verdicts {
			theirs := ""
			if c.peer != "" {
				theirs = quantity(v.theirs.median(), v.line.theirs.unit)
			}
			fmt.Fprintf(&b, "  %-20s %10s %10s %10s  %-22s %-10s %s\n", v.name,
				quantity(v.ours.median(), v.line.ours.unit), theirs,
				v.show(v.ratio), "("+v.show(v.low)+" to "+v.show(v.high)+")", v.target(), v.outcome())
		}
	}
	return b.String()
}

const missedTarget = "missed"

func (v verdict) outcome() string {
	switch {
	case v.target() == "":
		return ""
	case v.met:
		return "met"
	}
	return missedTarget
}

func (v verdict) target() string {
	switch {
	case v.atLeast > 0:
		return fmt.Sprintf(">= %.0fx", v.atLeast)
	case v.atMost > 0:
		return fmt.Sprintf("<= %.2fx", v.atMost)
	case v.below > 0:
		return "< " + quantity(v.below, v.line.ours.unit)
	}
	return ""
}

// show prints a ratio, or a figure if there is no peer.
func (v verdict) show(ratio float64) string {
	switch {
	case v.below > 0:
		return quantity(ratio, v.line.ours.unit)
	case ratio < 10:
		return fmt.Sprintf("%.2fx", ratio)
	case ratio < 100:
		return fmt.Sprintf("%.1fx", ratio)
	}
	return fmt.Sprintf("%.0fx", ratio)
}

// quantity prints a figure with three digits and its unit.
func quantity(value float64, unit string) string {
	switch {
	case unit == "heap-B/row":
		return fmt.Sprintf("%.0f B", value)
	case value < 1e3:
		return fmt.Sprintf("%.0f ns", value)
	case value < 1e6:
		return fmt.Sprintf("%.3g us", value/1e3)
	}
	return fmt.Sprintf("%.3g ms", value/1e6)
}

const head = `# Speed

The figures behind the table in docs/COMPARISON.md: isr-sim beside the fakes and emulators that a Go team would use
instead. They come from

` + "```text\nbash bench/run\n```" + `

which installs them, and runs everything in one go on one CPU; with ` + "`--check`" + ` it fails if a target is
missed. %d of %d targets are met.

%s
The requests are those of the reference cache: the read of META, the put that acquires a lease, the update that refreshes
it, and the transaction that publishes (puts META and deletes LOCK). All of them succeed and change what they write. The
table has 1,000 rows, META and LOCK of 500 pages.

A figure is the median of %d rounds. A round runs every benchmark once, and "rounds" is the range of the figures of single
rounds. A ratio compares medians of this one run: on another machine the figures differ a lot, and the ratios much less.
`

const tail = `
## How it is measured

- One CPU for all: the benchmarks, the servers and the container are tied to it, and share it. A Java runtime with one CPU
  takes its serial garbage collector, and node its one thread as always.
- DynamoDB Local and dynalite compile while they run: they have answered 20,000 requests of each kind before the first
  round.
- Servers are processes of their own. Their processor time is read from the process's clock (clock_gettime) before and
  after each pass over the 500 pages. So it includes neither the client's work nor the writes that put LOCK rows back
  between two passes.
- The HTTP client sends the bytes that the SDK has encoded and signed, over eight kept connections. It encodes nothing
  while it is measured; only the ClientRequestToken of a transaction is a new one each time.
- Programs that run in the same way are compared by processor time. On one CPU that is the time without waits and without
  other programs, so it hardly depends on how busy the machine is. It includes the work of the garbage collector.
  Throughput is by the wall clock, and means little on a busy machine. Start, snapshot and restore are by the wall clock,
  too, each the median of many single times.
- Before anything is measured, TestSameWork asserts that every side gives the same answers and leaves the same rows.

## Differences between the sides

- isr-sim keeps a change log of all writes in memory, as it does for every user. No other side has one.
- isr-sim and DynamoDB Local remember the token of each transaction for ten minutes. minidyn ignores tokens.
- minidyn copies the whole table before a transaction, so it is slower on a larger table.
- dynalite has no transactions.
- minidyn and dynalite have no TTL, so it is off on all sides. On a table with TTL isr-sim also keeps an index of rows
  that expire.
- minidyn has no server of its own: its HTTP handler runs behind net/http here.
- A container is reached through Docker's proxy. The proxy counts for the time of a call, and not for the processor time
  of DynamoDB Local.
- No side checks signatures. DynamoDB Local and dynalite look at the header's form, isr-sim reads the access key id.
- isr-sim computes the x-amz-crc32 of each answer, as DynamoDB Local and dynalite do; minidyn does not.
`

type measurement struct{ benchmark, unit string }

// figures are the results of the rounds, in order.
type figures []float64

// parseResults reads the output of the benchmarks of all rounds: a name, a number of iterations, and pairs of value and
// unit.
//
// Source: https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md
func parseResults(text string) (map[measurement]figures, error) {
	all := map[measurement]figures{}
	for line := range strings.Lines(text) {
		name, isResult := strings.CutPrefix(line, "Benchmark")
		fields := strings.Fields(name)
		if !isResult || len(fields) < 4 {
			continue
		}
		for pair := range slices.Chunk(fields[2:], 2) {
			value, err := strconv.ParseFloat(pair[0], 64)
			if err != nil || len(pair) < 2 {
				return nil, fmt.Errorf("cannot read the benchmark line %q", line)
			}
			key := measurement{fields[0], pair[1]}
			all[key] = append(all[key], value)
		}
	}
	return all, nil
}

// median returns the middle figure, or the mean of the middle two.
func (f figures) median() float64 {
	sorted := slices.Sorted(slices.Values(f))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
