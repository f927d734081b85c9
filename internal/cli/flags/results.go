// Package flags has the flags that commands share, and loads what they name: campaigns, programs, recorded runs, a
// corpus, and the results that a command leaves.
package flags

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/show/keep"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/study/explore"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Results holds everything that a command leaves: its output, its results in the forms that the user asks for, and
// files about runs.
type Results struct {
	Out io.Writer // for readers
	keep.Keeper

	To []Destination // where the results go

	given   []string
	quiet   bool
	results []verdicts.Result
	lost    []error // the errors of files that were not written
}

// Destination is a form and the file for it; "" is the output of the command.
type Destination struct {
	verdicts.Format

	File string
}

// RegisterFormat adds --format.
func (r *Results) RegisterFormat(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&r.given, "format", nil,
		"the form of the results: "+strings.Join(formats(), ", ")+
			"; `FORMAT`=FILE writes a file besides the output (docs/CI.md)")
}

// RegisterFormats adds --format and --quiet.
func (r *Results) RegisterFormats(cmd *cobra.Command) {
	r.RegisterFormat(cmd)
	cmd.Flags().BoolVarP(&r.quiet, "quiet", "q", false, "print only the results that are not as expected")
}

// RegisterFiles adds --record and --report. The parameter which names the run in their help texts.
func (r *Results) RegisterFiles(cmd *cobra.Command, which string) {
	cmd.Flags().StringVar(&r.Record, "record", "",
		"write a record of "+which+" to this file, as JSON (docs/REPORT.md)")
	cmd.Flags().StringVar(&r.Report, "report", "", "draw "+which+" on a page of HTML, in this file (docs/REPORT.md)")
}

func formats() []string {
	var names []string
	for _, f := range verdicts.Formats() {
		names = append(names, string(f))
	}
	return names
}

// Parse reads --format.
func (r *Results) Parse() error {
	r.To = nil
	output := ""
	for _, given := range r.given {
		name, file, toFile := strings.Cut(given, "=")
		if !slices.Contains(formats(), name) {
			return cli.Usage(fmt.Errorf("--format: found %q, expected one of %s", name, strings.Join(formats(), ", ")),
				suggest.Hint(name, formats(), "such as: --format junit=junit.xml"))
		}
		switch {
		case toFile && (file == "" || name == string(verdicts.Text)):
			return cli.Usage(fmt.Errorf("--format: found %q, expected a format and a file", given),
				"such as: --format junit=junit.xml")
		case !toFile && output != "":
			return cli.Usage(fmt.Errorf("--format: found %s and %s for the output, expected one of them", output, name),
				"write the other one to a file: --format "+name+"=FILE")
		case !toFile:
			output = name
		}
		r.To = append(r.To, Destination{verdicts.Format(name), file})
	}
	return nil
}

// Ready makes sure, before runs are made, that their files can be written.
func (r *Results) Ready(several bool) error { return cli.Coded(r.Keeper.Ready(several)) }

// Add notes results. name is the user's name for their scenario; "" if it has none.
func (r *Results) Add(name string, results ...verdicts.Result) {
	for _, result := range results {
		if name != "" {
			result.File, result.Line = inFile(name)
		}
		r.results = append(r.results, result)
	}
}

// AddKept notes a result, and the files that were kept of the run with the given name.
func (r *Results) AddKept(name, run string, result verdicts.Result) {
	result.Record, result.Report = r.Files(run)
	r.Add(name, result)
}

// Lose notes the error of a file that could not be written; nil changes nothing. The command goes on, keeps its
// verdict, and reports the error at the end.
func (r *Results) Lose(err error) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range several.Unwrap() {
			r.Lose(e)
		}
	} else if err != nil {
		r.lost = append(r.lost, err)
	}
}

// Campaign keeps the most telling run of a campaign, and notes the result. Without c, no run of a campaign that passed
// is kept.
func (r *Results) Campaign(
	ctx context.Context, c *campaign.Campaign, of *campaign.Report, name string, result verdicts.Result,
) {
	r.Lose(r.KeepTelling(ctx, c, of, name))
	r.AddKept(name, of.Scenario.Name+"."+of.Protocol.Name, result)
}

// Exploration keeps the shortest run of each finding of an exploration of s under p, and notes the results. The zero
// protocol is the scenario's own.
func (r *Results) Exploration(
	ctx context.Context, s *spec.Scenario, p isr.Protocol, x *explore.Exploration, name string,
) {
	r.Lose(r.keepFindings(context.WithoutCancel(ctx), s, p, x, name))
	for _, result := range x.Results(shell.Program()) {
		r.AddKept(name, x.Scenario+"."+x.Protocol+"."+result.Invariant, result)
	}
}

func (r *Results) keepFindings(
	ctx context.Context, s *spec.Scenario, p isr.Protocol, x *explore.Exploration, name string,
) error {
	if !r.Wanted() {
		return nil
	}
	p, err := schedules.ProtocolOf(s, p)
	if err != nil {
		return err
	}
	var lost []error
	for _, f := range x.Findings {
		if f.Statement == "" {
			continue // the run broke off: there is no verdict to show
		}
		again, err := x.Recorded(&f.Shortest)
		if err != nil {
			return err
		}
		run := kernel.Replay(again, s, p)
		run.Only = f.Name
		lost = append(lost, r.KeepAs(ctx, run, name, x.Scenario+"."+x.Protocol+"."+f.Name))
	}
	return errors.Join(lost...)
}

