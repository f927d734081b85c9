// Package audit has the command isr-sim audit, which judges the history of a real table.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/audit"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/audit/stream"
	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
)

const help = `Audit judges the history of a real table by the promises that its rows alone can show:
locks that were taken from their holders, older pages in the place of newer ones,
pointers to nothing, times to live that end too early, invalidations that were undone,
results of calls that changed. It also prints numbers: how late TTL deletes rows,
publishes without a lease, old locks, hot keys.

Sources are files, folders, or - for the standard input, told apart by their content:
records of DynamoDB Streams (the output of get-records, events of Lambda, one record a
line), of Kinesis and of Firehose, exports to S3, and data events of CloudTrail. Files
may be compressed with gzip. --table and --stream read a stream through the AWS SDK, with
its configuration: on AWS, DynamoDB Local or isr-sim serve. See docs/AUDIT.md for what
each source can show.

What no source shows is named, and never passes for ok. Missing records leave a gap,
and a gap is unknown. Exit codes: 0 what was judged is ok; 1 violated; 3 unknown, or
nothing was there to judge.`

// command is isr-sim audit.
type command struct {
	flags.Results

	rows, fence, table string
	skew, revalidate   time.Duration
	recipe             bool
	numbers, scenario  string
	live
}

// NewCommand returns isr-sim audit.
func NewCommand() *cobra.Command {
	c := &command{}
	cmd := &cobra.Command{
		Use:   "audit [SOURCE...]",
		Short: "Judge the history of a real table: streams, exports and logs of DynamoDB",
		Long:  help,
		Example: "  isr-sim audit records.jsonl\n" +
			"  isr-sim audit --table pages --follow --keep pages.jsonl\n" +
			"  isr-sim audit --rows rows.yaml --revalidate 60s firehose/2026/\n" +
			"  isr-sim audit --lock --rows dynamolock --fence generation stream.json.gz",
		Args: cobra.ArbitraryArgs,
	}
	cmd.RunE = c.Around(c.run)
	c.RegisterFormat(cmd)
	f := cmd.Flags()
	f.StringVar(&c.rows, "rows", "",
		"a file that says which rows are pages and locks, or the name of a ready mapping (docs/SCENARIOS.md)")
	for _, of := range audit.Flags {
		f.Bool(of.Name, false, of.Usage)
	}
	f.StringVar(&c.fence, "fence", "", "the `attribute` of a lock's row with its fencing token, which must rise")
	f.StringVar(&c.table, "of", "", "the one `table` to judge; the default is all tables of the sources")
	f.DurationVar(&c.skew, "max-clock-skew", time.Second, "the largest error of a machine's clock")
	f.DurationVar(&c.revalidate, "revalidate", 0, "how long a page is fresh if its row does not say so")
	f.BoolVar(&c.recipe, "recipe", false, "the cache promises the rules of the recipe too (docs/INVARIANTS.md)")
	f.StringVar(&c.numbers, "numbers", "",
		"write the numbers to this `file`: as JSON if its name ends in .json, otherwise as OpenMetrics")
	c.register(cmd)
	f.StringVar(&c.scenario, "scenario", "",
		"write what was seen around the first violation to this `file`, as a scenario for run and explain")
	return cmd
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	o, err := c.options(cmd)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return err
	}
	if c.policy {
		fmt.Fprint(c.Out, stream.Policy(cmp.Or(c.stream, c.name)))
		return nil
	}
	if len(args) == 0 && !c.asked() {
		return cli.Usage(errors.New("audit: found no source, expected files, folders, -, --table or --stream"),
			cmd.CommandPath()+" --help")
	}
	if c.asked() {
		o.OnFinding = func(f audit.Finding) { fmt.Fprintf(c.Out, "%s\n\n", f) }
	}
	judge, err := audit.New(o)
	if err != nil {
		return cli.Usage(err, "")
	}
	var files []*evidence.File
	if len(args) > 0 {
		if files, err = evidence.Open(args, cmd.InOrStdin()); err != nil {
			return cli.Coded(err)
		}
	}
	var sources []audit.Source
	for _, f := range files {
		sources = append(sources, audit.Source{Entries: f.Entries(), Once: f.Once})
	}
	entries := []iter.Seq2[evidence.Entry, error]{audit.Merge(audit.Window, sources...)}
	if c.asked() {
		entries = append(entries, c.entries(cmd))
	}
	return c.judge(cmd, judge, entries, files)
}

