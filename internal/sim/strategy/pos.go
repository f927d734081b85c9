package strategy

import (
	"math/rand/v2"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// POS samples partial orders: each step gets a random priority when it becomes possible, the highest one is taken, and
// the steps that race with it draw again. Unlike PCT it needs no estimate of the run's length, and it spends nothing on
// the order of steps that do not touch each other.
//
// Source: Yuan, Yang, Gu: Partial order aware concurrency sampling (CAV 2018).
var POS = sim.Strategy{
	Name: "pos",
	New:  func(rng *rand.Rand, _ int) sim.Chooser { return &pos{rng: rng} },
}

type pos struct {
	rng *rand.Rand
	// priorities are the priorities of each thread's possible steps, in their order; 0 means not drawn yet.
	priorities [][]float64
}

func (p *pos) Choose(steps []sim.Step) int {
	best, highest, nth := 0, 0.0, 0
	for i, s := range steps {
		if nth++; i == 0 || steps[i-1].Thread != s.Thread {
			nth = 0
		}
		if priority := p.priority(s.Thread, nth); priority > highest {
			best, highest = i, priority
		}
	}
	for i, s := range steps {
		if i != best && s.Races(steps[best]) {
			clear(p.priorities[s.Thread])
		}
	}
	clear(p.priorities[steps[best].Thread])
	return best
}

func (p *pos) priority(thread, nth int) float64 {
	for len(p.priorities) <= thread {
		p.priorities = append(p.priorities, nil)
	}
	for len(p.priorities[thread]) <= nth {
		p.priorities[thread] = append(p.priorities[thread], 0)
	}
	if p.priorities[thread][nth] == 0 {
		p.priorities[thread][nth] = 1 - p.rng.Float64() // in (0, 1]
	}
	return p.priorities[thread][nth]
}
