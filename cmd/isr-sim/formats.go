package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/atomicfile"
	"github.com/isr-sim/isr-sim/internal/catalog"
	"github.com/isr-sim/isr-sim/internal/suggest"
	"github.com/isr-sim/isr-sim/internal/verdicts"
	"github.com/isr-sim/isr-sim/scenario"
)

// formats writes the results of a command in the forms that the user asks for.
type formats struct {
	given   []string
	to      []destination
	quiet   bool
	results []verdicts.Result
}

// destination is a form and the file for it; "" is the output of the command.
type destination struct {
	format verdicts.Format
	file   string
}

// flags adds --format and --quiet.
func (f *formats) flags(cmd *cobra.Command) {
	f.formatFlag(cmd)
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print only the results that are not as expected")
}

// formatFlag adds --format alone.
func (f *formats) formatFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.given, "format", nil,
		"the form of the results: "+strings.Join(formatNames(), ", ")+"; `FORMAT`=FILE writes a file besides the output (docs/CI.md)")
}

func formatNames() []string {
	var names []string
	for _, f := range verdicts.Formats() {
		names = append(names, string(f))
	}
	return names
}

func (f *formats) parse() error {
	f.to = nil
	output := ""
	for _, given := range f.given {
		name, file, toFile := strings.Cut(given, "=")
		if !slices.Contains(formatNames(), name) {
			hint := "such as: --format junit=junit.xml"
			if option, ok := suggest.Nearest(name, formatNames()); ok {
				hint = fmt.Sprintf("did you mean %q?", option)
			}
			return usage(fmt.Errorf("--format: found %q, expected one of %s", name, strings.Join(formatNames(), ", ")), hint)
		}
		switch {
		case toFile && (file == "" || name == string(verdicts.Text)):
			return usage(fmt.Errorf("--format: found %q, expected a format and a file", given), "such as: --format junit=junit.xml")
		case !toFile && output != "":
			return usage(fmt.Errorf("--format: found %s and %s for the output, expected one of them", output, name), "write the other one to a file: --format "+name+"=FILE")
		case !toFile:
			output = name
		}
		f.to = append(f.to, destination{verdicts.Format(name), file})
	}
	return nil
}

// add notes a result.
func (f *formats) add(results ...verdicts.Result) { f.results = append(f.results, results...) }

// around has a command judge, and writes its results in the forms that were asked for. Without any, and with a form for
// readers, out is what it was.
func (f *formats) around(cmd *cobra.Command, out *io.Writer, judge func() error) error {
	if err := f.parse(); err != nil {
		return err
	}
	output := *out
	for _, to := range f.to {
		if to.file == "" && !to.format.WithText() {
			*out = io.Discard
		}
	}
	text := *out
	if f.quiet {
		*out = io.Discard
	}
	err := judge()
	*out = output
	if f.quiet {
		f.printFailed(text)
	}
	if len(f.to) == 0 {
		return err
	}
	name := cmd.Name()
	if !cmd.HasParent() {
		name = "run"
	}
	doc := verdicts.Document{Version: cmd.Root().Version, Command: name, Results: f.results}
	if err != nil {
		e, ok := errors.AsType[*exitError](err)
		if !ok {
			e = &exitError{Code: exitUsage, Err: err}
		}
		doc.ExitCode = e.Code
		doc.Results = append(doc.Results, ofError(name, e)...)
	}
	for _, to := range f.to {
		if writeErr := to.write(output, doc); writeErr != nil {
			return errors.Join(err, unknown(fmt.Errorf("--format %s: %w", to.format, writeErr), ""))
		}
	}
	return err
}

// printFailed prints what is not as expected, as the text does.
func (f *formats) printFailed(out io.Writer) {
	for i := range f.results {
		r := &f.results[i]
		switch {
		case r.Passed:
			continue
		case r.Details != "":
			fmt.Fprintf(out, "%s\n", r.Details)
		default:
			fmt.Fprintf(out, "%s\n", r)
		}
		for _, kept := range []struct{ what, file string }{{"record", r.Record}, {"report", r.Report}} {
			if kept.file != "" {
				fmt.Fprintf(out, "%s: %s\n", kept.what, kept.file)
			}
		}
	}
}

func (d destination) write(out io.Writer, doc verdicts.Document) error {
	if d.file == "" {
		return d.format.Write(out, doc)
	}
	var text bytes.Buffer
	if err := d.format.Write(&text, doc); err != nil {
		return err
	}
	return atomicfile.Write(d.file, text.Bytes(), 0o644)
}

// ofError are the results of a command that ended with an error: the mistakes in files, each by itself, or else the error.
func ofError(command string, e *exitError) []verdicts.Result {
	if e.Err == nil {
		return nil
	}
	var results []verdicts.Result
	mistakes, others := mistakesIn(e.Err)
	for _, m := range mistakes {
		text := m.Problem
		if m.Hint != "" {
			text += "\nhint: " + m.Hint
		}
		r := verdicts.Result{Scenario: m.File, Verdict: verdicts.Mistake, Message: text, Details: m.Error()}
		r.File, _ = inFile(m.File)
		r.Line, r.Column = m.Line, m.Column
		results = append(results, r)
	}
	for _, err := range others {
		verdict := verdicts.Unknown
		if e.Code == exitUsage {
			verdict = verdicts.Mistake
		}
		results = append(results, verdicts.Result{Scenario: "isr-sim " + command, Verdict: verdict, Message: err.Error()})
	}
	return results
}

// mistakesIn are the mistakes in files that an error holds, and what else it holds.
func mistakesIn(err error) (mistakes []*scenario.SyntaxError, others []error) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range several.Unwrap() {
			m, o := mistakesIn(e)
			mistakes, others = append(mistakes, m...), append(others, o...)
		}
		return mistakes, others
	}
	if m, ok := errors.AsType[*scenario.SyntaxError](err); ok {
		return []*scenario.SyntaxError{m}, nil
	}
	return nil, []error{err}
}

// inFile is the file of a scenario that the user has named, and the line on which it begins; "" for an embedded one.
func inFile(name string) (file string, line int) {
	if slices.Contains(fixtures.Names(), name) || slices.Contains(fixtures.Museum(), name) || name == catalog.Stdin {
		return "", 0
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return "", 0
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", 0
	}
	for i, l := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(l, "name:") {
			return name, i + 1
		}
	}
	return name, 1
}
