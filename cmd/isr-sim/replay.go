package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/show/keep"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/show/results"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// replayCommand runs one recorded schedule and prints its trace.
type replayCommand struct {
	flags.Results
	flags.Recording
	history string
}

func newReplay() *cobra.Command {
	r := &replayCommand{}
	cmd := &cobra.Command{
		Use:   "replay SCENARIO",
		Short: "Run one recorded schedule again and print its trace",
		Long: `Replay prints every step of one schedule. The columns are the number of the step,
true time since the start, the actor, the kind of the step, and the event. Below a
step, "row" lines show the rows that it changed, and "client" lines the requests and
answers of clients.

Protocol, seed and choices come from the flags, as a failed run prints them, or from
the replay entry of the scenario file. With --trace, or with a violation that the file
records, replay refuses a run that is not the recorded one: the scenario, the protocol
or isr-sim has changed. Exit code 1 says that the schedule violates an invariant, 0
that it does not, and 3 that nothing in it could be judged.`,
		Example: "  isr-sim replay --protocol blind-publish --seed 17911839290282890590 --choices '0000000000' " +
			"paused-writer",
		Args: cli.OneScenario,
		RunE: r.Around(r.run),
	}
	r.Register(cmd, &r.Results)
	r.RegisterFormats(cmd)
	r.RegisterFiles(cmd, "the run")
	cmd.Flags().StringVar(&r.history, "history", "",
		"write a page of HTML to this file: each node's operations on its store, over time")
	return cmd
}

func (r *replayCommand) run(cmd *cobra.Command, args []string) error {
	defer r.Close()
	if err := r.Ready(false); err != nil {
		return err
	}
	name := args[0]
	run, err := r.Load(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.Out, "%s\n\n", run)
	o, err := run.Do(cmd.Context(), r.Out)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.Out, "\n%s", prose.Outcome(o, run.Scenario.Name, run.Protocol.Name))
	if r.history != "" {
		r.Lose(keep.History(r.history, func(w io.Writer) error {
			seen, _ := o.Evidence()
			return seen.Visualize(w)
		}))
	}
	r.Lose(r.Keep(cmd.Context(), run.Run, name))
	result := results.OfOutcome(run.Run, o, shell.Program(), shell.Quote(name))
	vacuous := o.Verdict == invariant.OK && !judged(o)
	if vacuous {
		result.Verdict, result.Passed, result.Message = verdicts.Vacuous, false, nothingHappened
		fmt.Fprintf(r.Out, "vacuous: %s\n", nothingHappened)
	}
	r.AddKept(name, run.Scenario.Name+"."+run.Protocol.Name, result)
	switch {
	case o.Verdict == invariant.Violated:
		return &cli.Error{Code: cli.ExitViolated}
	case o.Verdict == invariant.Unknown || vacuous:
		return &cli.Error{Code: cli.ExitUnknown}
	default:
		return nil
	}
}

// nothingHappened is the message about a run that has nothing to judge.
const nothingHappened = "nothing was judged: no row was written, and no page was served"

// judged reports whether a run has something for invariants to judge.
func judged(o *kernel.Outcome) bool {
	seen, kept := o.Evidence()
	return !kept || len(seen.Changes) > 0 || slices.Contains(o.Marks, mark.ServedFresh) ||
		slices.Contains(o.Marks, mark.ServedStale)
}
