package verdicts

import (
	"fmt"
	"io"
	"strings"
)

// writeMarkdown writes a table of all results, and the details of those that did not pass, folded: a job summary.
func writeMarkdown(w io.Writer, d *Document) error {
	var b strings.Builder
	failed := 0
	for i := range d.Results {
		if !d.Results[i].Passed {
			failed++
		}
	}
	fmt.Fprintf(&b, "## isr-sim %s: ", d.Command)
	switch {
	case len(d.Results) == 0:
		b.WriteString("no results\n")
	case failed == 0:
		fmt.Fprintf(&b, "%d as expected\n", len(d.Results))
	default:
		fmt.Fprintf(&b, "%d of %d not as expected\n", failed, len(d.Results))
	}
	if len(d.Results) > 0 {
		b.WriteString("\n| | scenario | protocol | verdict | schedules | seed |\n|---|---|---|---|---:|---:|\n")
	}
	for i := range d.Results {
		r := &d.Results[i]
		mark, verdict, schedules := "✅", string(r.Verdict), ""
		if r.Verdict == Skipped {
			mark = "➖"
		}
		if !r.Passed {
			mark = "❌"
		}
		if r.Invariant != "" {
			verdict += ": " + r.Invariant
		}
		if r.Schedules > 0 {
			schedules = fmt.Sprint(r.Schedules)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", mark, cell(r.Scenario), cell(r.Protocol),
			cell(verdict), schedules, r.Seed)
	}
	for i := range d.Results {
		if r := &d.Results[i]; len(r.NotSimulated) > 0 {
			fmt.Fprintf(&b, "\n%s: %s\n", cell(r.subject()), cell(Unjudged(r.NotSimulated)))
		}
		if r := &d.Results[i]; r.part() {
			fmt.Fprintf(&b, "\n%s: %s\n", cell(r.subject()), cell(r.Message))
		}
	}
	for i := range d.Results {
		r := &d.Results[i]
		if r.Passed {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n", cell(r.title()))
		if r.Statement != "" {
			fmt.Fprintf(&b, "\n> %s\n", cell(r.Statement))
		}
		if r.Message != "" {
			fmt.Fprintf(&b, "\n%s\n", cell(r.Message))
		}
		if r.Details != "" {
			b.WriteString("\n<details><summary>What happened</summary>\n\n" + fenced(r.Details) + "\n</details>\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell escapes text for a line of Markdown, such as a cell of a table.
func cell(s string) string {
	var b strings.Builder
	for _, c := range strings.Join(strings.Fields(s), " ") {
		switch c {
		case '<':
			b.WriteString("&lt;")
			continue
		case '\\', '|', '*', '_', '`', '[', ']', '#', '!', '~', '>', '&':
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// fenced is a block of code, within a fence that the text does not contain.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}
