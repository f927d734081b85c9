package sim

import "iter"

// Pool lends coroutines to runs, one run after another: starting a coroutine and growing its stack is a large part of
// the cost of a short run. It also keeps the memory of the Sim, its actors and its steps. A run does not depend on
// earlier users of the pool, and must not be used after the next one is made. The zero Pool is ready; Close ends its
// coroutines.
type Pool struct {
	idle  []*coroutine
	sim   *Sim
	steps []Step // room for the steps of one moment
}

// room returns the memory for the next Sim, which still has the content of the last one.
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
	stop   func() // unwinds the running code, and ends the coroutine
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
