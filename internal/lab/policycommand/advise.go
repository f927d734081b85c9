package policycommand

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/lab"
	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

func newAdvise(out io.Writer) *cobra.Command {
	var (
		d              policy.Demand
		reads, changes lab.Rate
		lease          time.Duration
		protocol       string
		contention     string
	)
	cmd := &cobra.Command{
		Use:   "advise",
		Short: "Choose a lifetime from rates, costs and the staleness allowed",
		Long: `Advise chooses how long a page should be fresh. It prints two lifetimes: the one of
least cost, C/T + S (1 - F(WT)), and the rule of thumb sqrt(2C/(WS)). For each it says
which share of reads sees outdated data and, separately, the chance that data has
changed when its lifetime ends. Both are rounded to values that people write (1s, 2s,
5s, and so on to 24h): the first to the cheapest that is longer than a render and meets
the demands, the rule of thumb to the nearest from 5s on.

With --render, it finds the smallest lease under which no holder loses its lock while it
renders: it runs recipe A on clocks that are off by the skew. A holder that may pause
needs a lease longer by the pause. With --retention, it checks the ttl of rows against
the lifetime, the clocks and the lag of deletion.

With --longest, it advises a protocol, too. If the protocol serves stale pages, it does
so after the lifetime, for no longer than the retention that is printed. The advice was
run through the simulator, and bounded-staleness held in all of its schedules.

The first lines of the output are the demands as flags: those that were given, and the
defaults of the others. Exit code 2 says that the demands cannot be met together, and
why.`,
		Example: "  isr-sim policy advise --changes 10/h --reads 500/s --miss 1 --stale 1.2 --longest 10m --render " +
			"100ms --skew 2s --retention 24h",
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.Reads, d.Changes = float64(reads), float64(changes)
			a, err := policy.Advise(d)
			named := cmd.Flags().Changed("protocol") || cmd.Flags().Changed("contention")
			hint := ""
			of, unknown := kernel.ProtocolNamed(protocol)
			switch {
			case unknown != nil:
				err = fmt.Errorf("--%w", unknown)
			case contention != "serve-stale" && contention != "wait":
				err = fmt.Errorf("--contention: found %q, expected serve-stale or wait", contention)
			case of.Breaks != "":
				err = fmt.Errorf("--protocol: found %s, which breaks %s, expected a protocol that breaks nothing",
					of.Name, of.Breaks)
			case named && d.Longest == 0:
				err = fmt.Errorf("--protocol, --contention: found them without --longest, expected all: they decide " +
					"how old data becomes that is served")
			case d.Skew < 0:
				err = fmt.Errorf("--skew: found %s, expected at least 0s", d.Skew)
			case err != nil:
			case d.Longest == 0 && cmd.Flags().Changed("longest"):
				err = fmt.Errorf(
					"--longest: found 0s, expected more, or no --longest where data of any age may be served",
				)
			case d.Retention == 0 && cmd.Flags().Changed("retention"):
				err = fmt.Errorf("--retention: found 0s, expected more, or no --retention where rows are not checked")
			case d.Render > lab.MostRender:
				err = fmt.Errorf("--render: found %s, expected at most %s: the lease is found by simulation, in "+
					"which a reader asks again every half a second",
					d.Render, lab.MostRender)
				hint = "the lease is the render, twice the skew and a second; without --render the rest is advised"
			case d.Skew > 0 && d.Render == 0:
				err = fmt.Errorf("--skew needs --render: the lease depends on both")
			case cmd.Flags().Changed("lag") && d.Retention == 0:
				err = fmt.Errorf("--lag needs --retention: rows without a ttl are not deleted")
			}
			if err != nil {
				return cli.Usage(err, hint)
			}
			if d.Render > 0 {
				if lease, err = lab.SafeLease(cmd.Context(), d.Render, d.Skew); err != nil {
					return cli.Unknown(err, "")
				}
			}
			advised := lab.Bounded{Advice: a}
			cache := lab.Cache{Protocol: of, Contention: contention, Lease: max(lease, leaseByDefault)}
			if d.Longest > 0 {
				advised, err = cache.Bound(cmd.Context(), d)
				switch {
				case errors.Is(err, policy.ErrImpossible):
					return cli.Usage(err, "")
				case err != nil:
					return cli.Unknown(err, "")
				}
			}
			if _, err := io.WriteString(out, demands(cmd.Flags())); err != nil {
				return err
			}
			if err := lab.PrintAdvice(out, d, advised.Advice, lease); err != nil || d.Longest == 0 {
				return err
			}
			return lab.PrintBound(out, cache, d, advised)
		},
	}
	reads, changes = 100, 1.0/3600
	f := cmd.Flags()
	f.Var(&changes, "changes", "how often the data of a page changes, such as 0.1/h")
	f.Var(&reads, "reads", "how often a page is read, such as 100/s")
	f.Float64Var(&d.Miss, "miss", 1, "what a render costs")
	f.Float64Var(&d.Stale, "stale", 1, "what a second of serving outdated data costs, in the unit of --miss")
	f.DurationVar(&d.Longest, "longest", 0, "how old served data may be (default: any age)")
	f.StringVar(&protocol, "protocol", "recipe-a", "with --longest: the protocol that must keep that bound")
	f.StringVar(&contention, "contention", "serve-stale",
		"with --longest: what a reader does while another one renders: serve-stale or wait")
	f.DurationVar(&d.Render, "render", 0, "how long a render takes (default: no time, and no advice about leases)")
	f.DurationVar(&d.Skew, "skew", 0, "how far a machine's clock may be off")
	f.DurationVar(&d.Retention, "retention", 0, "how long rows are kept (default: not checked)")
	f.DurationVar(&d.Lag, "lag", 48*time.Hour,
		"how long after its ttl a row may stay; AWS says: typically within a few days")
	return cmd
}

// leaseByDefault is the lease of a cache that does not name one.
const leaseByDefault = 30 * time.Second

// unasked describes the effect of omitting a flag of advise that has no default.
var unasked = map[string]string{
	"longest": "data of any age may be served", "render": "a render takes no time", "skew": "clocks are exact",
	"retention": "the ttl of rows is not checked",
}

// demands prints the given flags, and the defaults of the others.
func demands(flags *pflag.FlagSet) string {
	var given, defaults, left []string
	flags.VisitAll(func(f *pflag.Flag) {
		switch meaning := unasked[f.Name]; {
		case f.Name == "help":
		case f.Changed:
			given = append(given, fmt.Sprintf("--%s %s", f.Name, f.Value))
		case meaning != "":
			left = append(left, meaning)
		case slices.Contains([]string{"protocol", "contention"}, f.Name) && !flags.Changed("longest"):
		case f.Name != "lag" || flags.Changed("retention"):
			defaults = append(defaults, fmt.Sprintf("--%s %s", f.Name, f.Value))
		}
	})
	var text strings.Builder
	for _, line := range []struct {
		name  string
		parts []string
		by    string
	}{{"given", given, " "}, {"by default", defaults, " "}, {"not given", left, "; "}} {
		if len(line.parts) > 0 {
			fmt.Fprintf(&text, "%-11s %s\n", line.name, strings.Join(line.parts, line.by))
		}
	}
	return text.String() + "\n"
}
