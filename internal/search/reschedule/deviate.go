package reschedule

import (
	"math/rand/v2"
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// Point identifies a moment of a run by the steps that the actors have taken so far, and not by the number of choices:
// it has the same meaning in a run that went another way for a while. No two moments of a run have the same Point.
type Point struct {
	actor string // the actor that took the latest step of an actor's own code; "" before the first
	steps int    // the number of steps that its code has taken
	since int    // the number of steps since then, all outside of actors' code
}

// Deviation is a moment at which a schedule leaves the default schedule, and the step that it takes there.
//
// The default schedule runs the current actor's code for as long as it can run, then the code of the next actor in
// turn. When no code can run, time moves. Optional steps are never taken: no pause, no crash, no fault, no deletion.
type Deviation struct {
	At   Point
	Move sim.Move
}

// place follows a run and knows its current moment.
type place struct {
	at     Point
	thread int            // the thread of the code that ran last
	steps  map[string]int // by actor
}

func (p *place) saw(s sim.Step) {
	if !own(s.Kind) {
		p.at.since++
		return
	}
	if p.steps == nil {
		p.steps = map[string]int{}
	}
	actor := s.Actor()
	p.steps[actor]++
	p.thread = s.Thread
	p.at = Point{actor: actor, steps: p.steps[actor]}
}

// Deviate takes the default schedule except for the given deviations. A deviation is left out if its moment does not
// come, or if its step is not possible then.
func Deviate(deviations []Deviation) sim.Strategy {
	moves := make(map[Point]sim.Move, len(deviations))
	for _, d := range deviations {
		moves[d.At] = d.Move
	}
	return strategyOf("deviate", func() sim.Chooser { return &deviate{moves: moves} })
}

type deviate struct {
	place
	moves map[Point]sim.Move
}

func (d *deviate) Watch(s sim.Step) { d.saw(s) }

func (d *deviate) Choose(steps []sim.Step) int {
	if move, ok := d.moves[d.at]; ok {
		if i := indexOf(steps, move); i >= 0 {
			return i
		}
	}
	return strategy.Due(steps, d.thread)
}

// Later yields the schedules in which the deviations from one step of an actor's code on come some steps later in that
// code: first those of one step, then those of two, and so on.
func (r *Recorded) Later(yield func(sim.Strategy) bool) {
	for by := 1; by <= len(r.Moves); by++ {
		for i, d := range r.Deviations {
			moved := slices.Clone(r.Deviations)
			for j := i; j < len(moved); j++ {
				if at := &moved[j].At; at.actor == d.At.actor {
					if at.steps == d.At.steps {
						at.since -= d.At.since
					}
					at.steps += by
				}
			}
			if d.At.actor != "" && !yield(Deviate(moved)) {
				return
			}
		}
	}
}

// Follow takes the first of the given moves that is possible, each move once. If none is possible, it takes the default
// schedule.
func Follow(moves []sim.Move) sim.Strategy {
	return strategyOf("follow", func() sim.Chooser {
		left := make([]sim.Move, len(moves))
		copy(left, moves)
		return &follow{left: left}
	})
}

type follow struct {
	place
	left []sim.Move
}

func (f *follow) Watch(s sim.Step) {
	f.saw(s)
	for i, move := range f.left {
		if move == s.Move() {
			f.left = append(f.left[:i], f.left[i+1:]...)
			return
		}
	}
}

func (f *follow) Choose(steps []sim.Step) int {
	for _, move := range f.left {
		if i := indexOf(steps, move); i >= 0 {
			return i
		}
	}
	return strategy.Due(steps, f.thread)
}

// indexOf returns the position of the step with that Move, or -1. The further ticks of a search have the positions
// after the steps.
func indexOf(steps []sim.Step, move sim.Move) int {
	is := func(s sim.Step) bool { return s.Kind == move.Kind && s.Move() == move }
	if i := slices.IndexFunc(steps, is); i >= 0 || move.Kind != sim.Tick {
		return i
	}
	if i := slices.IndexFunc(further(steps), is); i >= 0 {
		return len(steps) + i
	}
	return -1
}

// further returns the further ticks of a moment.
func further(steps []sim.Step) []sim.Step { return steps[len(steps)-1].Further() }

// own reports whether a step belongs to an actor's own code: the code starts, its request takes effect, its answer
// arrives, or it wakes.
func own(k sim.Kind) bool { return k <= sim.Timer }

// optional reports whether a step may happen but need not.
func optional(k sim.Kind) bool { return k >= sim.Restart }

// strategyOf is a strategy without randomness.
func strategyOf(name string, chooser func() sim.Chooser) sim.Strategy {
	return sim.Strategy{Name: name, New: func(*rand.Rand, int) sim.Chooser { return chooser() }}
}
