package main

import (
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/policycommand"
)

const longHelp = `isr-sim runs chaos scenarios against caches that do incremental static
regeneration on DynamoDB, and reports the invariant that breaks and the schedule
that breaks it.

Without arguments it runs every embedded scenario on the embedded fake.

Exit codes: 0 as expected; 1 an invariant is violated, or a campaign never
reached a mark that its scenario declares; 2 usage or bad input; 3 unknown, or
the infrastructure failed.`

func newRoot(out, progress io.Writer) *cobra.Command {
	all := &runCommand{out: out, progress: progress}
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
		RunE:          func(cmd *cobra.Command, _ []string) error { return all.judge(cmd, nil) },
	}
	root.CompletionOptions.DisableDefaultCmd = true // it has its own
	root.SetFlagErrorFunc(cli.FlagError)
	all.flags(root)
	root.Flags().Bool("version", false, "print the version, as isr-sim version does")
	root.SetVersionTemplate("isr-sim {{.Version}}\n")
	root.SetHelpCommand(newHelp(root))
	root.AddCommand(
		newRun(out, progress), newExplore(out, progress), newMerge(out), newProve(out), newConcurrent(out, progress),
		newMuseum(out, progress), newMutants(out), newReplay(out), newShrink(out), newReport(out), newExplain(out),
		newScenario(out), newServe(out, progress), policycommand.New(out, progress), newList(out), newVersion(out),
		newCompletion(root), newMan(out),
	)
	complete(root)
	return root
}

// newHelp is cobra's help command, but for an unknown topic, which is an error.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return cli.NoCommand(root, args)
			}
			cmd.InitDefaultHelpFlag() // which Execute does only for the command that it runs
			return cmd.Help()
		},
	}
}
