package main

import (
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/check"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/cli/fleet"
	"github.com/isr-sim/isr-sim/internal/lab/policycommand"
)

const longHelp = `isr-sim runs what is kept in DynamoDB under chaos: caches that do incremental
static regeneration, locks, and layers that have calls run once. It reports the
invariant that breaks and the schedule that breaks it.

isr-sim check answers whether your own code is right. Without arguments isr-sim
runs every embedded scenario on the embedded fake. The pages that help texts name,
docs/..., are at https://github.com/isr-sim/isr-sim/tree/main/docs

Exit codes: 0 as expected; 1 an invariant is violated, or a campaign never
reached a mark that its scenario declares; 2 usage or bad input; 3 unknown, or
the infrastructure failed.`

func newRoot(out, progress io.Writer) *cobra.Command {
	info, _ := debug.ReadBuildInfo() // nil where there is none
	root := &cobra.Command{
		Use:           "isr-sim",
		Short:         "Find, explain and replay the bugs of ISR caches on DynamoDB",
		Long:          longHelp,
		Example:       "  isr-sim\n  isr-sim run --protocol blind-publish paused-writer\n  isr-sim list",
		Args:          cli.NoCommand,
		Version:       version(info, runtime.Version()),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true // it has its own
	root.SetFlagErrorFunc(cli.FlagError)
	new(runCommand).register(root)
	root.Flags().Bool("version", false, "print the version, as isr-sim version does")
	root.SetVersionTemplate("isr-sim {{.Version}}\n")
	root.SetHelpCommand(cli.NewHelp(root))
	root.AddCommand(
		newRun(), check.NewCommand(), fleet.NewExplore(), fleet.NewMerge(), newProve(), newConcurrent(), newMuseum(),
		newMutants(), newReplay(), newShrink(), newReport(), fleet.NewDashboard(), newExplain(), newScenario(),
		newServe(), cli.NewHealth(), policycommand.New(out, progress), newList(), newVersion(),
		flags.NewCompletion(root), newMan(),
	)
	flags.Complete(root)
	return root
}
