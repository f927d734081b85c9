package explain

import (
	"math/rand/v2"
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// witness records the events of a run that need not have happened, while another chooser decides the run.
type witness struct {
	chooser sim.Chooser
	moves   []sim.Move // every step
	events  []optionalEvent
	running string // the actor whose code ran in the latest step of any code
	early   bool   // the next step is a choice, and an actor can run
	goesOn  bool   // the next step is a choice, and the running actor's code can go on
	faults  int    // the number of faults that the schedule may choose from
}

// optionalEvent is a step that need not have been taken.
type optionalEvent struct {
	step int // its position among the moves
	move sim.Move
	// from is the actor whose code could have gone on, if the event is a context switch.
	from string
}

// witnessed is the strategy with a witness that watches its latest run.
func witnessed(s sim.Strategy, seen **witness) sim.Strategy {
	if s.New == nil {
		s = sim.RandomWalk
	}
	return sim.Strategy{Name: s.Name, New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
		*seen = &witness{chooser: s.New(rng, expectedSteps)}
		return *seen
	}}
}

func (w *witness) Choose(steps []sim.Step) int {
	w.early = slices.ContainsFunc(steps, canRun)
	w.goesOn = ofCode(steps, w.running) >= 0
	return w.chooser.Choose(steps)
}

func (w *witness) Watch(s sim.Step) {
	move, at := s.Move(), len(w.moves)
	if mayBeLeftOut(move, w.early) {
		w.events = append(w.events, optionalEvent{step: at, move: move})
	}
	if isCode(move.Kind) {
		if w.goesOn && s.Actor() != w.running {
			w.events = append(w.events, optionalEvent{step: at, move: move, from: w.running})
		}
		w.running = s.Actor()
	}
	w.moves, w.early, w.goesOn = append(w.moves, move), false, false
	if watcher, ok := w.chooser.(sim.Watcher); ok {
		watcher.Watch(s)
	}
}

// same counts the other steps with the move of an event. Steps of time count only if an actor could run.
func (w *witness) same(event optionalEvent) (before, after int) {
	for _, other := range w.events {
		switch {
		case other.from != "" || other.step == event.step || w.alike(other.move) != w.alike(event.move):
		case other.step < event.step:
			before++
		default:
			after++
		}
	}
	return before, after
}

// alike maps moves that differ only in which request of a batch a fault strikes to one of them.
func (w *witness) alike(m sim.Move) sim.Move {
	if m.Outcome > 0 && w.faults > 0 {
		m.Outcome = (m.Outcome-1)%w.faults + 1
	}
	return m
}

// canRun reports whether the step must be taken before the run can end.
func canRun(s sim.Step) bool { return s.Kind < sim.Restart || s.Move().Planned }

// isCode reports whether a step belongs to an actor's code.
func isCode(k sim.Kind) bool { return k <= sim.Timer }

// ofCode returns the position of the first step of the actor's code without a fault, or -1.
func ofCode(steps []sim.Step, actor string) int {
	if actor == "" {
		return -1
	}
	return slices.IndexFunc(steps,
		func(s sim.Step) bool { return isCode(s.Kind) && s.Actor() == actor && s.Move().Outcome == 0 })
}

// mayBeLeftOut reports whether a step is not part of an ordinary run. Time must move when no actor can run, and only
// then.
func mayBeLeftOut(m sim.Move, early bool) bool {
	switch m.Kind {
	case sim.Tick:
		return early
	case sim.Effect:
		return m.Outcome > 0 // the schedule makes a fault strike
	default:
		return m.Kind >= sim.Restart && !m.Planned
	}
}
