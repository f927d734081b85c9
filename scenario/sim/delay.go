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
	i := (Due(steps, c.thread) + c.delays.come()) % len(steps)
	c.thread = steps[i].Thread
	return i
}

// Due returns the position of the next step of the default schedule: that of the running thread, or of the next one in
// turn. Something Planned comes before it. If no code can run, time moves. Steps that need not happen are never due.
func Due(steps []Step, running int) int {
	for i := range steps {
		if steps[i].planned {
			return i
		}
	}
	after, first := -1, -1
	for i, s := range steps {
		switch {
		case s.Kind == Tick && after < 0 && first < 0:
			return i
		case s.Kind.optional():
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
