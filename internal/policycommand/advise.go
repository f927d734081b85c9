package policycommand

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/lab"
	"github.com/isr-sim/isr-sim/scenario/policy"
)

func newAdvise(out io.Writer) *cobra.Command {
	var (
		d              policy.Demand
		reads, changes lab.Rate
		skew, lease    time.Duration
	)
	cmd := &cobra.Command{
		Use:   "advise",
		Short: "Choose a lifetime from rates, costs and the staleness allowed",
		Long: `Advise prints the lifetime of least cost, C/T + S (1 - F(WT)), beside the rule of
thumb sqrt(2C/(WS)), and what each of them means: the chance that data has changed
when its lifetime ends is not the share of reads that see outdated data. Given how
long a render takes, it also finds the smallest lease under which no holder loses its
lock while it renders, by running recipe A on clocks that are off by the skew. A
holder that may pause needs as much more. Exit code 2 says that the demands cannot be
met together, and why.`,
		Example: "  isr-sim policy advise --changes 10/h --reads 500/s --miss 1 --stale 1.2 --longest 10m --render 100ms --skew 2s",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.Reads, d.Changes = float64(reads), float64(changes)
			a, err := policy.Advise(d)
			switch {
			case err != nil:
			case skew < 0:
				err = fmt.Errorf("--skew: found %s, expected at least 0s", skew)
			case skew > 0 && d.Render == 0:
				err = fmt.Errorf("--skew: found it without --render, expected both: the lease depends on both")
			}
			if err != nil {
				return cli.Usage(err, "")
			}
			if d.Render > 0 {
				if lease, err = lab.SafeLease(cmd.Context(), d.Render, skew); err != nil {
					return cli.Unknown(err, "")
				}
			}
			return lab.PrintAdvice(out, d, a, lease, skew)
		},
	}
	reads, changes = 100, 1.0/3600
	f := cmd.Flags()
	f.Var(&changes, "changes", "how often the data changes, such as 0.1/h")
	f.Var(&reads, "reads", "how often it is read, such as 100/s")
	f.Float64Var(&d.Miss, "miss", 1, "what a render costs")
	f.Float64Var(&d.Stale, "stale", 1, "what a second costs in which outdated data is served, in the same unit")
	f.DurationVar(&d.Longest, "longest", 0, "how old served data may be (default: any age)")
	f.DurationVar(&d.Render, "render", 0, "how long a render takes")
	f.DurationVar(&skew, "skew", 0, "how far a machine's clock may be off")
	f.DurationVar(&d.Retention, "retention", 0, "how long rows are kept (default: not checked)")
	return cmd
}
