package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// replayCommand runs one recorded schedule and prints its trace.
type replayCommand struct {
	protocol string
	seed     uint64
	choices  string
	trace    string
}

func newReplay(out io.Writer) *cobra.Command {
	r := &replayCommand{}
	cmd := &cobra.Command{
		Use:   "replay SCENARIO",
		Short: "Run one recorded schedule again and print its trace",
		Long: `Replay prints every step of one schedule. The columns are the step's number, true
time since the start, whose step it is, its kind, and what happened. Below a
step, "row" lines say which rows changed and "client" lines what clients saw.

Protocol, seed and choices come from the flags, as a failed run prints them, or
from the replay entry of the scenario file. With --trace, a run that is not the
recorded one is noticed: the scenario, the protocol or isr-sim has changed. Exit code 1 says that the schedule
violates an invariant, 0 that it does not.`,
		Example: "  isr-sim replay --protocol blind-publish --seed 17911839290282890590 --choices '00000110' paused-writer",
		Args:    oneScenario,
		RunE:    func(cmd *cobra.Command, args []string) error { return r.run(cmd, out, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&r.protocol, "protocol", "", "the protocol (default: the recorded one, or the scenario's own)")
	f.Uint64Var(&r.seed, "seed", 0, "the run's seed")
	f.StringVar(&r.choices, "choices", "", "the run's choices")
	f.StringVar(&r.trace, "trace", "", "the digest of the recorded trace; another one is refused")
	return cmd
}

func (r *replayCommand) run(cmd *cobra.Command, out io.Writer, name string) error {
	s, err := loadScenario(name)
	if err != nil {
		return err
	}
	recorded := scenario.Replay{Protocol: s.Protocol}
	if s.Replay != nil {
		recorded = *s.Replay
	}
	if r.protocol != "" {
		recorded.Protocol = r.protocol
	}
	if cmd.Flags().Changed("seed") {
		recorded.Seed = r.seed
	}
	if cmd.Flags().Changed("choices") {
		if recorded.Choices, err = sim.ParseChoices(r.choices); err != nil {
			return usage(err, "copy the whole replay command that the failed run printed")
		}
	} else if s.Replay == nil {
		return usage(errors.New("found neither --choices nor a replay entry in the scenario, expected one of them"),
			"a run that fails prints its whole replay command")
	}
	p, err := protocol(recorded.Protocol)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s under %s, seed %d, choices %s\n\n", s.Name, p.Name, recorded.Seed, recorded.Choices)
	o, err := scenario.Run{
		Scenario: s, Protocol: p, Seed: recorded.Seed, Strategy: sim.Replay(recorded.Choices), Trace: out,
	}.Do(cmd.Context())
	if _, diverged := errors.AsType[*sim.DivergedError](err); diverged {
		return usage(err, "copy the whole replay command, and replay with the version that printed it")
	}
	if err != nil {
		return unknown(err, "")
	}
	if r.trace != "" {
		recorded.Digest = r.trace
	}
	if recorded.Digest != "" && recorded.Digest != o.Digest {
		return usage(fmt.Errorf("found a trace with the digest %s, expected %s: this is not the run that was recorded", o.Digest, recorded.Digest),
			"the scenario, the protocol or isr-sim has changed since; run the scenario again for a new replay command")
	}
	fmt.Fprintf(out, "\n%s", o.Explain(s.Name, p.Name))
	switch o.Verdict {
	case invariant.Violated:
		return &exitError{code: exitViolated}
	case invariant.Unknown:
		return &exitError{code: exitUnknown}
	default:
		return nil
	}
}