// BrokeOff reports whether an error says that a run broke off, and prints that run. The other scenarios may still get a
// verdict.
func (r *Results) BrokeOff(err error, s *spec.Scenario, protocol, name string) bool {
	broken, ok := errors.AsType[*kernel.BrokenError](err)
	if ok {
		fmt.Fprintf(r.Out, "\nbroken: %v\n%s\n", broken,
			prose.ReplayLine(broken.Replay(), "replay", shell.Program(), shell.Quote(name)))
		r.Add(name, verdicts.Result{
			Scenario: s.Name, Protocol: cmp.Or(protocol, s.Protocol), Verdict: verdicts.Unknown, Message: err.Error(),
		})
	}
	return ok
}

// Around returns a command's function: it calls judge, and writes the results in the forms that the user asked for. Out
// is the output of the command if the user asked for no form, or for one for readers.
func (r *Results) Around(
	judge func(cmd *cobra.Command, args []string) error,
) func(cmd *cobra.Command, args []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := r.Parse(); err != nil {
			return err
		}
		output := cmd.OutOrStdout()
		text := output
		for _, to := range r.To {
			if to.File == "" && !to.WithText() {
				text = io.Discard
			}
		}
		r.Out = text
		if r.quiet {
			r.Out = io.Discard
		}
		r.Keeper.Out, r.Version = r.Out, cmd.Root().Version
		err := judge(cmd, args)
		err = cli.And(err, r.lost...)
		if r.quiet {
			r.printFailed(text)
		}
		return r.write(cmd, output, err)
	}
}

// write writes the results of a command that ended with err, and returns the error with which the command then ends.
func (r *Results) write(cmd *cobra.Command, output io.Writer, err error) error {
	if len(r.To) == 0 {
		return err
	}
	name := cmd.Name()
	if !cmd.HasParent() {
		name = "run"
	}
	for i := range r.results {
		if result := &r.results[i]; r.NotSimulated != nil && result.NotSimulated == nil &&
			result.Verdict != verdicts.Skipped {
			result.NotSimulated = r.NotSimulated(result.Protocol)
		}
	}
	doc := verdicts.Document{Version: r.Version, Command: name, Results: r.results}
	if err != nil {
		e := cli.ErrorOf(err)
		doc.ExitCode = e.Code
		doc.Results = append(doc.Results, ofError(name, e)...)
	}
	for _, to := range r.To {
		if writeErr := to.write(output, doc); writeErr != nil {
			err = cli.And(err, fmt.Errorf("--format: %s: not written: %w", to, writeErr))
		}
	}
	return err
}

// printFailed prints the results that are not as expected, in the text form.
func (r *Results) printFailed(out io.Writer) {
	for i := range r.results {
		result := &r.results[i]
		switch {
		case result.Passed:
			continue
		case result.Details != "":
			fmt.Fprintf(out, "%s\n", result.Details)
		default:
			fmt.Fprintf(out, "%s\n", result)
		}
		for _, kept := range []struct{ what, file string }{{"record", result.Record}, {"report", result.Report}} {
			if kept.file != "" {
				fmt.Fprintf(out, "%s: %s\n", kept.what, kept.file)
			}
		}
	}
}

func (d Destination) String() string {
	if d.File == "" {
		return string(d.Format)
	}
	return string(d.Format) + "=" + d.File
}

func (d Destination) write(out io.Writer, doc verdicts.Document) error {
	if d.File == "" {
		return d.Write(out, doc)
	}
	var text bytes.Buffer
	if err := d.Write(&text, doc); err != nil {
		return err
	}
	return atomicfile.Write(d.File, text.Bytes(), 0o644)
}

// ofError are the results of a command that ended with an error: one for each mistake in a file, or else one for the
// error.
func ofError(command string, e *cli.Error) []verdicts.Result {
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
		if e.Code == cli.ExitUsage {
			verdict = verdicts.Mistake
		}
		results = append(results,
			verdicts.Result{Scenario: "isr-sim " + command, Verdict: verdict, Message: err.Error()})
	}
	for _, err := range e.Also {
		results = append(results,
			verdicts.Result{Scenario: "isr-sim " + command, Verdict: verdicts.Unknown, Message: err.Error()})
	}
	return results
}

// mistakesIn splits an error into mistakes in files and other errors.
func mistakesIn(err error) (mistakes []*spec.SyntaxError, others []error) {
	if err == nil {
		return nil, nil
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range several.Unwrap() {
			m, o := mistakesIn(e)
			mistakes, others = append(mistakes, m...), append(others, o...)
		}
		return mistakes, others
	}
	if m, ok := errors.AsType[*spec.SyntaxError](err); ok {
		return []*spec.SyntaxError{m}, nil
	}
	return nil, []error{err}
}

// inFile is the file of a scenario that the user named, and the line on which it begins; "" for an embedded one.
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
