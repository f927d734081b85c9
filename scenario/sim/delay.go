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
			c := &delayBound{delays: make(map[int]int, d)}
			for range d {
				c.delays[1+rng.IntN(max(expectedSteps, 1))]++
			}
			return c
		},
	}
}

type delayBound struct {
	delays map[int]int // by choice, from 1
	n      int
	thread int // that runs
}

func (c *delayBound) Choose(steps []Step) int {
	c.n++
	i := (due(steps, c.thread) + c.delays[c.n]) % len(steps)
	c.thread = steps[i].Thread
	return i
}
