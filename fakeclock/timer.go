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

// drain reports whether there was a value to take away.
func drain(c chan time.Time) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
