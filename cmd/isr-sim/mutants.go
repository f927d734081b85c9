package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/base/heap"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/study/selftest"
)

// mutantsCommand tests the tester.
type mutantsCommand struct {
	flags.Results
	seed      uint64
	schedules int
	workers   int
	markdown  bool
}

func newMutants() *cobra.Command {
	m := &mutantsCommand{}
	cmd := &cobra.Command{
		Use:   "mutants",
		Short: "Test the tester: run the broken protocols, which must be caught, and the references",
		Long: `Mutants runs every broken protocol in the scenarios that are known to catch it, and
prints the invariants that catch it and the first schedule of each. Then it runs the
reference protocols in every scenario that they understand: they must violate no
invariant. Exit code 1 says that a mutant was not caught by the invariant that it
names, or that a reference violated an invariant.`,
		Example: "  isr-sim selftest mutants\n  isr-sim selftest mutants --schedules 1000000\n" +
			"  isr-sim selftest mutants --markdown > mutants.md",
		Args: cli.NoArguments,
		RunE: m.Around(m.run),
	}
	m.RegisterFormats(cmd)
	flags.Seed(cmd, &m.seed)
	flags.Workers(cmd, &m.workers)
	f := cmd.Flags()
	f.IntVar(&m.schedules, "schedules", 20_000, "the number of schedules of the references, in all scenarios together")
	f.BoolVar(&m.markdown, "markdown", false,
		"print a table of mutants and invariants as a page of Markdown, and run no references")
	return cmd
}

func (m *mutantsCommand) run(cmd *cobra.Command, _ []string) error {
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	if m.schedules < 1 || m.workers < 0 {
		return cli.Usage(fmt.Errorf(
			"--schedules, --workers: found %d and %d, expected at least 1 (or 0 workers for the default)",
			m.schedules, m.workers), "")
	}
	scenarios, _, err := cli.Scenarios(slices.Concat(fixtures.Names(), fixtures.Museum()))
	if err != nil {
		return err
	}
	defer heap.CollectRarely()()
	tests := selftest.Run{Scenarios: scenarios, Seed: m.seed, Workers: m.workers}
	remove := progress.Wait(stderr, "mutants")
	defer func() { remove() }()
	// above prints lines above the progress line.
	above := func(what string, print func()) {
		remove()
		print()
		remove = progress.Wait(stderr, what)
	}
	row := func(r *selftest.MutantResult) {
		above("mutants", func() { fmt.Fprintln(m.Out, selftest.Row(r)) })
	}
	if m.markdown {
		row = func(*selftest.MutantResult) {}
	} else {
		fmt.Fprintf(m.Out, "seed %d\n%s\n", m.seed, selftest.Header())
	}
	all, err := tests.Mutants(ctx, row)
	if err != nil {
		return cli.Unknown(err, "")
	}
	for _, r := range all {
		m.Add("", r.Result(m.seed))
	}
	missed := slices.DeleteFunc(slices.Clone(all), (*selftest.MutantResult).CaughtByNamed)
	clean := true
	if m.markdown {
		remove()
		fmt.Fprint(m.Out, selftest.Page(m.seed, all))
	} else {
		above("references", func() {
			fmt.Fprintf(m.Out, "%d mutants: %d caught by the invariant they name\n\n", len(all), len(all)-len(missed))
		})
		if err := tests.References(ctx, m.schedules, func(r selftest.Reference) {
			above("references", func() { m.print(r) })
			clean = clean && r.Verdict == invariant.OK
		}); err != nil {
			m.Lose(err)
		}
	}
	if len(missed) > 0 || !clean {
		return &cli.Error{Code: cli.ExitViolated}
	}
	return nil
}

// print prints the result of a reference protocol.
func (m *mutantsCommand) print(r selftest.Reference) {
	for _, report := range r.Reports {
		m.Add(report.Scenario.Name, selftest.ReferenceResult(report, shell.Program()))
		if report.Verdict != invariant.OK {
			fmt.Fprintf(m.Out, "%s\n", prose.Report(report, shell.Program(), shell.Quote(report.Scenario.Name)))
		}
	}
	fmt.Fprintf(m.Out, "%-30s  %9d schedules in %d scenarios: %s\n", r.Protocol.Name, r.Schedules,
		len(r.Reports), r.Verdict)
}

func newSelftest() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "selftest",
		Short: "Test the toolkit: broken protocols and known bugs must be caught, correct protocols must pass",
	}, newMutants(), newMuseum())
}
