package flags

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/schedule"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/sim"
)

// Recording has the flags that choose a recorded run.
type Recording struct {
	Program

	seed    uint64
	choices string
	swarm   bool
	stops   bool
	steps   int
	trace   string
}

// Register adds the flags.
func (r *Recording) Register(cmd *cobra.Command, of *Results) {
	r.Program.Register(cmd, of, "the protocol (default: the recorded one, or the scenario's own)")
	f := cmd.Flags()
	f.Uint64Var(&r.seed, "seed", 0, "the run's seed")
	f.StringVar(&r.choices, "choices", "", "the run's choices")
	f.BoolVar(&r.swarm, "swarm", false, "the run drew its possible faults (maybe) from the seed")
	f.BoolVar(&r.stops, "all-stops", false, "the run is from a proof, in which time stopped at more instants")
	f.IntVar(&r.steps, "steps", 0,
		"the number of steps after which the recorded run ends (default: the recorded one; with --choices, none)")
	f.StringVar(&r.trace, "trace", "", "the digest of the recorded trace; another one is refused")
}

// Recorded is a recorded run and, if known, the digest of its trace and the invariant that it violates.
type Recorded struct {
	kernel.Run

	choices  schedule.Choices
	digest   string
	violates string
}

// Load finds the run by the flags and the scenario's replay entry.
func (r *Recording) Load(name string) (Recorded, error) {
	given := r.cmd.Flags().Changed
	s, err := catalog.Load(name)
	if err != nil {
		return Recorded{}, cli.Usage(err, "")
	}
	entry := spec.Replay{Protocol: s.Protocol}
	if s.Replay != nil {
		entry = *s.Replay
	}
	if r.name != "" {
		entry.Protocol = r.name
	}
	if given("seed") {
		entry.Seed = r.seed
	}
	if given("choices") {
		if entry.Choices, err = schedule.ParseChoices(r.choices); err != nil {
			return Recorded{}, cli.Usage(err,
				fmt.Sprintf("copy the whole %s command that the failed run printed", r.cmd.Name()))
		}
	} else if s.Replay == nil {
		return Recorded{},
			cli.Usage(errors.New("found neither --choices nor a replay entry in the scenario, expected one of them"),
				"a run that fails prints its whole replay command")
	}
	if given("choices") || given("steps") {
		entry.Steps = r.steps
	}
	if entry.Steps < 0 {
		return Recorded{}, cli.Usage(fmt.Errorf("--steps: found %d, expected at least 1", entry.Steps), "")
	}
	if given("swarm") {
		entry.Swarm = r.swarm
	}
	if given("all-stops") {
		entry.AllStops = r.stops
	}
	if r.trace != "" {
		entry.Digest = r.trace
	}
	text, ofProgram := strings.CutPrefix(entry.Protocol, shell.ExecPrefix)
	if ofProgram && r.Exec == "" {
		return Recorded{}, cli.Usage(errors.New("the recorded run is of a program, expected --exec"),
			"a file starts no command: say it, if you trust it: --exec "+shell.Quote(text))
	}
	p, err := r.protocol(entry.Protocol)
	if err != nil {
		return Recorded{}, err
	}
	if r.nodes == nil {
		if err := undoable(s, name); err != nil {
			return Recorded{}, err
		}
	}
	if s.Replay != nil && p.Name != s.Replay.Protocol ||
		slices.ContainsFunc([]string{"seed", "choices", "steps", "swarm", "all-stops"}, given) {
		entry.Violates = "" // the entry does not describe this run
	}
	return Recorded{kernel.Replay(entry, s, p), entry.Choices, entry.Digest, entry.Violates}, nil
}

// String identifies the run.
func (r Recorded) String() string {
	text := fmt.Sprintf("%s under %s, seed %d, choices %s", r.Scenario.Name, r.Protocol.Name, r.Seed, r.choices)
	if r.Steps > 0 {
		text += fmt.Sprintf(", until step %d", r.Steps)
	}
	return text
}

// Do makes the run, and returns an error if it is not the recorded one.
func (r Recorded) Do(ctx context.Context, trace io.Writer) (*kernel.Outcome, error) {
	run := r.Run
	run.Trace = trace
	o, err := run.Do(ctx)
	if _, diverged := errors.AsType[*sim.DivergedError](err); diverged {
		return nil, cli.Usage(err, "copy the whole replay command, and replay with the version that printed it")
	}
	if err != nil {
		return nil, cli.Unknown(err, "")
	}
	var found string
	switch {
	case r.digest != "" && r.digest != o.Digest:
		found = fmt.Sprintf("found a trace with the digest %s, expected %s", o.Digest, r.digest)
	case r.violates != "" && o.Verdict == invariant.OK: // the file may have no digest
		found = fmt.Sprintf("found a run in which nothing is violated, expected a violation of %s", r.violates)
	default:
		return o, nil
	}
	return nil, cli.Usage(errors.New(found+": this is not the run that was recorded"),
		"the scenario, the protocol or isr-sim has changed since; run the scenario again for a new replay command")
}

// NotViolated words the error of a command that needs a violated run.
func NotViolated(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*campaign.NotViolatedError](err); ok {
		return cli.Usage(e, "isr-sim run prints the run that violates an invariant, if it finds one")
	}
	if ctx.Err() != nil {
		return cli.Unknown(errors.New("interrupted"), "")
	}
	return cli.Unknown(err, "")
}

// Again finds the run and makes it again. First it makes sure that the files about it can be written.
func (r *Recording) Again(of *Results, name string) (Recorded, error) {
	if err := of.Ready(false); err != nil {
		return Recorded{}, err
	}
	run, err := r.Load(name)
	if err != nil {
		return run, err
	}
	_, err = run.Do(r.cmd.Context(), io.Discard)
	return run, err
}
