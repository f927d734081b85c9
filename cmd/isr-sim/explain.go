package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/study/explain"
)

// explainCommand finds the step that decided that a run is violated.
type explainCommand struct {
	flags.Results
	flags.Recording
	tails int
	all   bool
}

func newExplain() *cobra.Command {
	x := &explainCommand{}
	cmd := &cobra.Command{
		Use:   "explain SCENARIO",
		Short: "Print which events a violation needed, and its chance after each step",
		Long: `Explain says which events a violation needed, and at which step it could no
longer be prevented.

First it leaves out one event at a time: a pause, a crash, a fault, a deletion by
TTL, a wrong clock, a context switch, a move of time while a machine could run. Each
event is left out of 200 runs, which follow the recorded schedule up to some step
after the event and go on at random. The table says how many of them violate the
same invariant, with the 95% interval of their chance, and how many do so in the same
way as the recorded run.

An event is "needed" if no run without it violates the invariant. The table lists
faults first, then events of a machine, events of the store, the order of steps, and
time. An event is "helped" if a violation is less likely without it, and
otherwise "idle"; --all prints idle ones, too.

Then explain runs each prefix of the recorded schedule with many random tails. For
each step it prints the chance of a violation, by how much the step changed the
chance, and a mark. The mark ! is at the first step after which every tail violates
the invariant: no later step could prevent it. The mark > is at the last step that
raised the chance by more than the error of the tails, if that is another step.
Earlier steps may have raised it more, and later ones lowered it again.

Explain prints the steps that were a choice or that changed something; with --all
it prints every step. All runs are drawn from the run's seed: the output is the
same each time.

Protocol, seed and choices are given as for replay. Exit code 0 says that the
run is explained.`,
		Example: "  isr-sim explain --protocol blind-publish --seed 17911839290282890590 --choices '0000000000' " +
			"paused-writer\n" +
			"  isr-sim explain --all shrunk.yaml\n  isr-sim explain --report why.html shrunk.yaml",
		Args: cli.OneScenario,
		RunE: x.Around(x.run),
	}
	x.Register(cmd, &x.Results)
	x.RegisterFiles(cmd, "the run, with its explanation,")
	cmd.Flags().IntVar(&x.tails, "tails", explain.DefaultTails, "the number of random tails for each prefix")
	cmd.Flags().BoolVar(&x.all, "all", false, "print all steps and events")
	return cmd
}

func (x *explainCommand) run(cmd *cobra.Command, args []string) error {
	const most = 1_000_000
	if x.tails < 1 || x.tails > most {
		return cli.Usage(fmt.Errorf("--tails: found %d, expected a whole number from 1 to %d", x.tails, most), "")
	}
	defer x.Close()
	run, err := x.Again(&x.Results, args[0])
	if err != nil {
		return err
	}
	remove := progress.Wait(cmd.ErrOrStderr(), "explaining "+run.Scenario.Name)
	explanation, err := explain.Explain{Failed: run.Run, Tails: x.tails}.Run(cmd.Context())
	remove()
	if err != nil {
		return flags.NotViolated(cmd.Context(), err)
	}
	v := explanation.Outcome.Violation
	fmt.Fprintf(x.Out, "%s\n\n%s: %s\n%s\n\n", run, v.Invariant.Name, v.Invariant.Statement, v.Why)
	fmt.Fprint(x.Out, explanation.Text(x.all))
	if x.Wanted() {
		fmt.Fprintln(x.Out)
	}
	x.Explanation = explanation.Record()
	return cli.Unknown(x.Keep(cmd.Context(), run.Run, args[0]), "")
}
