package strategy

import (
	"fmt"
	"math/rand/v2"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// DelayBound runs one thread for as long as it can, then the next, except for d delays at random moments: each delay
// passes over the step that was due, and takes the step that is offered after it. With few delays it first tries the
// case that programmers think of last: one event that comes late. It misses bugs that need more than d delays.
//
// Source: Emmi, Qadeer, Rakamarić: Delay-bounded scheduling (POPL 2011).
func DelayBound(d int) sim.Strategy {
	return sim.Strategy{
		Name: fmt.Sprintf("delay%d", d),
		New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
			return &delayBound{delays: drawMoments(rng, d, expectedSteps)}
		},
	}
}

type delayBound struct {
	delays moments
	thread int // the running thread
}

func (c *delayBound) Watch(sim.Step) { c.delays.pass() }

func (c *delayBound) Choose(steps []sim.Step) int {
	i := (Due(steps, c.thread) + c.delays.come()) % len(steps)
	c.thread = steps[i].Thread
	return i
}

// Due returns the position of the next step of the default schedule: the step of the running thread, or of the next
// thread in turn. Something Planned comes before it. If no code can run, time moves. Steps that need not happen are
// never due.
func Due(steps []sim.Step, running int) int {
	for i := range steps {
		if steps[i].Planned() {
			return i
		}
	}
	after, first := -1, -1
	for i, s := range steps {
		switch {
		case s.Kind == sim.Tick && after < 0 && first < 0:
			return i
		case s.Optional():
		case s.Thread == running:
			return i
		case s.Thread > running && after < 0:
			after = i
		case first < 0:
			first = i
		}
	}
	if after >= 0 {
		return after
	}
	return max(first, 0)
}
