package verdicts

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// Format is a form in which results are written.
type Format string

// These are the formats. Text is the form for terminals, which the commands write themselves.
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

// WithText reports whether the text for terminals is printed before the results.
func (f Format) WithText() bool { return f == Text || f == GitHub }

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

// writeMarkdown writes a job summary: a table of all results, and the folded details of those that did not pass.
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

// These types are the part of SARIF 2.1.0 that writeSARIF needs.
//
// Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Version        string      `json:"version,omitempty"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"name"`
	}
)

// reasons are the rules that are not invariants, with their texts.
var reasons = map[string]string{
	"not-violated":   "a scenario that expects a violation shows none",
	string(Unknown):  "a run has no verdict",
	string(Vacuous):  "a campaign never reached what its scenario declares",
	string(Mistake):  "a file is no scenario",
	string(Violated): "an invariant is violated",
}

// writeSARIF writes a SARIF result for each result that did not pass. The rules are the invariants.
func writeSARIF(w io.Writer, d *Document) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "isr-sim", InformationURI: "https://github.com/isr-sim/isr-sim",
			Version: d.Version, Rules: []sarifRule{},
		}},
		Results: []sarifResult{},
	}
	rules := map[string]int{}
	for i := range d.Results {
		r := &d.Results[i]
		if r.Passed {
			continue
		}
		id := r.reason()
		at, known := rules[id]
		if !known {
			at = len(run.Tool.Driver.Rules)
			rules[id] = at
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules,
				sarifRule{id, sarifText{firstOf(r.Statement, reasons[id], id)}})
		}
		level := "error"
		if r.Verdict == Unknown || r.Verdict == Vacuous {
			level = "warning"
		}
		text := r.title()
		for _, more := range []string{r.Message, r.Replay} {
			if more != "" {
				text += "\n" + more
			}
		}
		location := sarifLocation{Logical: []sarifLogical{{r.subject()}}}
		if r.File != "" {
			uri := url.URL{Path: filepath.ToSlash(filepath.Clean(r.File))}
			location.Physical = &sarifPhysical{Artifact: sarifArtifact{uri.String()}}
			if r.Line > 0 {
				location.Physical.Region = &sarifRegion{r.Line, r.Column}
			}
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: id, RuleIndex: at, Level: level, Message: sarifText{text}, Locations: []sarifLocation{location},
			Fingerprints: map[string]string{"isrSim/v1": r.Scenario + "/" + r.Protocol + "/" + id},
		})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0", Runs: []sarifRun{run},
	})
}
