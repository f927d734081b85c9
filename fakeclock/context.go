package fakeclock

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// WithTimeout is [Clock.WithTimeout] by the node's clock, at its rate. As in package context, the remaining time is
// measured by the monotonic clock: a later [Node.Step] does not move the end.
func (n *Node) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if parent == nil {
		panic("fakeclock: cannot create context from nil parent")
	}
	e := &ender{
		clock: n.clock, parent: parent, node: n, at: n.Now().Add(d), done: make(chan struct{}), cancel: func() {},
	}
	e.owner = e
	inner, cancel := context.WithCancel(e)

	e.start()
	e.watch()
	ctx := &clockContext{Context: inner, ender: e}
	return ctx, func() {
		e.follow()
		cancel()
		e.release()
	}
}

// clockContext is the context of WithTimeout. The embedded Context is a cancellable one of package context, whose
// parent is the ender. So package context makes contexts derived from a clockContext its children, and ends them in the
// same call.
type clockContext struct {
	context.Context
	ender *ender
}

// Done and Err ask the parent first. Package context notifies only its own types of a cancellation at once; other types
// learn of it later, from another goroutine.

func (c *clockContext) Done() <-chan struct{} {
	c.ender.follow()
	return c.Context.Done()
}

func (c *clockContext) Err() error {
	c.ender.follow()
	return c.Context.Err()
}

// String keeps fmt from walking through live structures.
func (c *clockContext) String() string {
	return fmt.Sprintf("fakeclock.WithTimeout(until %s)", c.ender.at.Format(time.RFC3339Nano))
}

// An ender stands between the parent given to WithTimeout and the embedded context, whose parent it is. Package context
// offers no other way to end one of its contexts with an error other than Canceled: a child takes its parent's error.
type ender struct {
	waiter
	clock  *Clock
	parent context.Context
	node   *Node
	at     time.Time // the deadline, as the node shows it
	cancel func()    // ends the embedded context with Err and Cause of this one

	once sync.Once
	done chan struct{}
	err  error // written before done is closed, read after

	mu      sync.Mutex
	unwatch func() bool
}

// enderKey finds, from any context, its nearest ender of a clock.
type enderKey struct{ clock *Clock }

// start queues the deadline: the one asked for, or an ancestor's on the same clock if that comes first. Then the
// context and this ancestor end in the same Advance, however slowly the contexts between them pass on the cancellation.
func (e *ender) start() {
	ancestor := e.ancestor()
	c := e.clock
	c.mu.Lock()
	due := e.node.due(e.node.unshift(e.at))
	if ancestor != nil && ancestor.deadline.Before(due) {
		due = ancestor.deadline
		e.at = ancestor.at
		if ancestor.node != e.node {
			e.at = e.node.read(due)
		}
	}
	past := !due.After(c.now)
	if past {
		e.deadline = due
	} else {
		c.schedule(&e.waiter, due)
	}
	c.mu.Unlock()
	if past {
		e.expire()
	}
}

// ancestor returns the ender that gives parent its deadline; nil if parent has no deadline, has one by another clock,
// or is cut off from it ([context.WithoutCancel]).
func (e *ender) ancestor() *ender {
	a, ok := e.parent.Value(enderKey{e.clock}).(*ender)
	if !ok {
		return nil
	}
	if t, ok := e.parent.Deadline(); !ok || !t.Equal(a.at) {
		return nil
	}
	return a
}

// watch makes the context end when its parent ends, even without a call of Done or Err.
func (e *ender) watch() {
	e.follow()
	if e.parent.Done() == nil || e.Err() != nil {
		return
	}
	unwatch := context.AfterFunc(e.parent, e.follow)
	e.mu.Lock()
	e.unwatch = unwatch
	e.mu.Unlock()
	if e.Err() != nil { // it ended meanwhile, when there was nothing to release
		unwatch()
	}
}

func (e *ender) fire() func() { return e.expire }

func (e *ender) expire() {
	e.follow() // if a parent was cancelled before the deadline, that counts
	e.end(context.DeadlineExceeded)
}

// follow ends the context if its parent has ended.
func (e *ender) follow() {
	if err := e.parent.Err(); err != nil {
		e.end(err)
	}
}

func (e *ender) end(err error) {
	e.once.Do(func() {
		e.err = err
		close(e.done)
		e.cancel()
		e.release() // last: while the deadline is queued, an Advance that reaches it waits for derived contexts to end
	})
}

// release removes the context from the clock and from the parent.
func (e *ender) release() {
	e.clock.mu.Lock()
	e.clock.queue.remove(&e.waiter)
	e.clock.mu.Unlock()

	e.mu.Lock()
	unwatch := e.unwatch
	e.mu.Unlock()
	if unwatch != nil {
		unwatch()
	}
}

// The methods of [context.Context], for package context.

func (e *ender) Deadline() (time.Time, bool) { return e.at, true }
func (e *ender) Done() <-chan struct{}       { return e.done }

func (e *ender) Err() error {
	select {
	case <-e.done:
		return e.err
	default:
		return nil
	}
}

func (e *ender) Value(key any) any {
	if key == (enderKey{e.clock}) {
		return e
	}
	return e.parent.Value(key)
}

// AfterFunc saves a goroutine: if a parent has a foreign type with an AfterFunc method, package context passes it the
// function that cancels the child, to be called when the parent has ended. Source: https://pkg.go.dev/context#AfterFunc
func (e *ender) AfterFunc(cancel func()) (stop func() bool) {
	e.cancel = cancel
	return func() bool {
		e.release()
		return true
	}
}
