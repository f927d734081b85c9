package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// PCT is the probabilistic concurrency tester with bug depth d. Threads get random priorities, and the thread with the
// highest one runs. At d-1 random steps, the thread that would run falls below all others. A bug that needs d ordering
// constraints among n threads in k steps is found with a chance of at least 1/(n k^(d-1)) a run.
//
// Source: Burckhardt, Kothari, Musuvathi, Nagarakatte: A randomized scheduler with probabilistic guarantees of finding
// bugs (ASPLOS 2010).
//
// Deviation: the threads of the environment (time, sweeps, pauses and crashes) can nearly always run. With a fixed high
// priority, such a thread would take all its steps at the start of the run. So it draws a new priority after each step.
func PCT(d int) Strategy {
	return Strategy{
		Name: fmt.Sprintf("pct%d", d),
		New: func(rng *rand.Rand, expectedSteps int) Chooser {
			return &pct{rng: rng, changes: drawMoments(rng, d-1, expectedSteps)}
		},
	}
}

type pct struct {
	rng        *rand.Rand
	changes    moments   // the moments at which the running thread falls
	priorities []float64 // by thread; 0 is not drawn yet
	lowest     float64   // below every priority given so far
}

func (p *pct) Watch(Step) { p.changes.pass() }

func (p *pct) Choose(steps []Step) int {
	return p.take(steps, p.fall(steps, p.best(steps), p.changes.come()))
}

// fall lets the running thread fall n times, and returns the step of the thread that runs then.
func (p *pct) fall(steps []Step, best, n int) int {
	for range n {
		p.lowest--
		p.priorities[steps[best].Thread] = p.lowest
		best = p.best(steps)
	}
	return best
}

func (p *pct) take(steps []Step, best int) int {
	if optional(steps[best].Kind) {
		p.priorities[steps[best].Thread] = 0
	}
	return best
}

// best returns the position of a step of the thread with the highest priority. If that thread has several steps (a
// request that may also be lost), chance decides which.
func (p *pct) best(steps []Step) int {
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

// racing is a PCT in which threads fall at r steps that race and at d steps of any kind. A step races if it accesses
// something that several threads access and one of them writes, as the trial has shown. Few steps race, so each order
// of some of them has a far better chance. The steps of any kind are for bugs that an order of requests alone does not
// show, such as a clock that is read too early.
//
// Source: Ozkan, Majumdar, Oraee: Trace aware random testing for distributed systems (OOPSLA 2019),
// https://doi.org/10.1145/3360606, whose chance of finding a bug depends on the number of racing events alone.
//
// Deviation: they learn online which events race; here a trial shows it. Without a trial it is PCT.
func racing(r, d int, trial func() (races map[uint64]bool, steps int)) Strategy {
	return Strategy{
		Name: fmt.Sprintf("racing%d+%d", r, d),
		New: func(rng *rand.Rand, expectedSteps int) Chooser {
			races, n := trial()
			if n == 0 {
				return PCT(1+r+d).New(rng, expectedSteps)
			}
			return &racingPCT{pct{rng: rng, changes: drawMoments(rng, d, expectedSteps)}, races, drawMoments(rng, r, n)}
		},
	}
}

type racingPCT struct {
	pct
	races map[uint64]bool // the things about which steps race
	among moments         // steps that race
}

func (p *racingPCT) Watch(s Step) {
	p.changes.pass()
	if p.race(s) {
		p.among.pass()
	}
}

func (p *racingPCT) Choose(steps []Step) int {
	best := p.fall(steps, p.best(steps), p.changes.come())
	if p.race(steps[best]) {
		best = p.fall(steps, best, p.among.come())
	}
	return p.take(steps, best)
}

// race says whether a step races, while there are still threads to fall.
func (p *racingPCT) race(s Step) bool {
	return len(p.among.left) > 0 && global(s.Kind) &&
		slices.ContainsFunc(s.accesses(), func(a Access) bool { return p.races[a.Object] })
}

// DelayBound runs one thread for as long as it can, then the next, except for d delays at random moments: each delay
// passes over the step that was due, and takes the step that is offered after it. With few delays it first tries the
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

// Due returns the position of the next step of the default schedule: the step of the running thread, or of the next
// thread in turn. Something Planned comes before it. If no code can run, time moves. Steps that need not happen are
// never due.
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
		case optional(s.Kind):
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

// moments are steps of a run, drawn at random before it begins. They are counted in steps and not in choices. The
// number of choices differs a lot from run to run, and the number of steps much less, so that one run is a fair
// estimate for others. A moment without a choice counts at the next choice.
type moments struct {
	left []int // by the number of steps before each
	step int
}

// drawMoments draws n moments of a run of about expectedSteps steps.
func drawMoments(rng *rand.Rand, n, expectedSteps int) moments {
	m := moments{left: make([]int, n)}
	for i := range m.left {
		m.left[i] = rng.IntN(max(expectedSteps, 1))
	}
	return m
}

// pass notes that a step has been taken.
func (m *moments) pass() { m.step++ }

// come returns the number of moments that have come since its last call.
func (m *moments) come() int {
	kept := m.left[:0]
	for _, at := range m.left {
		if at > m.step {
			kept = append(kept, at)
		}
	}
	n := len(m.left) - len(kept)
	m.left = kept
	return n
}
