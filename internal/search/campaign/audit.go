package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/reschedule"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// audit runs a schedule of a search once more, from its beginning and without memory. An error says where that run
// differs from the first one, whose text is was. If actors are interchangeable, audit then runs the schedule with their
// places exchanged, and with other names. That must lead to an equal state; otherwise some other text, such as a
// number, was taken for a name.
func (v Prove) audit(ctx context.Context, r kernel.Run, o *kernel.Outcome, was string) error {
	result, whole := o.Result, v.probe(sim.Memory{Afresh: true})
	if whole.Unvisited = result.End == sim.Abandoned; whole.Unvisited {
		if r.Steps = result.Steps; r.Steps == 0 { // no step was taken, as where a certificate lacks the first state
			return nil
		}
	}
	var err error
	recorded, _ := reschedule.Record(strategy.Replay(result.Choices), func(s sim.Strategy) (sim.Result, bool) {
		r.Strategy = s
		_, err = r.Do(hooks.With(ctx, whole))
		return result, true
	})
	switch {
	case err != nil:
		return v.nondeterministic(worthSaying(o), result,
			fmt.Sprintf("%v, and without what nodes did in other runs it broke: %v", o.Verdict, err))
	case whole.Whole() != was:
		return v.nondeterministic(worthSaying(o), result, schedules.FirstDifference(was, whole.Whole()))
	case len(whole.Symmetric) == 0:
		return nil
	}
	swapped, state := v.probe(sim.Memory{Afresh: true}), whole.State() // the second run uses the memory of the first
	swapped.Unvisited = whole.Unvisited
	r.Scenario, r.Strategy = v.renamed(whole.Symmetric), reschedule.Follow(v.swap(recorded.Moves, whole.Symmetric))
	if _, err := r.Do(hooks.With(ctx, swapped)); err != nil || swapped.State() != state {
		return &sim.TakenError{Off: sim.InterchangeableActors,
			Why: "machines in each other's place, with other names, come to another state"}
	}
	return nil
}

// worthSaying returns an outcome that is worth reporting although its run cannot be repeated; nil if it is not.
func worthSaying(o *kernel.Outcome) *kernel.Outcome {
	if o.Verdict == invariant.Violated {
		return o
	}
	return nil
}

// anew is the suffix of renamed actors.
const anew = "-anew"

// renamed is the scenario with other names for the interchangeable actors.
func (v Prove) renamed(class map[string]int) *spec.Scenario {
	s := *v.Scenario
	s.Actors = slices.Clone(s.Actors)
	for i := range s.Actors {
		if a := &s.Actors[i]; class[a.Name] > 0 {
			a.Name += anew
		}
	}
	return &s
}

// swap gives the steps of each interchangeable actor to the next actor of its class, under that actor's new name.
func (v Prove) swap(moves []sim.Move, class map[string]int) []sim.Move {
	first, next, last := map[int]string{}, map[string]string{}, map[int]string{}
	for _, a := range v.Scenario.Actors {
		c := class[a.Name]
		if first[c] == "" {
			first[c] = a.Name
		}
		next[last[c]], last[c], next[a.Name] = a.Name, a.Name, first[c]
	}
	moves = slices.Clone(moves)
	for i := range moves {
		name, life, again := strings.Cut(moves[i].Name, ".")
		if class[name] == 0 {
			continue
		}
		if moves[i].Name = next[name] + anew; again {
			moves[i].Name += "." + life
		}
	}
	return moves
}

// again repeats the run of o, which the search may have abandoned, to its end, with a trace for the digest. If the
// verdicts agree it returns the repetition; otherwise it returns o, or an error if o is violated, because no later step
// undoes a violation. There are three exceptions. If rows that fit no mapping make the repetition unknown, it returns
// o. If the invariant is the caller's, which may concern the end of a run, it returns the repetition. It also does if
// only the repetition is violated.
func (v Prove) again(ctx context.Context, o *kernel.Outcome) (*kernel.Outcome, error) {
	whole, err := v.replay(ctx, o.Result.Choices)
	switch {
	case err == nil && (whole.Verdict == o.Verdict || whole.Verdict == invariant.Violated ||
		o.Result.End == sim.Abandoned && v.byCaller(o)):
		return whole, nil
	case o.Verdict != invariant.Violated, errors.Is(err, sim.ErrLeft), err == nil && whole.Verdict == invariant.Unknown:
		return o, nil
	case err != nil:
		return nil, v.nondeterministic(o, o.Result,
			fmt.Sprintf("violated: %s, and then it broke: %v", o.Violation.Invariant.Name, err))
	default:
		return nil, v.nondeterministic(o, o.Result,
			fmt.Sprintf("violated: %s, and then %v", o.Violation.Invariant.Name, whole.Verdict))
	}
}

// byCaller reports whether a verdict other than ok comes from one of the caller's invariants.
func (v Prove) byCaller(o *kernel.Outcome) bool {
	return slices.ContainsFunc(v.Invariants, func(inv invariant.Invariant) bool {
		if o.Violation != nil {
			return o.Violation.Invariant.Name == inv.Name
		}
		return strings.HasPrefix(o.Why, inv.Name+": ")
	})
}

// unrepeatable rewords the error of a run that differed from another run of the same schedule.
func (v Prove) unrepeatable(err error) error {
	broken, is := errors.AsType[*kernel.BrokenError](err)
	diverged, did := errors.AsType[*sim.DivergedError](err)
	if !is || !did {
		return err
	}
	return v.nondeterministic(nil, broken.Result, diverged.Error())
}

func (v Prove) nondeterministic(o *kernel.Outcome, result sim.Result, difference string) error {
	result.Err = &kernel.NondeterminismError{Found: o, Difference: difference}
	return schedules.Broken(v.Scenario, v.Protocol, v.Options, result)
}
