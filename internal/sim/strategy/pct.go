package strategy

import (
	"fmt"
	"math/rand/v2"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// PCT is the probabilistic concurrency tester with bug depth d. Threads get random priorities, and the thread with the
// highest one runs. At d-1 random steps, the thread that would run falls below all others. A bug that needs d ordering
// constraints among n threads in k steps is found with a chance of at least 1/(n k^(d-1)) per run.
//
// Source: Burckhardt, Kothari, Musuvathi, Nagarakatte: A randomized scheduler with probabilistic guarantees of finding
// bugs (ASPLOS 2010).
//
// Deviation: the threads of the environment (time, sweeps, pauses and crashes) can nearly always run. With a fixed high
// priority, such a thread would take all its steps at the start of the run. So it draws a new priority after each step.
func PCT(d int) sim.Strategy {
	return sim.Strategy{
		Name: fmt.Sprintf("pct%d", d),
		New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
			return &pct{rng: rng, changes: drawMoments(rng, d-1, expectedSteps)}
		},
	}
}

type pct struct {
	rng        *rand.Rand
	changes    moments   // the moments at which the running thread falls
	priorities []float64 // by thread; 0 means not drawn yet
	lowest     float64   // below every priority given so far
}

func (p *pct) Watch(sim.Step) { p.changes.pass() }

func (p *pct) Choose(steps []sim.Step) int {
	return p.take(steps, p.fall(steps, p.best(steps), p.changes.come()))
}

// fall lets the running thread fall n times, and returns the step of the thread that runs then.
func (p *pct) fall(steps []sim.Step, best, n int) int {
	for range n {
		p.lowest--
		p.priorities[steps[best].Thread] = p.lowest
		best = p.best(steps)
	}
	return best
}

func (p *pct) take(steps []sim.Step, best int) int {
	if s := &steps[best]; s.Optional() || s.Planned() {
		p.priorities[steps[best].Thread] = 0
	}
	return best
}

// best returns the position of a step of the thread with the highest priority. If that thread has several steps (a
// request that may also be lost), chance decides which.
func (p *pct) best(steps []sim.Step) int {
	best, same := 0, 0
	for i, s := range steps {
		switch a, b := p.priority(s.Thread), p.priority(steps[best].Thread); {
		case s.Thread == steps[best].Thread:
			same++
			if p.rng.IntN(same) == 0 {
				best = i
			}
		case a > b:
			best, same = i, 1
		}
	}
	return best
}

func (p *pct) priority(thread int) float64 {
	for len(p.priorities) <= thread {
		p.priorities = append(p.priorities, 0)
	}
	if p.priorities[thread] == 0 {
		p.priorities[thread] = 1 - p.rng.Float64() // in (0, 1]
	}
	return p.priorities[thread]
}
