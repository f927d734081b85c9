package sim

import (
	"math/rand/v2"
	"slices"
)

// surw is the plan of selectively uniform random walks. Each schedule is about one thing of the world, such as a row.
// Each order in which the threads access it has the same chance, if they access it as often as in the first schedule.
// The next thread to access it is drawn, with the accesses that each has left as weights, and the others wait. All
// other steps have random priorities, from when they become possible until they are taken.
//
// The thing is drawn for each schedule, with the numbers of accesses as weights. It must be written by some step, and
// accessed by half of the threads and by at least two. The first schedule, in which threads run in turn, counts the
// accesses.
//
// Source: Zhao, Wolff, Mathur, Roychoudhury: Selectively uniform concurrency testing (ASPLOS 2025), and their
// experiments, https://github.com/zhaohuanqdcn/SURW: scripts/get_var_count.py for the choice of things,
// scripts/period/bench_runner.py for the drawing, src/main.zig for accesses beyond those that were counted.
//
// Deviation: the threads of a run are known from its beginning, so the count of a thread does not include the counts of
// its children. Steps that need not happen draw a new priority at each moment, as in PCT.
func surw() Plan {
	begin := func() func(int) Strategy {
		trial := &profile{}
		return func(i int) Strategy {
			if i == 0 {
				return trial.of(DelayBound(0))
			}
			return Strategy{Name: "surw", New: func(rng *rand.Rand, _ int) Chooser {
				about, left := trial.draw(rng)
				return &selective{pos: pos{rng: rng}, about: about, left: left, next: -1}
			}}
		}
	}
	return Plan{Name: "surw", At: func(i int) Strategy { return begin()(i) }, begin: begin}
}

// profile counts how often each thread accesses each thing in a run.
type profile struct {
	Chooser
	things  []thing // in the order of their first accesses
	threads []int   // by thread: its own steps
	steps   [][]int // that access things: the places of these
}

// thing is a thing of the world in a profile.
type thing struct {
	object   uint64
	written  bool
	accesses []int // by thread
	sum      int
}

// of returns a strategy that takes the same steps as s, and counts them.
func (p *profile) of(s Strategy) Strategy {
	return Strategy{Name: s.Name, New: func(rng *rand.Rand, expectedSteps int) Chooser {
		*p = profile{Chooser: s.New(rng, expectedSteps)}
		return p
	}}
}

// Watch implements Watcher.
func (p *profile) Watch(s Step) {
	if w, ok := p.Chooser.(Watcher); ok {
		w.Watch(s)
	}
	if own(s.Kind) {
		*at(&p.threads, s.Thread)++
	}
	if !global(s.Kind) {
		return
	}
	var touched []int
	for _, a := range s.accesses() {
		i := slices.IndexFunc(p.things, func(t thing) bool { return t.object == a.Object })
		if i < 0 {
			i = len(p.things)
			p.things = append(p.things, thing{object: a.Object})
		}
		t := &p.things[i]
		*at(&t.accesses, s.Thread)++
		t.sum++
		t.written = t.written || a.Write
		touched = append(touched, i)
	}
	p.steps = append(p.steps, touched)
}

// races returns the things about which steps of several threads raced in the trial, and how many steps did.
func (p *profile) races() (races map[uint64]bool, steps int) {
	races = map[uint64]bool{}
	for _, t := range p.things {
		if t.written && positive(t.accesses) > 1 {
			races[t.object] = true
		}
	}
	for _, s := range p.steps {
		if slices.ContainsFunc(s, func(thing int) bool { return races[p.things[thing].object] }) {
			steps++
		}
	}
	return races, steps
}

// draw draws a thing of interest, and returns it with its accesses by each thread; 0 if there is none.
func (p *profile) draw(rng *rand.Rand) (object uint64, accesses []int) {
	few := max(2, positive(p.threads)/2)
	weights := make([]int, len(p.things))
	for i, t := range p.things {
		if t.written && positive(t.accesses) >= few {
			weights[i] = t.sum
		}
	}
	i := drawWeighted(rng, weights)
	if i < 0 {
		return 0, nil
	}
	return p.things[i].object, slices.Clone(p.things[i].accesses)
}

// positive returns how many of the numbers are positive.
func positive(numbers []int) (n int) {
	for _, number := range numbers {
		n += min(number, 1)
	}
	return n
}

// drawWeighted draws a place with the given weights, -1 if they are all 0.
func drawWeighted(rng *rand.Rand, weights []int) int {
	sum := 0
	for _, n := range weights {
		sum += n
	}
	if sum == 0 {
		return -1
	}
	left := rng.IntN(sum)
	return slices.IndexFunc(weights, func(n int) bool { left -= n; return left < 0 })
}

// selective is the chooser of one schedule. It decides in which order the threads access one thing, and leaves all else
// to pos.
type selective struct {
	pos
	about uint64 // the thing, 0 is none
	left  []int  // by thread: how many accesses to the thing are left
	next  int    // the thread that accesses it next, -1 is not drawn
	waits []bool // by the place of a step: it accesses the thing, and its thread is not next; reused
}

// Choose implements Chooser.
func (c *selective) Choose(steps []Step) int {
	c.waits = append(c.waits[:0], make([]bool, len(steps))...)
	for {
		i, goesOn := c.first(steps)
		if !goesOn && slices.Contains(c.waits, true) { // the next thread waits for a step of another one
			c.next = c.drawWaiting(steps)
			clear(c.waits)
			continue
		}
		if c.concerns(steps[i]) {
			if n := at(&c.left, steps[i].Thread); *n == 0 {
				*n = 1
			}
			if c.next < 0 {
				c.next = drawWeighted(c.rng, c.left)
			}
			if c.waits[i] = c.next != steps[i].Thread; c.waits[i] {
				continue
			}
		}
		for _, s := range steps {
			if s.optional() {
				clear(c.priorities[s.Thread])
			}
		}
		return i
	}
}

// first returns the place of the step with the highest priority among those that do not wait, and says whether one of
// them has to happen.
func (c *selective) first(steps []Step) (best int, goesOn bool) {
	highest, nth := 0.0, 0
	for i, s := range steps {
		if nth++; i == 0 || steps[i-1].Thread != s.Thread {
			nth = 0
		}
		priority := c.priority(s.Thread, nth)
		if c.waits[i] {
			continue
		}
		goesOn = goesOn || !s.optional()
		if priority > highest {
			best, highest = i, priority
		}
	}
	return best, goesOn
}

// concerns says whether a step accesses the thing.
func (c *selective) concerns(s Step) bool {
	return c.about != 0 && global(s.Kind) &&
		slices.ContainsFunc(s.accesses(), func(a Access) bool { return a.Object == c.about })
}

// drawWaiting draws one of the threads that wait.
func (c *selective) drawWaiting(steps []Step) int {
	var weights []int
	for i, s := range steps {
		if c.waits[i] {
			*at(&weights, s.Thread) = c.left[s.Thread]
		}
	}
	return drawWeighted(c.rng, weights)
}

// Watch implements Watcher.
func (c *selective) Watch(s Step) {
	if s.Thread < len(c.priorities) {
		clear(c.priorities[s.Thread])
	}
	if c.concerns(s) {
		n := at(&c.left, s.Thread)
		*n = max(*n-1, 0)
		c.next = -1
	}
}
