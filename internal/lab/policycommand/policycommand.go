package policycommand

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/lab"
	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// New returns isr-sim policy with its commands. Results go to out, progress and the names of written files to stderr.
func New(out, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Measure lifetimes and stampede protection: how fresh, how cheap, how many renders at once",
		Long: `Policy plays reads, changes and renders on virtual time against a cache that keeps its
rows by a policy, and gives figures with their intervals over seeds. One seed gives
one result on any number of cores.`,
		Args: cli.NoCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRun(out, stderr), newCompare(out, stderr), newAdvise(out), newSchedule(out),
		newScale(out, stderr), newStaleness(out), newAccesses(out))
	return cmd
}

// onePolicy asks for exactly one argument.
func onePolicy(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return cli.Usage(fmt.Errorf("%s: found %d policies, expected one: %s", cmd.Name(), len(args), names()),
		cmd.CommandPath()+" --help")
}

// names lists the policies.
func names() string {
	var names []string
	for _, p := range policy.All(time.Minute) {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// mostAccesses is the largest number of lines that accesses prints. More lines are for a program, and run prints them.
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
		Example: "  isr-sim policy accesses\n" +
			"  isr-sim policy accesses --every 3s --lifetime 10s --lasts 15s absolute sliding hybrid",
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case every <= 0 || lifetime <= 0 || lasts < every:
				return cli.Usage(fmt.Errorf("--every, --lifetime, --lasts: found %s, %s and %s, expected more than "+
					"0s, and --lasts no shorter than --every",
					every, lifetime, lasts), "")
			case lasts/every > mostAccesses:
				return cli.Usage(fmt.Errorf("--lasts: found %s, expected at most %d accesses", lasts, mostAccesses),
					"isr-sim policy run measures many")
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

func newSchedule(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:     "schedule [POLICY]",
		Short:   "Print the lifetimes of a policy by the age of data",
		Example: "  isr-sim policy schedule\n  isr-sim policy schedule age-linear",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"age-based"}
			}
			if err := onePolicy(cmd, args); err != nil {
				return err
			}
			name := args[0]
			p, err := policy.Named(name, time.Minute)
			if err == nil {
				err = lab.PrintSchedule(out, p)
			}
			if err != nil {
				return cli.Usage(err, "")
			}
			return nil
		},
	}
}

func newStaleness(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "staleness",
		Short: "Print staleness by rate of changes and lifetime, beside the figures of tutorials",
		Long: `Staleness prints the table that tutorials have, of the share of stale reads by rate of
changes and lifetime, with the exact figures. The tutorials' figures are the chance that
the data has changed when the lifetime ends, or its rule of thumb: reads see less.
isr-sim policy advise has the same two figures for rates of your own.`,
		Args: cli.NoArguments,
		RunE: func(*cobra.Command, []string) error { return lab.PrintStaleness(out) },
	}
}
