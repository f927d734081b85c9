package strategy

import (
	"math/rand/v2"
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// surw is the plan of selectively uniform random walks. Each schedule concerns one thing of the world, such as a row.
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
	begin := func() func(int) sim.Strategy {
		trial := &profile{}
		return func(i int) sim.Strategy {
			if i == 0 {
				return trial.of(DelayBound(0))
			}
			return sim.Strategy{Name: "surw", New: func(rng *rand.Rand, _ int) sim.Chooser {
				about, left := trial.draw(rng)
				return &selective{pos: pos{rng: rng}, about: about, left: left, next: -1}
			}}
		}
	}
	return Plan{Name: "surw", At: func(i int) sim.Strategy { return begin()(i) }, begin: begin}
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
	about uint64 // the thing; 0 means none
	left  []int  // by thread: how many accesses to the thing are left
	next  int    // the thread that accesses it next; -1 if not drawn yet
	waits []bool // by the place of a step: it accesses the thing, and its thread is not next; reused
}

// Choose implements Chooser.
func (c *selective) Choose(steps []sim.Step) int {
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
			if s.Optional() {
				clear(c.priorities[s.Thread])
			}
		}
		return i
	}
}

// first returns the place of the step with the highest priority among those that do not wait, and says whether one of
// them has to happen.
func (c *selective) first(steps []sim.Step) (best int, goesOn bool) {
	highest, nth := 0.0, 0
	for i, s := range steps {
		if nth++; i == 0 || steps[i-1].Thread != s.Thread {
			nth = 0
		}
		priority := c.priority(s.Thread, nth)
		if c.waits[i] {
			continue
		}
		goesOn = goesOn || !s.Optional()
		if priority > highest {
			best, highest = i, priority
		}
	}
	return best, goesOn
}

// concerns says whether a step accesses the thing.
func (c *selective) concerns(s sim.Step) bool {
	return c.about != 0 &&
		slices.ContainsFunc(s.Accesses(), func(a sim.Access) bool { return a.Object == c.about })
}

// drawWaiting draws one of the threads that wait.
func (c *selective) drawWaiting(steps []sim.Step) int {
	var weights []int
	for i, s := range steps {
		if c.waits[i] {
			*at(&weights, s.Thread) = c.left[s.Thread]
		}
	}
	return drawWeighted(c.rng, weights)
}

// Watch implements Watcher.
func (c *selective) Watch(s sim.Step) {
	if s.Thread < len(c.priorities) {
		clear(c.priorities[s.Thread])
	}
	if c.concerns(s) {
		n := at(&c.left, s.Thread)
		*n = max(*n-1, 0)
		c.next = -1
	}
}
