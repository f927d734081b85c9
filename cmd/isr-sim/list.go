package main

import (
	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
)

func newList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the embedded scenarios, the protocols and the invariants",
		Args:  cli.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cli.Usage(catalog.List(cmd.OutOrStdout()), "") },
	}
}
