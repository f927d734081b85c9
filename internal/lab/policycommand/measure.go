package policycommand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/lab"
	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

func newRun(out, stderr io.Writer) *cobra.Command {
	p := &command{out: out, stderr: stderr}
	cmd := &cobra.Command{
		Use:   "run POLICY",
		Short: "Measure one policy on one workload",
		Long: "Run prints every measure of one policy on one workload.\n\nPolicies: " + names() +
			"\n\nWorkloads:\n  " + strings.Join(lab.WorkloadNames(), "\n  ") +
			"\n  FILE.csv           reads (and changes) from a file: time in seconds, key, and optionally " +
			"kind and size",
		Example: "  isr-sim policy run sliding --lifetime 1m --reads 10/s --changes 1/h\n" +
			"  isr-sim policy run recipe-a-stale --workload visits.csv --format json",
		Args: onePolicy,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.misplaced(cmd); err != nil {
				return err
			}
			return p.run(cmd.Context(), args[0])
		},
	}
	p.flags(cmd)
	p.tierFlags(cmd)
	cmd.Flags().StringVar(&p.workload, "workload", "steady", "the workload: a name, or a .csv file")
	return cmd
}

func newCompare(out, stderr io.Writer) *cobra.Command {
	p := &command{out: out, stderr: stderr}
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Compare all policies on three workloads",
		Long: `Compare prints a table for each workload: steady and bursty reads of many keys, and a
dashboard over a rolling window with late data. Policies by the age of data are
measured on the dashboard alone, where data has an age.`,
		Example: "  isr-sim policy compare\n  isr-sim policy compare --lifetime 5m --plot pictures",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.misplaced(cmd); err != nil {
				return err
			}
			return p.compare(cmd.Context())
		},
	}
	p.flags(cmd)
	p.tierFlags(cmd)
	cmd.Flags().StringVar(&p.workload, "workload", "", "one workload instead of all three: a name, or a .csv file")
	cmd.Flags().StringVar(&p.plots, "plot", "",
		"a folder for pictures, one a workload: outdated reads and renders of each policy")
	return cmd
}

func (p *command) run(ctx context.Context, name string) error {
	if err := p.complete(); err != nil {
		return err
	}
	one, err := policy.Named(name, p.settings.Lifetime)
	if err != nil {
		return cli.Usage(err, "")
	}
	return p.measure(ctx, []policy.Policy{one}, []string{p.workload}, func(rows []lab.Row) error {
		if err := lab.PrintRun(p.out, rows[0]); err != nil {
			return err
		}
		return lab.PrintRecommendations(p.out, p.settings, rows[0])
	})
}

func (p *command) compare(ctx context.Context) error {
	if err := p.complete(); err != nil {
		return err
	}
	on := []string{"steady", "bursty", "dashboard"}
	if p.workload != "" {
		on = []string{p.workload}
	}
	return p.measure(ctx, policy.All(p.settings.Lifetime), on, func(rows []lab.Row) error {
		return lab.PrintComparison(p.out, rows)
	})
}

// vacuous is the error for figures that say nothing.
func vacuous(why string) error {
	return &cli.Error{Code: cli.ExitViolated, Err: errors.New("vacuous: " + why)}
}

// measure runs policies on workloads and prints the results.
func (p *command) measure(
	ctx context.Context, policies []policy.Policy, names []string, table func([]lab.Row) error,
) error {
	var on []lab.Workload
	for _, name := range names {
		w, err := lab.WorkloadNamed(name, p.settings)
		if err != nil {
			return cli.Usage(err, "")
		}
		on = append(on, w)
	}
	if p.plots != "" { // before doing all the work
		if err := os.MkdirAll(p.plots, 0o777); err != nil {
			return cli.Usage(fmt.Errorf("--plot: %w", err), "a folder for pictures, which is made where there is none")
		}
	}
	show, remove := progress.Of(p.stderr, "policy", "runs", 0)
	rows, err := lab.Compare(ctx, p.settings, policies, on, show)
	remove()
	if err != nil {
		return cli.Unknown(err, "")
	}
	if len(rows) == 0 {
		return cli.Usage(
			fmt.Errorf("found policy %s on a workload whose data has no age, expected --workload dashboard",
				policies[0].Name), "",
		)
	}
	for _, r := range rows {
		for i, result := range r.Results {
			if result.Reads() == 0 {
				return vacuous(fmt.Sprintf("%s on %s: no read was counted with seed %d: expected more --reads, or "+
					"longer --lasts",
					r.Policy, r.Workload, p.settings.Seed+uint64(i)))
			}
		}
	}
	if p.plots != "" {
		files, err := lab.Plot(p.plots, rows)
		if err != nil {
			return cli.Unknown(err, "")
		}
		defer func() { _, _ = fmt.Fprintf(p.stderr, "pictures: %s\n", strings.Join(files, " ")) }()
	}
	switch p.format {
	case "csv":
		return lab.PrintCSV(p.out, rows)
	case "json":
		return lab.PrintJSON(p.out, rows)
	}
	return table(rows)
}
