package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/heap"
	"github.com/isr-sim/isr-sim/internal/progress"
	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/internal/selftest"
	"github.com/isr-sim/isr-sim/internal/shell"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// mutantsCommand tests the tester.
type mutantsCommand struct {
	out       io.Writer
	seed      uint64
	schedules int
	workers   int
	markdown  bool
	formats   formats
	stderr    io.Writer
}

func newMutants(out io.Writer) *cobra.Command {
	m := &mutantsCommand{out: out}
	cmd := &cobra.Command{
		Use:   "mutants",
		Short: "Test the tester: run the broken protocols, which must be caught, and the references",
		Long: `Mutants runs every broken protocol in the scenarios that are known to catch it, and
prints the invariants that catch it and the first schedule of each. Then it runs the
reference protocols in every scenario that they understand: they must violate no
invariant. Exit code 1 says that a mutant was not caught by the invariant that it
names, or that a reference violated an invariant.`,
		Example: "  isr-sim mutants\n  isr-sim mutants --schedules 1000000\n  isr-sim mutants --markdown > docs/MUTANTS.md",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m.stderr = cmd.ErrOrStderr()
			return m.formats.around(cmd, &m.out, func() error { return m.run(cmd.Context()) })
		},
	}
	f := cmd.Flags()
	m.formats.flags(cmd)
	f.Uint64Var(&m.seed, "seed", 1, "the seed of everything random")
	f.IntVar(&m.schedules, "schedules", 20_000, "the number of schedules of the references, in all scenarios together")
	f.IntVar(&m.workers, "workers", 0, "the number of schedules that run at the same time; it changes no result (default: one for each core)")
	f.BoolVar(&m.markdown, "markdown", false, "print a table of mutants and invariants as a page of Markdown, and run no references")
	return cmd
}

func (m *mutantsCommand) run(ctx context.Context) error {
	if m.schedules < 1 || m.workers < 0 {
		return usage(fmt.Errorf("--schedules, --workers: found %d and %d, expected at least 1 (or 0 workers for the default)", m.schedules, m.workers), "")
	}
	scenarios, _, err := loadScenarios(slices.Concat(fixtures.Names(), fixtures.Museum()))
	if err != nil {
		return err
	}
	defer heap.CollectRarely()()
	tests := selftest.Run{Scenarios: scenarios, Seed: m.seed, Workers: m.workers}
	remove := progress.Wait(m.stderr, "mutants")
	defer func() { remove() }()
	// above prints what stands above the progress.
	above := func(what string, print func()) {
		remove()
		print()
		remove = progress.Wait(m.stderr, what)
	}
	row := func(r *selftest.MutantResult) {
		above("mutants", func() { fmt.Fprintln(m.out, selftest.Row(r)) })
	}
	if m.markdown {
		row = func(*selftest.MutantResult) {}
	} else {
		fmt.Fprintf(m.out, "seed %d\n%s\n", m.seed, selftest.Header())
	}
	all, err := tests.Mutants(ctx, row)
	if err != nil {
		return unknown(err, "")
	}
	for _, r := range all {
		m.formats.add(ofMutant(r, m.seed))
	}
	missed := slices.DeleteFunc(slices.Clone(all), (*selftest.MutantResult).CaughtByNamed)
	clean := true
	if m.markdown {
		remove()
		fmt.Fprint(m.out, selftest.Page(m.seed, all))
	} else {
		above("references", func() {
			fmt.Fprintf(m.out, "%d mutants: %d caught by the invariant they name\n\n", len(all), len(all)-len(missed))
		})
		if err := tests.References(ctx, m.schedules, func(r selftest.Reference) {
			above("references", func() { m.print(r) })
			clean = clean && r.Verdict == invariant.OK
		}); err != nil {
			return unknown(err, "")
		}
	}
	if len(missed) > 0 || !clean {
		return &exitError{Code: exitViolated}
	}
	return nil
}

// print prints the result of a reference protocol.
func (m *mutantsCommand) print(r selftest.Reference) {
	for _, report := range r.Reports {
		m.formats.add(ofReference(report))
		if report.Verdict != invariant.OK {
			fmt.Fprintf(m.out, "%s\n", prose.Report(report, shell.Program(), shell.Quote(report.Scenario.Name)))
		}
	}
	fmt.Fprintf(m.out, "%-30s  %9d schedules in %d scenarios: %s\n", r.Protocol.Name, r.Schedules, len(r.Reports), r.Verdict)
}
