package fakeclock

import (
	"container/heap"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// Epoch is the time at which clocks usually start: 2040-01-01T00:00:00Z. It lies well after real time, so that a
// service that judges expiry by its own clock does not expire rows written at fake times.
var Epoch = time.Date(2040, time.January, 1, 0, 0, 0, 0, time.UTC)

// A Clock is a clock that moves only when it is told to. It implements [clockwork.Clock]. It shows true time:
// [Clock.Node] makes machines' clocks that disagree with it. Make one with [New]; all methods may be called by several
// goroutines at once.
type Clock struct {
	start time.Time
	root  Node // the view without offset or drift: the Clock's own methods

	// shown is now for readers without the lock: most uses of a clock only read it.
	shown atomic.Pointer[time.Time]
	room  []time.Time // memory for the next values of shown: a few are made at once

	mu        sync.Mutex
	now       time.Time
	target    time.Time // the end of the Advance in progress; equal to now if there is none
	advancing bool
	queue     queue
}

var _ clockwork.Clock = (*Clock)(nil)

// Set puts the clock to any time, as when a simulator returns to an earlier moment. No timer may be running.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.show(now)
	c.target = now
}

// New returns a Clock that shows start, without its monotonic reading, and shows all later times in start's location.
func New(start time.Time) *Clock {
	start = start.Round(0)
	c := &Clock{start: start, now: start, target: start}
	c.root.clock = c
	c.shown.Store(&start)
	return c
}

// Advance moves the clock forward by d, one deadline at a time: at each deadline on the way, [Clock.Now] is exactly
// that deadline while everything due then fires, in the order of registration.
//
// Functions given to [Clock.AfterFunc] run here, in the goroutine that called Advance, one after another, and Advance
// returns after the last. They may use the clock freely, except to wait for it. Timers that they register within the
// span fire within the same Advance.
//
// An Advance called by such a function cannot move the clock under it. It returns at once, and its d is added to the
// Advance in progress. An Advance called by another goroutine while such a function runs does the same; at any other
// moment it waits for its turn. Either way, the durations of all calls add up.
//
// Advance(0) runs the functions that are due now. A negative d does nothing: the clock never goes back. (A node's clock
// can: [Node.Step].)
func (c *Clock) Advance(d time.Duration) {
	if d < 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(c.target.Add(d))
}

// AdvanceTo moves the clock forward to t as [Clock.Advance] does. If t is before Now it does nothing. If a function of
// AfterFunc is running, it returns at once, and extends the Advance in progress to t if t is later than its end.
func (c *Clock) AdvanceTo(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.Before(c.now) {
		return
	}
	c.advance(c.normal(t))
}

// advance fires all deadlines until the clock shows target. It is called with the clock locked, and unlocks it only
// around callbacks: a caller that finds an advance in progress was called by a callback, or during one.
func (c *Clock) advance(target time.Time) {
	if target.After(c.target) {
		c.target = target
	}
	if c.advancing {
		return
	}
	c.advancing = true
	// Deferred, because a callback may panic or end its test: time then stays where that happened, and the clock stays
	// usable.
	defer func() {
		c.advancing = false
		c.target = c.now
	}()
	for w := c.queue.first(); w != nil && !w.deadline.After(c.target); w = c.queue.first() {
		c.queue.remove(w)
		c.show(w.deadline)
		if then := w.owner.fire(); then != nil {
			c.unlocked(then)
		}
	}
	c.show(c.target)
}

// show moves the clock, which is locked.
func (c *Clock) show(now time.Time) {
	if !now.Equal(c.now) {
		if len(c.room) == 0 {
			c.room = make([]time.Time, 6)
		}
		shown := &c.room[0]
		c.room = c.room[1:]
		*shown, c.now = now, now
		c.shown.Store(shown)
	}
}

func (c *Clock) unlocked(f func()) {
	c.mu.Unlock()
	defer c.mu.Lock()
	f()
}

// schedule queues w for the true time deadline, or for now if that is past.
func (c *Clock) schedule(w *waiter, deadline time.Time) {
	if deadline.Before(c.now) {
		deadline = c.now
	}
	c.queue.add(w, deadline)
}

// normal returns t as this clock shows it: in the clock's location, without a monotonic reading, so that neither
// affects comparing and printing.
func (c *Clock) normal(t time.Time) time.Time { return t.Round(0).In(c.start.Location()) }

// Next returns the time at which the next timer, ticker, sleeper or context of this clock and its nodes is due; false
// if none is. While a function with a duration of 0 or less waits to run, that time is Now.
//
// AdvanceTo(Next()) is the smallest step that makes something happen.
func (c *Clock) Next() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.queue.first(); w != nil {
		return w.deadline, true
	}
	return time.Time{}, false
}

// Now returns the time the clock shows.
func (c *Clock) Now() time.Time { return *c.shown.Load() }

// Since returns the time elapsed since t: Now().Sub(t).
func (c *Clock) Since(t time.Time) time.Duration { return c.root.Since(t) }

