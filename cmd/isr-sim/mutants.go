package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/garbage"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/mutant"
)

// mutantsCommand tests the tester.
type mutantsCommand struct {
	out       io.Writer
	seed      uint64
	schedules int
	workers   int
	markdown  bool
}

func newMutants(out io.Writer) *cobra.Command {
	m := &mutantsCommand{out: out}
	cmd := &cobra.Command{
		Use:   "mutants",
		Short: "Test the tester: every mutant is caught by the invariant it names, the references by none",
		Long: `Mutants runs every broken protocol in the scenarios that are known to catch it, and
prints which invariants have caught it and in which schedule. Then it runs the
reference protocols in every scenario that they understand: they must break
nothing. Exit code 1 says that a mutant has not been caught by the invariant that
it names, or that a reference has been caught by any.`,
		Example: "  isr-sim mutants\n  isr-sim mutants --schedules 1000000\n  isr-sim mutants --markdown > docs/MUTANTS.md",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return m.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.Uint64Var(&m.seed, "seed", 1, "where all randomness comes from")
	f.IntVar(&m.schedules, "schedules", 20_000, "how many schedules of the references, in all scenarios together")
	f.IntVar(&m.workers, "workers", 0, "how many schedules run at the same time, which changes no result (default: one a core)")
	f.BoolVar(&m.markdown, "markdown", false, "print mutant by invariant as a page of Markdown, and run no references")
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
	defer garbage.CollectRarely()()
	all, err := m.mutants(ctx, scenarios)
	if err != nil {
		return err
	}
	missed := slices.DeleteFunc(slices.Clone(all), (*scenario.Caught).Named)
	if m.markdown {
		m.page(all)
		if len(missed) > 0 {
			return &exitError{code: exitViolated}
		}
		return nil
	}
	fmt.Fprintf(m.out, "%d mutants: %d caught by the invariant they name\n\n", len(all), len(all)-len(missed))
	clean, err := m.references(ctx, scenarios)
	if err != nil {
		return err
	}
	if len(missed) > 0 || !clean {
		return &exitError{code: exitViolated}
	}
	return nil
}

// page prints the page of Markdown.
func (m *mutantsCommand) page(all []*scenario.Caught) {
	fmt.Fprintf(m.out, mutantsPage, m.seed, len(all), scenario.MutationTable(all))
}

const mutantsPage = `# Mutants

The tester is tested: every mutant is a protocol with one bug, and names the invariant that is there to catch it. The
cells say in which schedule of the default strategy an invariant caught it first, of those scenarios that are known to
catch it (seed %d, up to 10,000 schedules; bold is the one that the mutant names). Other invariants are looked at for 200
schedules and more. %d mutants. Made by:

` + "```sh\ngo run ./cmd/isr-sim mutants --markdown > docs/MUTANTS.md\n```" + `

%s`

// mutants runs all mutants and prints a row each.
func (m *mutantsCommand) mutants(ctx context.Context, scenarios []*scenario.Scenario) ([]*scenario.Caught, error) {
	var all []*scenario.Caught
	if !m.markdown {
		fmt.Fprintf(m.out, "seed %d\n%-30s  %-25s  %9s  %-28s  %s\n", m.seed, "mutant", "names", "found in", "scenario", "others")
	}
	for _, p := range mutant.All() {
		caught, err := scenario.Mutation{Mutant: p, Scenarios: scenarios, Seed: m.seed, Workers: m.workers}.Run(ctx)
		if err != nil {
			return nil, unknown(err, "")
		}
		if ctx.Err() != nil {
			return nil, &exitError{code: exitUnknown, err: fmt.Errorf("interrupted at mutant %s", p.Name)}
		}
		all = append(all, caught)
		if !m.markdown {
			fmt.Fprintln(m.out, mutantRow(caught))
		}
	}
	return all, nil
}

func mutantRow(c *scenario.Caught) string {
	found, where := "not found", ""
	var others []string
	for _, inv := range invariant.All() {
		catch, is := c.By[inv.Name]
		switch {
		case is && inv.Name == c.Mutant.Breaks:
			found, where = fmt.Sprint(catch.Schedule), catch.Scenario
		case is:
			others = append(others, inv.Name)
		}
	}
	return strings.TrimRight(fmt.Sprintf("%-30s  %-25s  %9s  %-28s  %s", c.Mutant.Name, c.Mutant.Breaks, found, where, strings.Join(others, ", ")), " ")
}

// references runs the reference protocols and says whether nothing was violated.
func (m *mutantsCommand) references(ctx context.Context, scenarios []*scenario.Scenario) (clean bool, err error) {
	clean = true
	references := isr.References()
	for _, p := range references {
		reports, err := scenario.Clean(ctx, p, scenarios, m.seed, (m.schedules+len(references)-1)/len(references), m.workers)
		if err != nil {
			return false, unknown(err, "")
		}
		schedules, verdict := 0, invariant.OK
		for _, r := range reports {
			schedules += r.Schedules
			if r.Verdict == invariant.OK {
				continue
			}
			verdict, clean = r.Verdict, false
			fmt.Fprintf(m.out, "%s\n", r.Explain(program(), shellWord(r.Scenario.Name)))
		}
		fmt.Fprintf(m.out, "%-30s  %9d schedules in %d scenarios: %s\n", p.Name, schedules, len(reports), verdict)
		if ctx.Err() != nil {
			return false, &exitError{code: exitUnknown, err: fmt.Errorf("interrupted at reference %s", p.Name)}
		}
	}
	return clean, nil
}
