package explain

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/isr-sim/isr-sim/internal/reschedule"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Event is an event of an explained run that need not have happened, with the result of leaving it out.
type Event struct {
	Step int    // its position in Steps
	What string // its actor and its kind: alice pause
	// Violated is the number of random tails that violate the invariant, of those that begin before the event and do not
	// have it. Without a move of time means that time does not move while an actor can run.
	Violated int
	// Rest says whether the rest of the schedule violates the invariant without it, as far as it still fits.
	Rest bool
}

// Needed says that without the event no run that was tried violates the invariant.
func (e Event) Needed() bool { return e.Violated == 0 && !e.Rest }

// witness records the events of a run that need not have happened, while another chooser decides it.
type witness struct {
	chooser sim.Chooser
	moves   []sim.Move // every step
	choices int
	early   bool // the step was a choice, and an actor could run
	events  []optionalEvent
}

// optionalEvent is a step that need not have been taken.
type optionalEvent struct {
	step   int // its position among the moves
	choice int // its position among the choices
	move   sim.Move
}

// witnessed is the strategy with a witness of its latest run.
func witnessed(s sim.Strategy, seen **witness) sim.Strategy {
	if s.New == nil {
		s = sim.RandomWalk
	}
	return sim.Strategy{Name: s.Name, New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
		*seen = &witness{chooser: s.New(rng, expectedSteps)}
		return *seen
	}}
}

// Choose implements sim.Chooser.
func (w *witness) Choose(steps []sim.Step) int {
	w.choices++
	w.early = slices.ContainsFunc(steps, canRun)
	return w.chooser.Choose(steps)
}

// Watch implements sim.Watcher.
func (w *witness) Watch(s sim.Step) {
	move := s.Move()
	if mayBeLeftOut(move, w.early) {
		w.events = append(w.events, optionalEvent{len(w.moves), w.choices - 1, move})
	}
	w.moves, w.early = append(w.moves, move), false
	if watcher, ok := w.chooser.(sim.Watcher); ok {
		watcher.Watch(s)
	}
}

// canRun says whether a run cannot end before the step is taken.
func canRun(s sim.Step) bool { return s.Kind < sim.Restart }

// mayBeLeftOut says whether a step is not part of an ordinary run. Time moves when no actor can run, and need not move
// before.
func mayBeLeftOut(m sim.Move, early bool) bool {
	switch m.Kind {
	case sim.Tick:
		return early
	case sim.Effect:
		return m.Outcome > 0 // the schedule has a fault strike
	default:
		return m.Kind >= sim.Restart
	}
}

// without leaves out each event, one at a time.
func (e Explain) without(ctx context.Context, o *scenario.Outcome, seen *witness) ([]Event, error) {
	if len(seen.events) == 0 {
		return nil, nil
	}
	tails, err := e.count(ctx, o, len(seen.events), e.Tails, func(nth, tail int) sim.Strategy {
		event := seen.events[nth]
		rng := sim.Stream(sim.Derive(e.Failed.Seed, nth*e.Tails+tail), "explain without")
		return sim.Prefix(o.Result.Choices[:event.choice], avoiding(event.move, sim.RandomWalk.From(rng)))
	})
	if err != nil {
		return nil, err
	}
	recorded, ok := reschedule.Record(e.Failed.Strategy, func(s sim.Strategy) (sim.Result, bool) {
		run := e.Failed
		run.Trace, run.Strategy = nil, s
		var again *scenario.Outcome
		again, err = run.Do(ctx)
		if err != nil {
			return sim.Result{}, false
		}
		return again.Result, true
	})
	if !ok {
		return nil, err
	}
	rests, err := e.count(ctx, o, len(seen.events), 2, func(nth, way int) sim.Strategy {
		event := seen.events[nth]
		if way == 0 {
			return reschedule.Follow(slices.Delete(slices.Clone(recorded.Moves), event.step, event.step+1))
		}
		return reschedule.Deviate(withoutNth(recorded.Deviations, event.move, seen.before(nth)))
	})
	if err != nil {
		return nil, err
	}
	events := make([]Event, len(seen.events))
	for i, event := range seen.events {
		events[i] = Event{Step: event.step, What: e.what(event.move), Violated: tails[i], Rest: rests[i] > 0}
	}
	return events, nil
}

// before counts the same moves among the events before the nth.
func (w *witness) before(nth int) (same int) {
	for _, event := range w.events[:nth] {
		if event.move == w.events[nth].move {
			same++
		}
	}
	return same
}

// withoutNth leaves out the nth deviation, from 0, that makes the move.
func withoutNth(deviations []reschedule.Deviation, move sim.Move, nth int) []reschedule.Deviation {
	return slices.DeleteFunc(slices.Clone(deviations), func(d reschedule.Deviation) bool {
		if d.Move != move {
			return false
		}
		nth--
		return nth == -1
	})
}

// what names an event: its actor, and its kind or the fault that strikes.
func (e Explain) what(m sim.Move) string {
	kind := m.Kind.String()
	if m.Kind == sim.Effect {
		possible := slices.DeleteFunc(slices.Clone(e.Failed.Scenario.Faults), func(f scenario.Fault) bool { return !f.Maybe })
		if m.Outcome <= len(possible) {
			f := possible[m.Outcome-1]
			if kind = string(f.Dependency); kind == "" {
				kind = f.Kind.String()
			}
		}
	}
	return m.Name + " " + kind
}

// avoiding is the strategy without a move. Time still moves where no actor can run.
func avoiding(move sim.Move, s sim.Strategy) sim.Strategy {
	return sim.Strategy{Name: s.Name, New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
		return &avoid{move: move, then: s.New(rng, expectedSteps)}
	}}
}

type avoid struct {
	move sim.Move
	then sim.Chooser
	left []sim.Step
	at   []int // where they are among all steps
}

// Choose implements sim.Chooser.
func (a *avoid) Choose(steps []sim.Step) int {
	a.left, a.at = a.left[:0], a.at[:0]
	runs := false
	for i, s := range steps {
		if s.Move() == a.move {
			continue
		}
		runs = runs || canRun(s)
		a.left, a.at = append(a.left, s), append(a.at, i)
	}
	if a.move.Kind == sim.Tick && !runs {
		return a.then.Choose(steps)
	}
	return a.at[a.then.Choose(a.left)]
}
