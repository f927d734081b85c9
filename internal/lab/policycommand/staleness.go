package policycommand

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/lab"
)

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
