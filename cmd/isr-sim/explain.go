package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/explain"
	"github.com/isr-sim/isr-sim/internal/prose"
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
		Short: "Print the chance of the violation after each step of a violated run",
		Long: `Explain runs each prefix of the recorded schedule with many random tails, and
counts the tails that violate the same invariant. The columns are the chance of
a violation, the change that the step made to it, a mark, and the step as replay
prints it. The mark ! is at the first step after which every tail violates the
invariant: no later step could prevent it. The mark > is at the last jump, where
that is another step. The last jump is the last step at which the chance grew by
more than the error of the tails. A larger jump before it may decide nothing, if
the steps after it took it back.

Then explain leaves out the events that need not have happened, one at a time: a
pause, a crash, a restart, a fault, a deletion by TTL, a step of a clock, a move
of time while a machine could run. For each event it runs as many random tails,
which begin before the event and never have it, and counts those that violate
the invariant. It also runs the rest of the recorded schedule without the event.
If none of these runs violates the invariant, the event was needed, as far as
the runs can tell: 0 of 200 is a chance of less than 1.5%.

Explain prints the steps that were a choice or that changed something, and the
events without which the rest of the schedule does not violate the invariant.
With --all it prints every step and event. The tails are random walks from
streams of the run's seed: the output is the same each time.

Protocol, seed and choices are given as for replay. Exit code 0 says that the
run is explained.`,
		Example: "  isr-sim explain --protocol blind-publish --seed 17911839290282890590 --choices '0000000000' paused-writer\n" +
			"  isr-sim explain --all shrunk.yaml",
		Args: oneScenario,
		RunE: func(cmd *cobra.Command, args []string) error { return x.run(cmd, out, args[0]) },
	}
	x.flags(cmd)
	cmd.Flags().IntVar(&x.tails, "tails", explain.DefaultTails, "the number of random tails for each prefix")
	cmd.Flags().BoolVar(&x.all, "all", false, "print all steps and events")
	return cmd
}

func (x *explainCommand) run(cmd *cobra.Command, out io.Writer, name string) error {
	const most = 1_000_000
	if x.tails < 1 || x.tails > most {
		return usage(fmt.Errorf("--tails: found %d, expected a whole number from 1 to %d", x.tails, most), "")
	}
	defer x.program.close()
	run, err := x.load(cmd, name)
	if err != nil {
		return err
	}
	if _, err := run.do(cmd.Context(), io.Discard); err != nil {
		return err
	}
	explanation, err := explain.Explain{Failed: run.Run, Tails: x.tails}.Run(cmd.Context())
	if err != nil {
		return violated(cmd.Context(), err)
	}
	v := explanation.Outcome.Violation
	fmt.Fprintf(out, "%s\n\n%s: %s\n%s\n\nthe chance of it after each step, from %d random tails each\n\n",
		run, v.Invariant.Name, v.Invariant.Statement, v.Why, x.tails)
	fmt.Fprint(out, prose.Explanation(explanation, x.all))
	return nil
}
