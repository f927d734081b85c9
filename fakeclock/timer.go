package fakeclock

import (
	"time"

	"github.com/jonboulle/clockwork"
)

// timer implements [clockwork.Timer].
type timer struct {
	waiter
	node *Node
	c    chan time.Time // nil for AfterFunc
	f    func()         // nil for the others
}

var _ clockwork.Timer = (*timer)(nil)

func newTimer(n *Node, d time.Duration, c chan time.Time, f func()) *timer {
	t := &timer{node: n, c: c, f: f}
	t.owner = t
	n.clock.mu.Lock()
	defer n.clock.mu.Unlock()
	t.start(d)
	return t
}

// start is called with the clock locked.
func (t *timer) start(d time.Duration) {
	if d <= 0 && t.f == nil {
		t.fire()
		return
	}
	t.node.clock.schedule(&t.waiter, t.node.after(d))
}

func (t *timer) fire() func() {
	if t.f == nil {
		send(t.c, t.node.read(t.node.clock.now))
	}
	return t.f
}

// Chan returns the channel on which the time is sent; nil for AfterFunc.
func (t *timer) Chan() <-chan time.Time { return t.c }

// Reset makes the timer fire after d from now. It reports whether the timer had been active: see [Clock.NewTimer].
func (t *timer) Reset(d time.Duration) bool {
	t.node.clock.mu.Lock()
	defer t.node.clock.mu.Unlock()
	active := t.stop()
	t.start(d)
	return active
}

// Stop prevents the timer from firing. It reports whether the timer had been active: see [Clock.NewTimer]. It does not
// wait for a function that is running.
func (t *timer) Stop() bool {
	t.node.clock.mu.Lock()
	defer t.node.clock.mu.Unlock()
	return t.stop()
}

func (t *timer) stop() bool {
	queued := t.node.clock.queue.remove(&t.waiter)
	return drain(t.c) || queued
}

// Channels of timers and tickers hold one value. Sending and draining happen under the clock's lock only, so nothing
// appears in a channel once it has been drained.

func newChan() chan time.Time { return make(chan time.Time, 1) }

func send(c chan time.Time, t time.Time) {
	select {
	case c <- t:
	default:
	}
}

// drain empties a channel, and reports whether it had a value.
func drain(c chan time.Time) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

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

// schedule queues the next tick. It counts from the previous tick, on the node's clock, and not from now, so that
// rounding to true time does not accumulate.
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
