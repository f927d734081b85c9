package sim

import (
	"fmt"
	"math/rand/v2"
)

// Replay takes the given choices. After the last one it takes the first possible step, so a prefix of a schedule is a
// schedule too. A choice that is not possible ends the run with a *DivergedError.
func Replay(choices Choices) Strategy {
	return strategyOf("replay", func() Chooser { return &replay{left: choices} })
}

type replay struct{ left Choices }

func (r *replay) Choose(steps []Step) int {
	if len(r.left) == 0 {
		return 0
	}
	next := r.left[0]
	r.left = r.left[1:]
	return next
}

// Prefix takes the given choices, and then the choices of another strategy.
func Prefix(choices Choices, then Strategy) Strategy {
	return Strategy{
		Name: "replay, then " + then.Name,
		New: func(rng *rand.Rand, expectedSteps int) Chooser {
			return &prefix{replay{left: choices}, then.New(rng, expectedSteps)}
		},
	}
}

type prefix struct {
	replay
	then Chooser
}

func (p *prefix) Choose(steps []Step) int {
	if len(p.left) == 0 {
		return p.then.Choose(steps)
	}
	return p.replay.Choose(steps)
}

func (p *prefix) Watch(s Step) {
	if w, ok := p.then.(Watcher); ok {
		w.Watch(s)
	}
}

// DivergedError says that a replayed schedule does not fit the run: the scenario, the protocol or the simulator has
// changed since it was recorded; or that a run of an Exploration cannot be repeated.
type DivergedError struct {
	step    int // the step that could not be taken, from 1
	choice  int // the position that was asked for
	options int // the number of steps that were possible
	// differs says in which way a run of an Exploration is not the same as another one; "" for a replay.
	differs string
}

func (e *DivergedError) Error() string {
	if e.differs != "" {
		return fmt.Sprintf("the run cannot be repeated: at step %d %s", e.step, e.differs)
	}
	return fmt.Sprintf("the schedule does not fit: at step %d it takes option %d, but only %d were possible (0 to %d); "+
		"it was recorded for another scenario, protocol or version", e.step, e.choice, e.options, e.options-1)
}