// Until returns the duration until t: t.Sub(Now()).
func (c *Clock) Until(t time.Time) time.Duration { return c.root.Until(t) }

// Sleep blocks the calling goroutine until another has moved the clock by d. It returns at once if d is not positive.
// Sleeping in a function given to [Clock.AfterFunc] blocks forever: it blocks the Advance that it waits for.
func (c *Clock) Sleep(d time.Duration) { c.root.Sleep(d) }

// After returns the channel of a new timer: NewTimer(d).Chan().
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.root.After(d) }

// NewTimer returns a timer that sends the time on its channel when the clock has moved by d; at once if d is not
// positive. As with [time.Timer] since Go 1.23, no stale value is received after Stop or Reset has returned, and both
// report true if they prevented a value from being received, whether or not it had already been sent.
func (c *Clock) NewTimer(d time.Duration) clockwork.Timer { return c.root.NewTimer(d) }

// AfterFunc returns a timer that calls f when the clock has moved by d. f runs in the goroutine that moves the clock:
// see [Clock.Advance]. The timer's channel is nil, as with [time.AfterFunc].
//
// f never runs before AfterFunc has returned, in case its caller holds a lock that f takes. If d is not positive, f is
// due now: the next Advance, of any length, runs it, and if a function is running under Advance, f runs in that same
// Advance.
func (c *Clock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return c.root.AfterFunc(d, f)
}

// NewTicker returns a ticker that sends the time on its channel whenever the clock has moved by another d. A tick is
// dropped if the previous one is still unread. After Stop or Reset has returned, no earlier tick is received. As
// [time.NewTicker] does, it panics if d is not positive; so does its Reset.
func (c *Clock) NewTicker(d time.Duration) clockwork.Ticker { return c.root.NewTicker(d) }

// WithTimeout is [context.WithTimeout] on this clock. The context ends inside the Advance that reaches Now plus d, in
// the order of registration, and so do the contexts derived from it. When Advance returns, their Done channels are
// closed and their Err is [context.DeadlineExceeded]. If d is not positive, it has already ended.
//
// The context also ends with parent, whose Err and Cause it takes. Its Deadline is the parent's if that is earlier and
// on this clock. A deadline by another clock, such as real time, still ends the context but cannot be compared with its
// own. Cancelling releases its place on the clock.
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return c.root.WithTimeout(parent, d)
}

// Node returns a new view of this clock, for a machine whose own clock is off by d. The drift counts from the start of
// this clock, not from the call of Node, so that nodes with equal drifts agree.
func (c *Clock) Node(d Drift) *Node { return &Node{clock: c, drift: d.clamp()} }

// never is the deadline of a waiter that will not fire: a timer on a node whose clock stands still. It counts as a
// waiter, but not as a next deadline.
var never = time.Unix(1<<60, 0).UTC()

// A firer acts when a waiter's deadline is reached.
type firer interface {
	// fire is called with the clock locked and its time at the deadline. The function it returns, if any, is called
	// next, with the clock unlocked.
	fire() (then func())
}

// A waiter is one entry of the queue: a timer, a ticker or a context. Its zero value waits for nothing. The clock's
// lock guards every field.
type waiter struct {
	owner    firer
	deadline time.Time // true time
	seq      uint64    // the order of registration breaks ties between deadlines
	slot     int       // 1 + index in the heap; 0 while not queued
}

// queue holds the waiters, ordered by (deadline, seq). Each waiter knows its slot, so that stopping one removes it at
// once instead of leaving a tombstone.
type queue struct {
	heap waiterHeap
	seq  uint64
}

// add queues w, moving it if it is queued already. Either way its registration is new: it comes after every other
// waiter with the same deadline.
func (q *queue) add(w *waiter, deadline time.Time) {
	q.remove(w)
	q.seq++
	w.deadline, w.seq = deadline, q.seq
	heap.Push(&q.heap, w)
}

// remove reports whether w was queued.
func (q *queue) remove(w *waiter) bool {
	if w.slot == 0 {
		return false
	}
	heap.Remove(&q.heap, w.slot-1)
	return true
}

// first returns the waiter that fires next, or nil.
func (q *queue) first() *waiter {
	if len(q.heap) == 0 || !q.heap[0].deadline.Before(never) {
		return nil
	}
	return q.heap[0]
}

func (q *queue) len() int { return len(q.heap) }

// waiterHeap implements [heap.Interface].
type waiterHeap []*waiter

func (h waiterHeap) Len() int { return len(h) }

func (h waiterHeap) Less(i, j int) bool {
	if order := h[i].deadline.Compare(h[j].deadline); order != 0 {
		return order < 0
	}
	return h[i].seq < h[j].seq
}

func (h waiterHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].slot, h[j].slot = i+1, j+1
}

func (h *waiterHeap) Push(x any) {
	w := x.(*waiter)
	*h = append(*h, w)
	w.slot = len(*h)
}

func (h *waiterHeap) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	(*h)[last] = nil // so that a stopped timer can be collected
	*h = (*h)[:last]
	w.slot = 0
	return w
}
