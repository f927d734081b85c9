package fakeclock

import (
	"time"

	"github.com/jonboulle/clockwork"
)

// ticker implements [clockwork.Ticker].
type ticker struct {
	waiter
	node   *Node
	c      chan time.Time
	period time.Duration // by the node's rate
	next   time.Time     // the next tick, on the node's monotonic clock
}

var _ clockwork.Ticker = (*ticker)(nil)

func newTicker(n *Node, d time.Duration) *ticker {
	t := &ticker{node: n, c: newChan()}
	t.owner = t
	n.clock.mu.Lock()
	defer n.clock.mu.Unlock()
	t.start(d)
	return t
}

// start is called with the clock locked.
func (t *ticker) start(d time.Duration) {
	t.period = d
	t.next = t.node.mono(t.node.clock.now)
	t.schedule()
}

// schedule queues the next tick. Its time counts from the tick before, on the node's clock, and not from now, so that
// rounding to true time does not add up.
func (t *ticker) schedule() {
	t.next = t.next.Add(t.period)
	t.node.clock.schedule(&t.waiter, t.node.due(t.next))
}

func (t *ticker) fire() func() {
	send(t.c, t.node.read(t.node.clock.now))
	t.schedule()
	return nil
}

// Chan returns the channel on which the ticks are sent.
func (t *ticker) Chan() <-chan time.Time { return t.c }

// Reset stops the ticker and starts it again with the period d: the next tick comes d from now. It panics if d is not
// positive, as [time.Ticker.Reset] does.
func (t *ticker) Reset(d time.Duration) {
	if d <= 0 {
		panic("fakeclock: non-positive interval for Ticker.Reset")
	}
	t.node.clock.mu.Lock()
	defer t.node.clock.mu.Unlock()
	drain(t.c)
	t.start(d)
}

// Stop turns off the ticker: no tick is received after it returns, until Reset.
func (t *ticker) Stop() {
	t.node.clock.mu.Lock()
	defer t.node.clock.mu.Unlock()
	t.node.clock.queue.remove(&t.waiter)
	drain(t.c)
}
