package policycommand

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
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
	cmd.AddCommand(newRun(out, stderr), newCompare(out, stderr), newAdvise(out), newSchedule(out), newScale(out, stderr),
		newStaleness(out), newAccesses(out))
	return cmd
}

// onePolicy asks for exactly one argument.
func onePolicy(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return cli.Usage(fmt.Errorf("%s: found %d policies, expected one: %s", cmd.Name(), len(args), names()), cmd.CommandPath()+" --help")
}

// names lists the policies.
func names() string {
	var names []string
	for _, p := range policy.All(time.Minute) {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
