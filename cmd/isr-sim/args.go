package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
)

// noArguments refuses arguments.
var noArguments = cli.NoArguments

// someScenarios asks for at least one argument.
func someScenarios(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return usage(fmt.Errorf("%s: found no scenario, expected at least one", cmd.Name()),
		"prove-two-writers and prove-three-writers are small enough; "+cmd.CommandPath()+" --help")
}

// oneScenario asks for exactly one argument.
func oneScenario(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usage(fmt.Errorf("%s: found %d scenarios, expected one", cmd.Name(), len(args)),
		"a run that fails prints its whole replay command; "+cmd.CommandPath()+" --help")
}
