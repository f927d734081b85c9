package verdicts

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"
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

// writeGitHub writes an annotation for each result that did not pass, on the scenario's line.
//
// Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
func writeGitHub(w io.Writer, d *Document) error {
	for i := range d.Results {
		r := &d.Results[i]
		if r.Passed {
			continue
		}
		var at []string
		if r.File != "" {
			at = append(at, "file="+property(filepath.ToSlash(filepath.Clean(r.File))))
		}
		if r.Line > 0 {
			at = append(at, fmt.Sprintf("line=%d", r.Line))
		}
		if r.Column > 0 {
			at = append(at, fmt.Sprintf("col=%d", r.Column))
		}
		at = append(at, "title="+property("isr-sim: "+r.title()))
		text := firstOf(r.Message, r.title())
		if r.Statement != "" {
			text = r.Statement + "\n" + text
		}
		if r.Replay != "" {
			text += "\nreplay: " + r.Replay
		}
		if _, err := fmt.Fprintf(w, "::error %s::%s\n", strings.Join(at, ","), data(text)); err != nil {
			return err
		}
	}
	return nil
}

// data returns the message of a workflow command with its special characters escaped.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// property escapes the value of a property of a workflow command.
func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// writeJUnit writes a suite for the command, and a case for each scenario and protocol. A violation is a failure; a
// result without a verdict is an error. Times are zero: they are not part of a result.
func writeJUnit(w io.Writer, d *Document) error {
	suite := junit.Testsuite{Name: "isr-sim " + d.Command, Time: "0"}
	suite.AddProperty("isr-sim", d.Version)
	for i := range d.Results {
		r := &d.Results[i]
		c := junit.Testcase{Name: r.Scenario, Classname: "isr-sim." + d.Command, Time: "0"}
		if r.Protocol != "" {
			c.Name = r.subject()
			c.Classname += "." + strings.ReplaceAll(r.Protocol, " ", "-")
		}
		failed := &junit.Result{
			Message: firstOf(r.Message, r.title()), Type: r.reason(), Data: firstOf(r.Details, r.Message, r.title()),
		}
		switch {
		case r.Verdict == Skipped:
			c.Skipped = &junit.Result{Message: r.Message}
		case r.Passed:
		case r.Verdict == Unknown, r.Verdict == Mistake:
			c.Error = failed
		default:
			c.Failure = failed
		}
		if r.Schedules > 0 {
			c.SystemOut = &junit.Output{Data: fmt.Sprintf("seed %s, %d schedules, %d steps: %s", r.Seed, r.Schedules,
				r.Steps, strings.Join(r.Reached, " "))}
			if unjudged := Unjudged(r.NotSimulated); unjudged != "" {
				c.SystemOut.Data += "\n" + unjudged
			}
			for _, line := range r.NotProved {
				c.SystemOut.Data += "\n" + line
			}
			if r.part() {
				c.SystemOut.Data += "\n" + r.Message
			}
		}
		suite.AddTestcase(c)
	}
	var all junit.Testsuites
	all.AddSuite(suite)
	if _, err := io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"); err != nil {
		return err
	}
	return all.WriteXML(w)
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