// options reads the flags.
func (c *command) options(cmd *cobra.Command) (audit.Options, error) {
	o := audit.Options{
		Fence: c.fence, Table: c.table,
		Promise: invariant.Promise{MaxClockSkew: c.skew, Revalidate: c.revalidate, Recipe: c.recipe},
	}
	for _, of := range audit.Flags {
		switch given, _ := cmd.Flags().GetBool(of.Name); {
		case given && o.Of != "":
			return o, cli.Usage(fmt.Errorf("found --%s besides one for %s, expected one of them", of.Name, o.Of), "")
		case given:
			o.Of = of.Kind
		}
	}
	if o.Of == audit.Calls && c.fence != "" {
		return o, cli.Usage(errors.New("found --fence besides --once: calls have no fencing tokens"), "")
	}
	if c.skew < 0 {
		return o, cli.Usage(fmt.Errorf("--max-clock-skew: found %v, expected 0s or more", c.skew), "")
	}
	if c.rows != "" {
		rows, err := catalog.Rows(c.rows)
		if err != nil {
			return o, err
		}
		o.Rows = rows
	}
	return o, nil
}

// judge judges the entries, and prints what it has found.
func (c *command) judge(
	cmd *cobra.Command, judge *audit.Judge, entries []iter.Seq2[evidence.Entry, error], files []*evidence.File,
) error {
	var failed error
	for _, some := range entries {
		if failed = take(cmd.Context(), judge, some); failed != nil {
			break
		}
	}
	if c.asked() && errors.Is(failed, context.Canceled) {
		failed = nil // an interrupt is how --follow ends
	}
	judge.End()
	result := judge.Result()
	if failed != nil && result.Records == 0 {
		return cli.Coded(failed)
	}
	for _, f := range files {
		if f.Kind == evidence.CloudTrail && failed == nil {
			if failed = audit.Who(result.Findings, f.Writes()); failed == nil {
				failed = take(cmd.Context(), judge, f.Entries()) // the gap, if the file was cut
			}
		}
	}
	result = judge.Result()
	text(c.Out, &result, c.asked())
	c.Add("", results(&result)...)
	if c.numbers != "" {
		c.Lose(atomicfile.Write(c.numbers, numbers(&result, strings.HasSuffix(c.numbers, ".json")), 0o644))
	}
	if c.scenario != "" {
		c.Lose(c.rebuild(&result))
	}
	switch result.Verdict() {
	case invariant.Violated:
		c.Lose(failed)
		return &cli.Error{Code: cli.ExitViolated}
	case invariant.Unknown:
		if failed == nil {
			return &cli.Error{Code: cli.ExitUnknown}
		}
	default:
	}
	return cli.Coded(failed)
}

// take passes the entries to the judge.
func take(ctx context.Context, judge *audit.Judge, entries iter.Seq2[evidence.Entry, error]) error {
	for e, err := range entries {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		case e.Gap != nil:
			judge.Gap(*e.Gap)
		case e.Record != nil:
			judge.Take(e.Record)
		}
	}
	return nil
}

// rebuild writes the scenario of the first violation.
func (c *command) rebuild(res *audit.Result) error {
	i := slices.IndexFunc(res.Findings, func(f audit.Finding) bool { return f.Verdict == invariant.Violated })
	if i < 0 {
		return nil
	}
	file, err := res.Findings[i].Scenario(res.Of(), c.revalidate)
	if err == nil {
		err = atomicfile.Write(c.scenario, file, 0o644)
	}
	if err != nil {
		return fmt.Errorf("--scenario: %w", err)
	}
	fmt.Fprintf(c.Out, "scenario: %s; run it with %s run --exec 'YOUR PROGRAM' %s\n", c.scenario, shell.Program(),
		shell.Quote(c.scenario))
	return nil
}

// results are the findings for machines, or one result for all that was judged.
func results(res *audit.Result) (all []verdicts.Result) {
	for _, f := range res.Findings {
		r := verdicts.Result{
			Scenario: "audit " + f.Key, Verdict: verdicts.Verdict(f.Verdict.String()), Message: f.Why,
			Details: f.String(),
		}
		if f.Verdict == invariant.Violated {
			r.Invariant, r.Statement = f.Invariant, audit.Statement(f.Invariant)
		}
		all = append(all, r)
	}
	if len(all) > 0 {
		return all
	}
	verdict := res.Verdict()
	return []verdicts.Result{{
		Scenario: "audit", Verdict: verdicts.Verdict(verdict.String()), Passed: verdict == invariant.OK,
		Message: strings.Join(notJudged(res), "\n"), Details: strings.Join(table(res), "\n"),
	}}
}
