package sim

import (
	"fmt"
	"math/rand/v2"
)

// DelayBound runs one thread for as long as it can, then the next, but for d delays at random moments: each passes over
// the step that was due, to the one that is offered after it. With few delays it tries first what programmers do not
// think of last: one thing that comes late. It misses what needs more delays than d.
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
