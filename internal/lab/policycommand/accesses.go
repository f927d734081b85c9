package policycommand

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/lab"
	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// mostAccesses is how many lines accesses prints: more are for a program, and run has them.
const mostAccesses = 1000

func newAccesses(out io.Writer) *cobra.Command {
	var every, lifetime, lasts time.Duration
	cmd := &cobra.Command{
		Use:   "accesses [POLICY...]",
		Short: "Print how policies answer accesses at regular times, one line each",
		Long: `Accesses stores a value at 0s, reads it at regular times, and prints whether each read was
a hit, and how old the value was. A miss stores a new value. Without policies it
compares absolute and sliding lifetimes. Renders take no time: run has the figures of
renders that do.`,
		Example: "  isr-sim policy accesses\n  isr-sim policy accesses --every 3s --lifetime 10s --lasts 15s absolute sliding hybrid",
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case every <= 0 || lifetime <= 0 || lasts < every:
				return cli.Usage(fmt.Errorf("--every, --lifetime, --lasts: found %s, %s and %s, expected more than 0s, and --lasts no shorter than --every",
					every, lifetime, lasts), "")
			case lasts/every > mostAccesses:
				return cli.Usage(fmt.Errorf("--lasts: found %s, expected at most %d accesses", lasts, mostAccesses), "isr-sim policy run measures many")
			}
			if len(args) == 0 {
				args = []string{"absolute", "sliding"}
			}
			var policies []policy.Policy
			for _, name := range args {
				p, err := policy.Named(name, lifetime)
				if err != nil {
					return cli.Usage(err, "")
				}
				policies = append(policies, p)
			}
			if err := lab.PrintAccesses(out, policies, every, lasts); err != nil {
				return cli.Usage(err, "")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.DurationVar(&every, "every", 3*time.Second, "the time between two accesses")
	f.DurationVar(&lifetime, "lifetime", 10*time.Second, "how long a value is fresh")
	f.DurationVar(&lasts, "lasts", 15*time.Second, "the time of the last access")
	return cmd
}
