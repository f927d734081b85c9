package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/heap"
	"github.com/isr-sim/isr-sim/internal/progress"
	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/internal/shell"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// proveCommand runs every schedule of scenarios.
type proveCommand struct {
	out       io.Writer
	protocol  string
	seed      uint64
	schedules int
	states    int
	time      time.Duration
	program   programFlags
	stderr    io.Writer
	keeper    keeper
	formats   formats
}

func newProve(out io.Writer) *cobra.Command {
	v := &proveCommand{out: out}
	cmd := &cobra.Command{
		Use:   "prove SCENARIO...",
		Short: "Run every schedule within a scenario's bounds",
		Long: `Prove runs every schedule within a scenario's bounds. The bounds limit the ticks of
time, the deletions by TTL, the pauses, crashes, restarts and clock steps of each
machine, and the strikes of each possible fault. The first schedule that violates an
invariant ends the search.

Prove leaves out schedules that can show nothing new: those that differ from another
one only in the order of steps that do not touch each other, and those that reach a
state from which the search has gone on before. Exit code 0 says that the search is
complete and that nothing is violated. Exit code 3 says that a bound ended the
search; the output then says what is left. A state takes some 150 bytes of memory.`,
		Example: "  isr-sim prove prove-two-writers\n  isr-sim prove --time 10m ./my-scenario.yaml\n  isr-sim prove --protocol blind-release prove-three-writers",
		Args:    someScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			v.stderr = cmd.ErrOrStderr()
			return v.formats.around(cmd, &v.out, func() error { return v.run(cmd.Context(), args) })
		},
	}
	f := cmd.Flags()
	v.formats.flags(cmd)
	v.program.register(f)
	v.keeper.flags(cmd, "the run that fails")
	f.StringVar(&v.protocol, "protocol", "", "the protocol to run instead of the scenario's own (see isr-sim list)")
	f.Uint64Var(&v.seed, "seed", 1, "the seed of random TTL lags; schedules need none")
	f.IntVar(&v.schedules, "schedules", 0, "end a search after this number of schedules (default: no bound)")
	f.IntVar(&v.states, "states", 0, "end a search after this number of states, which bounds its memory (default: no bound)")
	f.DurationVar(&v.time, "time", 0, "end a search after this time, such as 10m (default: no bound)")
	return cmd
}

func (v *proveCommand) run(ctx context.Context, names []string) error {
	switch {
	case v.schedules < 0:
		return usage(fmt.Errorf("--schedules: found %d, expected at least 1 (or 0 for no bound)", v.schedules), "")
	case v.states < 0:
		return usage(fmt.Errorf("--states: found %d, expected at least 1 (or 0 for no bound)", v.states), "")
	case v.time < 0:
		return usage(fmt.Errorf("--time: found %v, expected more than 0s (or 0s for no bound)", v.time), "")
	}
	defer v.program.close()
	p, err := v.program.protocol(ctx, v.stderr, v.protocol)
	if err != nil {
		return err
	}
	scenarios, names, err := loadScenarios(names)
	if err != nil {
		return err
	}
	if err := v.keeper.ready(len(scenarios) > 1); err != nil {
		return err
	}
	defer heap.CollectRarely()()
	fmt.Fprintf(v.out, "seed %d\n%s\n", v.seed, prose.ProofHeader())
	return inTurn(ctx, v.out, scenarios, func(i int) (*campaign.Report, int, error) { return v.one(ctx, scenarios[i], names[i], p) })
}

// one searches one scenario and returns its exit code, and no report if a run broke off. An error ends the command.
func (v *proveCommand) one(ctx context.Context, s *scenario.Scenario, name string, p isr.Protocol) (*campaign.Report, int, error) {
	if v.time > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, v.time, fmt.Errorf("the bound of %v of time was met", v.time))
		defer stop()
	}
	remove := progress.Wait(v.stderr, "searching "+s.Name)
	proof, err := campaign.Prove{Scenario: s, Protocol: p, Seed: v.seed, MaxSchedules: v.schedules, MaxStates: v.states}.Run(ctx)
	remove()
	if brokeOff(v.out, err, name) {
		v.formats.add(ofBroken(err, s, p.Name, name))
		return nil, exitUnknown, nil
	}
	if err != nil {
		return nil, 0, unknown(err, "")
	}
	fmt.Fprintf(v.out, "%s\n%s\n", prose.ProofRow(proof), prose.Extent(proof))
	if proof.Explored.Complete {
		fmt.Fprintf(v.out, "proved within these bounds: %s\n", strings.Join(proof.Proved(), ", "))
	}
	why := v.explain(proof, name)
	if why != "" {
		fmt.Fprintf(v.out, "\n%s\n", why)
	}
	if err := v.keeper.keepTelling(ctx, v.out, nil, &proof.Report, name); err != nil {
		return nil, 0, err
	}
	v.formats.add(v.keeper.with(ofReport(&proof.Report, name, why), s.Name+"."+proof.Protocol.Name))
	return &proof.Report, codeOf(proof.Passed(), proof.Verdict), nil
}

// explain returns the details that the row does not show, and the next commands.
func (v *proveCommand) explain(proof *campaign.Proof, name string) string {
	why := prose.Report(&proof.Report, shell.Program(), shell.Quote(name))
	switch {
	case proof.Vacuous() && proof.Protocol.Name != proof.Scenario.Protocol:
		why += fmt.Sprintf("hint: a scenario declares the marks of its own protocol (%s); another protocol may never reach them\n", proof.Scenario.Protocol)
	case proof.Vacuous():
		why += "hint: these were all schedules; wider bounds in the scenario reach more (ticks, sweeps, crashes, faults)\n"
	case proof.Verdict == invariant.OK && !proof.Passed():
		why += fmt.Sprintf("expected %s: no schedule of %s under %s violates an invariant\n", proof.Scenario.Expect, proof.Scenario.Name, proof.Protocol.Name)
	case proof.Verdict == invariant.Unknown && proof.Doubt == nil:
		why += "hint: narrower bounds in the scenario make a search short (ticks, sweeps, pauses, crashes, faults, actors)\n"
	}
	return why
}
