package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/catalog"
	"github.com/isr-sim/isr-sim/internal/shell"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// recording says which recorded run a command is about.
type recording struct {
	protocol string
	seed     uint64
	choices  string
	swarm    bool
	trace    string
	program  programFlags
}

func (r *recording) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.protocol, "protocol", "", "the protocol (default: the recorded one, or the scenario's own)")
	f.Uint64Var(&r.seed, "seed", 0, "the run's seed")
	f.StringVar(&r.choices, "choices", "", "the run's choices")
	f.BoolVar(&r.swarm, "swarm", false, "the run drew its possible faults (maybe) from the seed")
	r.program.register(f)
	f.StringVar(&r.trace, "trace", "", "the digest of the recorded trace; another one is refused")
}

// recorded is a recorded run, and the digest that its trace must have, if that is known.
type recorded struct {
	scenario.Run
	choices sim.Choices
	digest  string
}

// load finds the run by the flags, and by the scenario's replay entry.
func (r *recording) load(cmd *cobra.Command, name string) (recorded, error) {
	s, err := catalog.Load(name)
	if err != nil {
		return recorded{}, usage(err, "")
	}
	entry := scenario.Replay{Protocol: s.Protocol}
	if s.Replay != nil {
		entry = *s.Replay
	}
	if r.protocol != "" {
		entry.Protocol = r.protocol
	}
	if cmd.Flags().Changed("seed") {
		entry.Seed = r.seed
	}
	if cmd.Flags().Changed("choices") {
		if entry.Choices, err = sim.ParseChoices(r.choices); err != nil {
			return recorded{}, usage(err, fmt.Sprintf("copy the whole %s command that the failed run printed", cmd.Name()))
		}
	} else if s.Replay == nil {
		return recorded{}, usage(errors.New("found neither --choices nor a replay entry in the scenario, expected one of them"),
			"a run that fails prints its whole replay command")
	}
	if cmd.Flags().Changed("swarm") {
		entry.Swarm = r.swarm
	}
	if r.trace != "" {
		entry.Digest = r.trace
	}
	text, ofProgram := strings.CutPrefix(entry.Protocol, shell.ExecPrefix)
	if ofProgram && r.program.command == "" {
		return recorded{}, usage(errors.New("the recorded run is of a program, expected --exec"),
			"a file starts no command: say it, if you trust it: --exec "+shell.Quote(text))
	}
	p, err := r.program.protocol(cmd.Context(), cmd.ErrOrStderr(), entry.Protocol)
	if err != nil {
		return recorded{}, err
	}
	return recorded{entry.Run(s, p), entry.Choices, entry.Digest}, nil
}

// String says which run it is.
func (r recorded) String() string {
	return fmt.Sprintf("%s under %s, seed %d, choices %s", r.Scenario.Name, r.Protocol.Name, r.Seed, r.choices)
}

// do runs it, and refuses a run that is not the recorded one.
func (r recorded) do(ctx context.Context, trace io.Writer) (*scenario.Outcome, error) {
	run := r.Run
	run.Trace = trace
	o, err := run.Do(ctx)
	if _, diverged := errors.AsType[*sim.DivergedError](err); diverged {
		return nil, usage(err, "copy the whole replay command, and replay with the version that printed it")
	}
	if err != nil {
		return nil, unknown(err, "")
	}
	if r.digest != "" && r.digest != o.Digest {
		return nil, usage(fmt.Errorf("found a trace with the digest %s, expected %s: this is not the run that was recorded", o.Digest, r.digest),
			"the scenario, the protocol or isr-sim has changed since; run the scenario again for a new replay command")
	}
	return o, nil
}

// violated words the error of a command that is about violated runs.
func violated(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*campaign.NotViolatedError](err); ok {
		return usage(e, "isr-sim run prints the run that violates an invariant, if it finds one")
	}
	if ctx.Err() != nil {
		return unknown(errors.New("interrupted"), "")
	}
	return unknown(err, "")
}
