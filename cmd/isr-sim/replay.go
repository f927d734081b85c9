package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// newReplay makes the command that runs one recorded schedule and prints its trace.
func newReplay(out io.Writer) *cobra.Command {
	r := &recording{}
	var history string
	k := &keeper{}
	forms := &formats{}
	cmd := &cobra.Command{
		Use:   "replay SCENARIO",
		Short: "Run one recorded schedule again and print its trace",
		Long: `Replay prints every step of one schedule. The columns are the number of the step,
true time since the start, the actor, the kind of the step, and the event. Below a
step, "row" lines show the rows that it changed, and "client" lines the requests and
answers of clients.

Protocol, seed and choices come from the flags, as a failed run prints them, or from
the replay entry of the scenario file. With --trace, replay refuses a run that is not
the recorded one: the scenario, the protocol or isr-sim has changed. Exit code 1 says
that the schedule violates an invariant, 0 that it does not.`,
		Example: "  isr-sim replay --protocol blind-publish --seed 17911839290282890590 --choices '0000000000' paused-writer",
		Args:    oneScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			return forms.around(cmd, &out, func() error { return replay(cmd, out, r, args[0], history, k, forms) })
		},
	}
	r.flags(cmd)
	forms.flags(cmd)
	cmd.Flags().StringVar(&history, "history", "", "write a page of HTML to this file: each node's operations on its store, over time")
	k.flags(cmd, "the run")
	return cmd
}

func replay(cmd *cobra.Command, out io.Writer, r *recording, name, history string, k *keeper, forms *formats) error {
	defer r.program.close()
	if err := k.ready(false); err != nil {
		return err
	}
	run, err := r.load(cmd, name)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n\n", run)
	o, err := run.do(cmd.Context(), out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s", o.Explain(run.Scenario.Name, run.Protocol.Name))
	if history != "" {
		if err := drawHistory(history, o.Visualize); err != nil {
			return unknown(err, "")
		}
	}
	if err := k.keep(cmd.Context(), out, run.Run, name, run.Scenario.Name+"."+run.Protocol.Name); err != nil {
		return err
	}
	forms.add(k.with(ofOutcome(run, o, name), run.Scenario.Name+"."+run.Protocol.Name))
	switch o.Verdict {
	case invariant.Violated:
		return &exitError{Code: exitViolated}
	case invariant.Unknown:
		return &exitError{Code: exitUnknown}
	default:
		return nil
	}
}

// drawHistory writes the page of --history.
func drawHistory(file string, visualize func(io.Writer) error) error {
	var page bytes.Buffer
	if err := visualize(&page); err != nil {
		return fmt.Errorf("--history: %w", err)
	}
	return os.WriteFile(file, page.Bytes(), 0o644)
}
