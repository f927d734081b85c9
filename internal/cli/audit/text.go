package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/isr-sim/isr-sim/internal/audit"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
)

// text prints what an audit has found; told says that the findings have been printed.
func text(out io.Writer, res *audit.Result, told bool) {
	fmt.Fprintf(out, "%s, %s to %s\n", schedules.Plural(res.Records, "record"), audit.Instant(res.From),
		audit.Instant(res.To))
	for _, n := range []struct {
		count int
		what  string
	}{
		{res.Duplicates, "copies of records"}, {res.Others, "changes of other rows"},
		{res.Foreign, "records of other tables"},
	} {
		if n.count > 0 {
			fmt.Fprintf(out, "left out: %d %s\n", n.count, n.what)
		}
	}
	for _, f := range res.Findings {
		if !told {
			fmt.Fprintf(out, "\n%s\n", f)
		}
	}
	if res.Misfit != "" {
		fmt.Fprintf(out, "\nunknown: %s\n", res.Misfit)
	}
	fmt.Fprintf(out, "\n%s\n", strings.Join(table(res), "\n"))
	for _, line := range notJudged(res) {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintf(out, "\n%s", strings.Join(operators(&res.Numbers), ""))
	fmt.Fprintf(out, "verdict: %s\n", res.Verdict())
}

// table has a line for each invariant that rows can show.
func table(res *audit.Result) []string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "verdict\tinvariant\tjudged\tnot shown by rows")
	for _, o := range res.Outcomes {
		verdict := o.Verdict.String()
		if o.Judged == 0 && o.Violated+o.Doubts == 0 {
			verdict = "nothing"
		}
		fmt.Fprintf(w, "%s\t%s\t%d %s\t%s\n", verdict, o.Invariant, o.Judged, o.Shows, cmp.Or(o.Hidden, "-"))
	}
	_ = w.Flush() // into memory
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}

// notJudged has a line for each reason why invariants are not judged.
func notJudged(res *audit.Result) (lines []string) {
	by := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(res.NotJudged)) {
		why := res.NotJudged[name]
		by[why] = append(by[why], name)
	}
	for _, why := range slices.Sorted(maps.Keys(by)) {
		lines = append(lines, fmt.Sprintf("not judged: %s: %s", strings.Join(by[why], ", "), why))
	}
	return lines
}

// operators are the numbers in lines.
func operators(n *audit.Numbers) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)+"\n") }
	if n.Deleted > 0 {
		say("TTL deleted %d rows after their ttl: p50 %v, p99 %v, most %v", n.Deleted, n.LagP50, n.LagP99, n.LagMost)
	}
	if n.Publishes > 0 {
		say("%d publishes: %d when no lease was running, %d over a page that was still fresh, %d of data from before "+
			"the page's row was removed", n.Publishes, n.Unleased, n.Early, n.Refilled)
	}
	say("%s at the end; rows grew by %d, and by %d bytes", schedules.Plural(n.Keys, "key"), n.Rows, n.Bytes)
	for _, l := range n.Held {
		line := fmt.Sprintf("lock %s of %s, first seen %v before the end", l.Row, l.Token, l.Age)
		if l.Over > 0 {
			line += fmt.Sprintf(", over for %v", l.Over.Round(time.Millisecond))
		}
		say("%s", line)
	}
	for _, h := range n.Hot[:min(3, len(n.Hot))] {
		say("%d changes of %s", h.Changes, h.Row)
	}
	return lines
}

// numbers are the numbers for machines, as JSON or as OpenMetrics.
//
// Source: https://prometheus.io/docs/specs/om/open_metrics_spec/
func numbers(res *audit.Result, asJSON bool) []byte {
	all := []struct {
		name, kind, help string
		value            float64
	}{
		{"records", "counter", "Records that were read.", float64(res.Records)},
		{"violations", "counter", "Violations that were found.", float64(res.Violations())},
		{"gaps", "counter", "Parts of the history that are not known.", float64(res.Gaps())},
		{"ttl_deletions", "counter", "Rows that TTL deleted.", float64(res.Numbers.Deleted)},
		{"ttl_lag_p50_seconds", "gauge", "Median time from a row's ttl to its deletion.", res.Numbers.LagP50.Seconds()},
		{"ttl_lag_p99_seconds", "gauge", "99th percentile of that time.", res.Numbers.LagP99.Seconds()},
		{"ttl_lag_max_seconds", "gauge", "The longest such time.", res.Numbers.LagMost.Seconds()},
		{"publishes", "counter", "Pages that were published.", float64(res.Numbers.Publishes)},
		{"publishes_unleased", "counter", "Publishes when no lease was running.", float64(res.Numbers.Unleased)},
		{"publishes_early", "counter", "Publishes over a page that was fresh.", float64(res.Numbers.Early)},
		{"publishes_refilled", "counter", "Publishes of data read before a removal.", float64(res.Numbers.Refilled)},
		{"keys", "gauge", "Pages and locks that exist.", float64(res.Numbers.Keys)},
		{"rows_growth", "gauge", "Rows that came, less those that went.", float64(res.Numbers.Rows)},
		{"bytes_growth", "gauge", "The bytes by which rows grew.", float64(res.Numbers.Bytes)},
	}
	if asJSON {
		locks, hot := []any{}, []any{}
		for _, l := range res.Numbers.Held {
			locks = append(locks, map[string]any{"row": l.Row, "token": l.Token, "age_seconds": l.Age.Seconds(),
				"over_seconds": l.Over.Seconds()})
		}
		for _, h := range res.Numbers.Hot {
			hot = append(hot, map[string]any{"row": h.Row, "changes": h.Changes})
		}
		fields := map[string]any{"verdict": res.Verdict().String(), "locks": locks, "hot": hot}
		for _, m := range all {
			fields[m.name] = m.value
		}
		text, _ := json.MarshalIndent(fields, "", "  ") // numbers and texts only
		return append(text, '\n')
	}
	var b bytes.Buffer
	for _, m := range all {
		suffix := ""
		if m.kind == "counter" {
			suffix = "_total"
		}
		fmt.Fprintf(&b, "# TYPE isrsim_audit_%s %s\n# HELP isrsim_audit_%s %s\nisrsim_audit_%s%s %v\n", m.name, m.kind,
			m.name, m.help, m.name, suffix, m.value)
	}
	violated := 0
	if res.Verdict() == invariant.Violated {
		violated = 1
	}
	fmt.Fprintf(&b, "# TYPE isrsim_audit_violated gauge\nisrsim_audit_violated %d\n# EOF\n", violated)
	return b.Bytes()
}
