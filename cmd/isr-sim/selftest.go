package main

import (
	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
)

func newSelftest() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "selftest",
		Short: "Test the toolkit: broken protocols and known bugs must be caught, correct protocols must pass",
	}, newMutants(), newMuseum())
}
