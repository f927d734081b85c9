package sim

import (
	"fmt"
	"math/rand/v2"
)

// DelayBound runs one thread for as long as it can, then the next, except for d delays at random moments: each delay
// passes over the step that was due, and takes the step that is offered after it. With few delays it tries first the
// case that programmers think of last: one event that comes late. It misses bugs that need more than d delays.
//
// Source: Emmi, Qadeer, Rakamarić: Delay-bounded scheduling (POPL 2011).
func DelayBound(d int) Strategy {
	return Strategy{
		Name: fmt.Sprintf("delay%d", d),
		New: func(rng *rand.Rand, expectedSteps int) Chooser {
			return &delayBound{delays: drawMoments(rng, d, expectedSteps)}
		},
	}
}

type delayBound struct {
	delays moments
	thread int // that runs
}

func (c *delayBound) Watch(Step) { c.delays.pass() }

func (c *delayBound) Choose(steps []Step) int {
	i := (due(steps, c.thread) + c.delays.come()) % len(steps)
	c.thread = steps[i].Thread
	return i
}
