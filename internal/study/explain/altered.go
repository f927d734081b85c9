package explain

import (
	"math/rand/v2"
	"slices"

	"github.com/isr-sim/isr-sim/internal/search/reschedule"
	"github.com/isr-sim/isr-sim/internal/sim"
)

// until is a strategy in two parts: it follows the strategy first for the given number of steps, and the strategy then
// after that.
func until(steps int, first, then sim.Strategy) sim.Strategy {
	return sim.Strategy{Name: then.Name, New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
		return &turn{left: steps, first: first.New(rng, expectedSteps), then: then.New(rng, expectedSteps)}
	}}
}

// turn implements sim.Chooser and sim.Watcher.
type turn struct {
	left        int
	first, then sim.Chooser
}

func (t *turn) Choose(steps []sim.Step) int {
	if t.left > 0 {
		return t.first.Choose(steps)
	}
	return t.then.Choose(steps)
}

func (t *turn) Watch(s sim.Step) {
	t.left--
	watch(t.first, s)
	watch(t.then, s)
}

func watch(c sim.Chooser, s sim.Step) {
	if w, ok := c.(sim.Watcher); ok {
		w.Watch(s)
	}
}

// avoiding is a strategy that takes a given move, and moves like it, at most the given number of times. Time still
// moves when no actor can run.
func (w *witness) avoiding(move sim.Move, times int, s sim.Strategy) sim.Strategy {
	return sim.Strategy{Name: s.Name, New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
		return &avoid{move: w.alike(move), alike: w.alike, times: times, then: s.New(rng, expectedSteps)}
	}}
}

// avoid implements sim.Chooser and sim.Watcher.
type avoid struct {
	move  sim.Move
	alike func(sim.Move) sim.Move
	times int // how often the move may still be taken
	early bool
	then  sim.Chooser
	left  []sim.Step
	at    []int // the positions of the remaining steps among all steps
}

func (a *avoid) Choose(steps []sim.Step) int {
	a.early = slices.ContainsFunc(steps, canRun)
	if a.times > 0 || a.move.Kind == sim.Tick && !a.early {
		return a.then.Choose(steps)
	}
	a.left, a.at = a.left[:0], a.at[:0]
	for i, s := range steps {
		if a.alike(s.Move()) != a.move {
			a.left, a.at = append(a.left, s), append(a.at, i)
		}
	}
	if len(a.left) == len(steps) || len(a.left) == 0 {
		return a.then.Choose(steps)
	}
	i := a.then.Choose(a.left)
	switch {
	case i < 0:
		return i
	case i >= len(a.at):
		return i - len(a.at) + len(steps) // a further tick, or no step at all: the run reports that
	default:
		return a.at[i]
	}
}

func (a *avoid) Watch(s sim.Step) {
	if a.alike(s.Move()) == a.move && (a.move.Kind != sim.Tick || a.early) {
		a.times--
	}
	a.early = false
	watch(a.then, s)
}

// staying is the strategy without one context switch: after the given number of steps, the code of the actor runs for
// as long as it can.
func staying(after int, actor string, s sim.Strategy) sim.Strategy {
	return sim.Strategy{Name: s.Name, New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
		return &stay{wait: after, actor: actor, then: s.New(rng, expectedSteps)}
	}}
}

// stay implements sim.Chooser and sim.Watcher.
type stay struct {
	wait  int // steps until the context switch
	actor string
	over  bool
	then  sim.Chooser
}

func (st *stay) Choose(steps []sim.Step) int {
	if st.wait <= 0 && !st.over {
		if i := ofCode(steps, st.actor); i >= 0 {
			return i
		}
		st.over = true
	}
	return st.then.Choose(steps)
}

func (st *stay) Watch(s sim.Step) {
	if st.wait--; st.wait < 0 && isCode(s.Kind) && s.Actor() != st.actor {
		st.over = true
	}
	watch(st.then, s)
}

// without follows the recorded schedule up to the step cut, but without the event. From there on it follows the
// strategy then, still without the event.
func (w *witness) without(event optionalEvent, cut int, then sim.Strategy) sim.Strategy {
	if event.from != "" {
		return staying(event.step, event.from, until(cut, reschedule.Follow(w.moves), then))
	}
	moves := slices.Clone(w.moves)
	if moves[event.step].Kind == sim.Effect {
		moves[event.step].Outcome = 0 // the request takes effect, but no fault strikes
	} else {
		moves = slices.Delete(moves, event.step, event.step+1)
	}
	before, after := w.same(event)
	return w.avoiding(event.move, before+after, until(cut, reschedule.Follow(moves), then))
}
