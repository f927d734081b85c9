package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/scenario/campaign"
)

// explainCommand says which step of a violated run decided it.
type explainCommand struct {
	recording
	tails int
	all   bool
}

func newExplain(out io.Writer) *cobra.Command {
	x := &explainCommand{}
	cmd := &cobra.Command{
		Use:   "explain SCENARIO",
		Short: "Say after each step of a violated run how likely the violation was by then",
		Long: `Explain runs each prefix of the recorded schedule with many random tails, and
prints how many of them violate the same invariant. The columns are that
chance, by how much the step has changed it, a mark, and the step as replay
prints it. The mark ! is at the step from which every tail violates the
invariant: what came later could not prevent it. The last jump, marked > where
it is another step, is where the chance grew for the last time by more than
the tails are off. A larger jump before it need not decide anything: what came
next took it back.

Then it takes away what need not have happened, one event at a time: a pause,
a crash, a restart, a fault, a deletion by TTL, a step of a clock, time that
moved while somebody could run. It counts how many of as many random tails,
which begin before the event and in which it does not happen any more, violate
the invariant, and says whether the rest of the recorded schedule does. An
event without which none does was needed, as far as these runs can tell: 0 of
200 is a chance of less than 1.5%.

Only steps that were a choice or that changed something are printed, and only
events without which the rest of the schedule does not violate the invariant,
unless --all asks for the others. The tails are random walks from streams of
the run's seed: the output is the same each time.

Protocol, seed and choices are those of replay. Exit code 0 says that the run
is explained.`,
		Example: "  isr-sim explain --protocol blind-publish --seed 17911839290282890590 --choices '0000000000' paused-writer\n" +
			"  isr-sim explain --all shrunk.yaml",
		Args: oneScenario,
		RunE: func(cmd *cobra.Command, args []string) error { return x.run(cmd, out, args[0]) },
	}
	x.flags(cmd)
	cmd.Flags().IntVar(&x.tails, "tails", campaign.DefaultTails, "how many random tails each prefix gets")
	cmd.Flags().BoolVar(&x.all, "all", false, "print all steps and events")
	return cmd
}

func (x *explainCommand) run(cmd *cobra.Command, out io.Writer, name string) error {
	const most = 1_000_000
	if x.tails < 1 || x.tails > most {
		return usage(fmt.Errorf("--tails: found %d, expected a whole number from 1 to %d", x.tails, most), "")
	}
	run, err := x.load(cmd, name)
	if err != nil {
		return err
	}
	if _, err := run.do(cmd.Context(), io.Discard); err != nil {
		return err
	}
	explanation, err := campaign.Explain{Failed: run.Run, Tails: x.tails}.Run(cmd.Context())
	if err != nil {
		return violated(cmd.Context(), err)
	}
	v := explanation.Outcome.Violation
	fmt.Fprintf(out, "%s\n\n%s: %s\n%s\n\nhow likely that is after each step, by %d random tails each\n\n",
		run, v.Invariant.Name, v.Invariant.Statement, v.Why, x.tails)
	fmt.Fprint(out, prose.Explanation(explanation, x.all))
	return nil
}
