package main

import (
	"io"

	"github.com/spf13/cobra"
)

const longHelp = `isr-sim runs chaos scenarios against caches that do incremental static
regeneration on DynamoDB, and says which promise breaks, in which interleaving.

Without arguments it runs every embedded scenario on the embedded fake.

Exit codes: 0 as expected; 1 an invariant is violated, or a campaign never
reached what its scenario declares; 2 usage or bad input; 3 unknown, or the
infrastructure failed.`

func newRoot(out io.Writer) *cobra.Command {
	all := &runCommand{out: out}
	root := &cobra.Command{
		Use:           "isr-sim",
		Short:         "Find, explain and replay the bugs of ISR caches on DynamoDB",
		Long:          longHelp,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return all.run(cmd.Context(), nil) },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	all.flags(root)
	root.AddCommand(newRun(out), newReplay(out), newList(out), newVersion(out))
	return root
}
