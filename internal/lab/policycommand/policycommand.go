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
	return cli.Group(&cobra.Command{
		Use:   "policy",
		Short: "Measure lifetimes and stampede protection: how fresh, how cheap, how many renders at once",
		Long: `Policy plays reads, changes and renders on virtual time against a cache that keeps its
rows by a policy, and gives figures with their intervals over seeds. One seed gives
one result on any number of cores.`,
	}, newRun(out, stderr), newCompare(out, stderr), newAdvise(out), newSchedule(out), newScale(out, stderr))
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
