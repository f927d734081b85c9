package policycommand

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/lab"
	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

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
