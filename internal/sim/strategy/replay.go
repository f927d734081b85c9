package strategy

import (
	"math/rand/v2"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// Replay takes the given choices. After the last one it takes the first possible step, so a prefix of a schedule is a
// schedule too. A choice that is not possible ends the run with a *sim.DivergedError.
func Replay(choices sim.Choices) sim.Strategy {
	return sim.Strategy{Name: "replay", New: func(*rand.Rand, int) sim.Chooser { return &replay{left: choices} }}
}

type replay struct{ left sim.Choices }

func (r *replay) Choose(steps []sim.Step) int {
	if len(r.left) == 0 {
		return 0
	}
	next := r.left[0]
	r.left = r.left[1:]
	return next
}

// Prefix takes the given choices, and then the choices of another strategy.
func Prefix(choices sim.Choices, then sim.Strategy) sim.Strategy {
	return sim.Strategy{
		Name: "replay, then " + then.Name,
		New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
			return &prefix{replay{left: choices}, then.New(rng, expectedSteps)}
		},
	}
}

type prefix struct {
	replay
	then sim.Chooser
}

func (p *prefix) Choose(steps []sim.Step) int {
	if len(p.left) == 0 {
		return p.then.Choose(steps)
	}
	return p.replay.Choose(steps)
}

func (p *prefix) Watch(s sim.Step) {
	if w, ok := p.then.(sim.Watcher); ok {
		w.Watch(s)
	}
}
