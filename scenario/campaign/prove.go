package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/isr-sim/isr-sim/internal/probe"
	"github.com/isr-sim/isr-sim/internal/schedules"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Prove runs every schedule that a scenario's bounds admit (ticks, sweeps, steps, each actor's pauses, crashes,
// restarts and clock steps, each possible fault's times), until one violates an invariant or none is left. See
// sim.Exploration for the schedules that need not be run, and for the assumptions of a proof.
//
//	proof, err := campaign.Prove{Scenario: s, Seed: 1}.Run(ctx)
//	fmt.Println(proof.Summary(), proof.Explored.Complete, proof.Explored.States)
//
// # Limits
//
// It holds for the protocol's code as it is, with one seed: the lags of TTL that are drawn at random are drawn once. It
// takes one core, and some 150 bytes of memory for each state.
type Prove struct {
	Scenario *scenario.Scenario
	// Protocol is the protocol to run; the zero Protocol is the scenario's own.
	Protocol isr.Protocol
	// Seed is the seed of random TTL lags. The schedules need none.
	Seed uint64
	// MaxSchedules and MaxStates, if positive, end the search.
	MaxSchedules, MaxStates int
	// Progress, if set, is called after each schedule with the progress of the search.
	Progress func(sim.Explored)

	off sim.Reduction // for tests
}

// Proof is the result of a search. Its verdict is ok only if the search is complete.
type Proof struct {
	Report
	Explored sim.Explored
}

// Run searches. A context that is over ends the search between two schedules: the verdict is then unknown, and Why
// names the context's cause. An error is not a verdict; see scenario.Run.Do.
func (v Prove) Run(ctx context.Context) (*Proof, error) {
	s := v.Scenario
	protocol, err := schedules.ProtocolOf(s, v.Protocol)
	if err != nil {
		return nil, err
	}
	v.Protocol = protocol
	proof := &Proof{Report: Report{Scenario: s, Protocol: v.Protocol, Seed: v.Seed, Verdict: invariant.OK, unjudged: judgesNothing(s, scenario.Options{})}}
	x := sim.Exploration{MaxSchedules: v.MaxSchedules, MaxStates: v.MaxStates, Off: v.off}
	var pool scenario.Pool
	defer pool.Close()
	searching := probe.With(ctx, &probe.Probe{Search: true})
	for ctx.Err() == nil && x.Next() {
		strategy := x.Strategy()
		run := scenario.Run{Scenario: s, Protocol: v.Protocol, Seed: v.Seed, Strategy: strategy}
		o, err := pool.Do(searching, run)
		if err != nil {
			return nil, err
		}
		if o.Verdict != invariant.OK && (proof.Doubt == nil || o.Verdict == invariant.Violated) {
			o = again(ctx, run, o)
		}
		proof.add(o)
		if v.Progress != nil {
			v.Progress(x.Explored())
		}
		if o.Verdict == invariant.Violated {
			proof.Explored = x.Explored()
			proof.Failure, proof.FailedAt, proof.FailureStrategy = o, proof.Schedules, strategy.Name
			return proof, nil
		}
	}
	proof.Explored = x.Explored()
	if proof.Explored.Complete {
		proof.Missing = schedules.Missing(s.Reach, proof.total.Marks.Has)
		return proof, nil
	}
	proof.Missing, proof.Unmet = nil, nil // schedules that were not run may reach them
	if proof.Verdict == invariant.OK {
		proof.Verdict, proof.Why = invariant.Unknown, v.ended(ctx, proof.Explored)
	}
	return proof, nil
}

// again runs a schedule that was abandoned, to its end and with a trace, for its digest. It returns o if the verdict is
// then another one.
func again(ctx context.Context, r scenario.Run, o *scenario.Outcome) *scenario.Outcome {
	r.Strategy, r.Trace = sim.Replay(o.Result.Choices), io.Discard
	whole, err := r.Do(ctx)
	if err != nil || whole.Verdict != o.Verdict {
		return o
	}
	return whole
}

// ended names the reason why the search ended before it was complete.
func (v Prove) ended(ctx context.Context, e sim.Explored) string {
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return "interrupted"
	case ctx.Err() != nil:
		return context.Cause(ctx).Error()
	case v.MaxSchedules > 0 && e.Schedules >= v.MaxSchedules:
		return fmt.Sprintf("the bound of %d schedules was met", v.MaxSchedules)
	default:
		return fmt.Sprintf("the bound of %d states was met", v.MaxStates)
	}
}

// Proved returns the names of the invariants that the search is exhaustive for. Others depend on the order in which
// different nodes do something at the same instant, of which a search runs one.
func (p *Proof) Proved() (names []string) {
	for _, inv := range invariant.All() {
		asked := (p.Scenario.Settle > 0 || inv.Name != invariant.Liveness().Name) && !slices.Contains(p.Scenario.Without, inv.Name) &&
			(p.Scenario.Invariants == nil || slices.Contains(p.Scenario.Invariants, inv.Name))
		if inv.Memory != nil && asked {
			names = append(names, inv.Name)
		}
	}
	return names
}
