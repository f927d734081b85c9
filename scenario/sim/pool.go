package sim

import "iter"

// Pool lends runs their coroutines, one run after another: to start a coroutine
// and to grow its stack is a good part of what a short run costs. It also keeps
// the room for the Sim itself, for its actors and for its steps. No run can tell
// whether others had before what it was lent, and nothing of one may be used when
// the next has been made. The zero Pool is ready; Close ends what is left of it.
type Pool struct {
	idle  []*coroutine
	sim   *Sim
	steps []Step // room for those of one moment
}

// room returns what the next Sim is made of: what it has is that of the last one.
func (c *Pool) room() *Sim {
	if c.sim == nil {
		c.sim = new(Sim)
	}
	return c.sim
}

// Close ends the coroutines. The Pool can be used again.
func (c *Pool) Close() {
	for _, co := range c.idle {
		co.stop()
	}
	*c = Pool{}
}

// lend returns a coroutine that runs p's code when it is resumed.
func (c *Pool) lend(p *Proc) *coroutine {
	last := len(c.idle) - 1
	if last < 0 {
		return newCoroutine(p)
	}
	co := c.idle[last]
	c.idle = c.idle[:last]
	co.proc = p
	return co
}

// back takes back a coroutine whose proc's code has come to its end.
func (c *Pool) back(co *coroutine) {
	co.proc = nil
	c.idle = append(c.idle, co)
}

// coroutine runs the code of one proc after another.
type coroutine struct {
	proc   *Proc
	resume func() (struct{}, bool)
	stop   func() // unwinds what runs, and ends
	yield  func(struct{}) bool
}

func newCoroutine(p *Proc) *coroutine {
	co := &coroutine{proc: p}
	co.resume, co.stop = iter.Pull(co.run)
	return co
}

func (co *coroutine) run(yield func(struct{}) bool) {
	co.yield = yield
	grow(0)
	for {
		co.proc.code()
		if !yield(struct{}{}) {
			return
		}
	}
}
