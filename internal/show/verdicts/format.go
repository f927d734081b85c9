package verdicts

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Format is a form in which results are written.
type Format string

// The formats. Text is the form for terminals, which the commands write themselves.
const (
	Text     Format = "text"
	JSON     Format = "json"
	JSONL    Format = "jsonl"
	JUnit    Format = "junit"
	GitHub   Format = "github"
	SARIF    Format = "sarif"
	Markdown Format = "markdown"
)

// Formats returns all formats.
func Formats() []Format { return []Format{Text, JSON, JSONL, JUnit, GitHub, SARIF, Markdown} }

// WithText says whether the text for terminals is printed before the results.
func (f Format) WithText() bool { return f == Text || f == GitHub }

// writers of whole documents.
var writers = map[Format]func(io.Writer, *Document) error{
	Text:  func(io.Writer, *Document) error { return nil },
	JSON:  writeJSON,
	JSONL: writeJSONL,
	JUnit: writeJUnit, GitHub: writeGitHub, SARIF: writeSARIF, Markdown: writeMarkdown,
}

// Write writes the results of a command.
func (f Format) Write(w io.Writer, d Document) error {
	write, ok := writers[f]
	if !ok {
		return fmt.Errorf("found the format %q, expected one of %s", f, join(Formats()))
	}
	d.Format = documentFormat
	d.Results = slices.Clone(d.Results)
	for i := range d.Results {
		r := &d.Results[i]
		for _, text := range []*string{&r.Scenario, &r.Protocol, &r.File, &r.Statement, &r.Message, &r.Details,
			&r.Replay, &r.Shrink, &r.Record, &r.Report} {
			*text = clean(*text)
		}
	}
	return write(w, &d)
}

func join(formats []Format) string {
	text := ""
	for i, f := range formats {
		if i > 0 {
			text += ", "
		}
		text += string(f)
	}
	return text
}

func writeJSON(w io.Writer, d *Document) error {
	if d.Results == nil {
		d.Results = []Result{}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// writeJSONL writes each result on a line.
func writeJSONL(w io.Writer, d *Document) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range d.Results {
		if err := e.Encode(&d.Results[i]); err != nil {
			return err
		}
	}
	return nil
}
