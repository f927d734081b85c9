package report

import (
	"html/template"
	"io"

	"github.com/isr-sim/isr-sim/internal/show/record"
)

// Entry is a report to which an index links.
type Entry struct {
	Link   string // relative to the index, with slashes
	Record *record.Record
}

// Index writes a page that links to reports. The reports of violated runs come first. The parameter campaign is the
// address of a page that Campaigns wrote; "" if there is none.
func Index(out io.Writer, entries []Entry, campaign string) error {
	type line struct {
		Link string
		words
	}
	view := struct {
		CSS      template.CSS
		Policy   string
		Lines    []line
		Violated int
		Campaign string
	}{Campaign: campaign, CSS: template.CSS(css), Policy: "default-src 'none'; style-src '" + hash(css) +
		"'; base-uri 'none'; form-action 'none'"} //nolint:gosec // a file of this package
	var rest []line
	for _, e := range entries {
		of := line{e.Link, read(e.Record).cleaned()}
		if e.Record.Violation != nil {
			view.Lines = append(view.Lines, of)
		} else {
			rest = append(rest, of)
		}
	}
	view.Violated = len(view.Lines)
	view.Lines = append(view.Lines, rest...)
	return templates.ExecuteTemplate(out, "index", view)
}
