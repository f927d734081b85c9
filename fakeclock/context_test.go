package fakeclock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
)

// checkEnded expects ctx to have ended with err and cause, without waiting.
func checkEnded(t *testing.T, ctx context.Context, err, cause error) {
	t.Helper()
	if got := ctx.Err(); got != err {
		t.Errorf("Err() = %v, want %v", got, err)
	}
	if got := context.Cause(ctx); got != cause {
		t.Errorf("Cause() = %v, want %v", got, cause)
	}
	select {
	case <-ctx.Done():
		if err == nil {
			t.Error("Done() is closed, want open")
		}
	default:
		if err != nil {
			t.Error("Done() is open, want closed")
		}
	}
}

func checkDeadline(t *testing.T, ctx context.Context, want time.Time) {
	t.Helper()
	if got, ok := ctx.Deadline(); !ok || got != want {
		t.Errorf("Deadline() = %v, %v, want %v", got, ok, want)
	}
}

func TestContextEndsInOrderOfTheQueue(t *testing.T) {
	c := newClock()
	j := &journal{clock: c}
	var ctx context.Context
	look := func() { j.add("context: " + errString(ctx.Err())) }
	c.AfterFunc(s, look)
	ctx, cancel := c.WithTimeout(t.Context(), s)
	defer cancel()
	c.AfterFunc(s, look)
	c.AfterFunc(2*s, look)
	c.Advance(time.Hour)
	j.check(t, "1s context: going on", "1s context: context deadline exceeded", "2s context: context deadline exceeded")
}

func errString(err error) string {
	if err == nil {
		return "going on"
	}
	return err.Error()
}

// Contexts that wrap ctx in the usual ways end in the same Advance.
func TestDerivedContextsEndInTheSameAdvance(t *testing.T) {
	for range 2000 { // a cancellation also comes through a goroutine, which may be first
		if derivedContextsEnd(t); t.Failed() {
			return
		}
	}
}

func derivedContextsEnd(t *testing.T) {
	t.Helper()
	type key struct{}
	c := newClock()
	ctx, cancel := c.WithTimeout(t.Context(), s)
	defer cancel()
	child, cancelChild := context.WithCancel(context.WithValue(ctx, key{}, 1))
	defer cancelChild()
	ours, cancelOurs := c.WithTimeout(child, time.Hour)
	defer cancelOurs()
	grandchild, cancelGrandchild := context.WithCancelCause(ours)
	defer cancelGrandchild(nil)
	apart, cancelApart := context.WithCancel(context.WithoutCancel(ours))
	defer cancelApart()

	c.Advance(s)
	for _, ctx := range []context.Context{grandchild, ours, child, ctx} {
		checkEnded(t, ctx, context.DeadlineExceeded, context.DeadlineExceeded)
	}
	checkEnded(t, apart, nil, nil)
	checkWaiters(t, c, 0)
}

// The first end counts: the deadline, cancel, or the end of the parent with its cause. A parent may have a type that
// package context does not know.
func TestContextEnds(t *testing.T) {
	crash, exceeded, canceled := errors.New("crash"), context.DeadlineExceeded, context.Canceled
	for _, tt := range []struct {
		d          time.Duration
		steps      string // those before | come before the context is made
		err, cause error
	}{
		{2 * s, "", nil, nil},
		{2 * s, "|early", nil, nil},
		{2 * s, "|early instant", exceeded, exceeded},
		{2 * s, "|deadline cancel", exceeded, exceeded},
		{2 * s, "|deadline crash", exceeded, exceeded},
		{2 * s, "|cancel", canceled, canceled},
		{2 * s, "|cancel cancel deadline", canceled, canceled},
		{2 * s, "|crash", canceled, crash},
		{2 * s, "|crash cancel", canceled, crash},
		{2 * s, "|early crash instant", canceled, crash},
		{2 * s, "crash|", canceled, crash},
		{0, "deadline|", exceeded, exceeded},
		{-1, "deadline|", exceeded, exceeded},
		{-1 << 63, "deadline|", exceeded, exceeded},
		{0, "crash|", canceled, crash},
	} {
		for _, isForeign := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.d, " ", tt.steps, " ", isForeign), func(t *testing.T) {
				c := newClock()
				parent, crashParent := context.WithCancelCause(t.Context())
				if isForeign {
					parent = foreign{parent}
				}
				cancel := func() {}
				take := func(steps string) {
					for _, step := range strings.Fields(steps) {
						map[string]func(){
							"early": func() { c.Advance(2*s - 1) }, "instant": func() { c.Advance(1) },
							"deadline": func() { c.Advance(2 * s) },
							"crash":    func() { crashParent(crash) }, "cancel": func() { cancel() },
						}[step]()
					}
				}
				before, after, _ := strings.Cut(tt.steps, "|")
				take(before)
				ctx, cancelIt := c.WithTimeout(parent, tt.d)
				cancel = cancelIt
				checkDeadline(t, ctx, c.Now().Add(tt.d))
				child, cancelChild := context.WithCancel(ctx)
				defer cancelChild()
				take(after)
				checkEnded(t, ctx, tt.err, tt.cause)
				checkEnded(t, child, tt.err, tt.cause) // ctx was asked, so it knows
				cancel()
				checkWaiters(t, c, 0)
			})
		}
	}
}

// foreign hides from package context that the context has one of its own types.
type foreign struct{ ctx context.Context }

func (f foreign) Deadline() (time.Time, bool) { return f.ctx.Deadline() }
func (f foreign) Done() <-chan struct{}       { return f.ctx.Done() }
func (f foreign) Err() error                  { return f.ctx.Err() }
func (f foreign) Value(key any) any           { return f.ctx.Value(key) }

func TestContextUnaskedEndsWithParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		parent, cancelParent := context.WithCancel(t.Context())
		ctx, cancel := c.WithTimeout(parent, time.Hour)
		defer cancel()
		ended := false
		context.AfterFunc(ctx, func() { ended = true })
		cancelParent()
		synctest.Wait()
		if !ended {
			t.Error("the context did not end with its parent")
		}
		checkWaiters(t, c, 0)
	})
}

func TestContextEarlierDeadlineOfParentWins(t *testing.T) {
	c := newClock()
	parent, cancelParent := c.WithTimeout(t.Context(), 2*s)
	defer cancelParent()
	between, cancelBetween := context.WithCancel(parent)
	defer cancelBetween()
	later, cancel := c.WithTimeout(between, 3*s)
	defer cancel()
	earlier, cancel := c.WithTimeout(between, 1*s)
	defer cancel()
	detached, cancel := c.WithTimeout(context.WithoutCancel(between), 3*s)
	defer cancel()

	checkDeadline(t, later, at(2*s))
	checkDeadline(t, earlier, at(1*s))
	checkDeadline(t, detached, at(3*s))
	c.Advance(s)
	checkEnded(t, earlier, context.DeadlineExceeded, context.DeadlineExceeded)
	checkEnded(t, later, nil, nil)
	c.Advance(s)
	checkEnded(t, later, context.DeadlineExceeded, context.DeadlineExceeded)
	checkEnded(t, detached, nil, nil)
	c.Advance(s)
	checkEnded(t, detached, context.DeadlineExceeded, context.DeadlineExceeded)
}

// A deadline on another clock is not comparable. The parent's deadline is forty years earlier: in a naive comparison it
// would win, and the fake one would never come.
func TestContextParentsOnOtherClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // real time starts in 2000 here
		c, other := newClock(), fakeclock.New(fakeclock.Epoch.AddDate(-40, 0, 0))
		real, cancel := context.WithTimeout(t.Context(), s)
		defer cancel()
		fake, cancel := other.WithTimeout(t.Context(), s)
		defer cancel()
		for _, parent := range []context.Context{real, fake} {
			ctx, cancel := c.WithTimeout(parent, s)
			checkDeadline(t, ctx, c.Now().Add(s))
			c.Advance(s)
			checkEnded(t, ctx, context.DeadlineExceeded, context.DeadlineExceeded)
			checkEnded(t, parent, nil, nil)
			cancel()

			ctx, cancel = c.WithTimeout(parent, time.Hour)
			if parent == fake {
				other.Advance(s)
			}
			<-parent.Done() // real time passes in the bubble
			checkEnded(t, ctx, context.DeadlineExceeded, context.DeadlineExceeded)
			cancel()
		}
		checkWaiters(t, c, 0)
	})
}

func TestContextCancelInsideCallback(t *testing.T) {
	c := newClock()
	ctx, cancel := c.WithTimeout(t.Context(), 2*s)
	c.AfterFunc(s, cancel)
	var inner context.Context
	c.AfterFunc(s, func() {
		inner, cancel = c.WithTimeout(ctx, s)
	})
	c.Advance(time.Hour)
	checkEnded(t, ctx, context.Canceled, context.Canceled)
	checkEnded(t, inner, context.Canceled, context.Canceled)
	cancel()
}

func TestContextOnNode(t *testing.T) {
	c := newClock()
	node := c.Node(fakeclock.Drift{Offset: time.Hour, PPM: 1_000_000}) // twice as fast
	ctx, cancel := node.WithTimeout(t.Context(), 10*s)
	defer cancel()
	checkDeadline(t, ctx, at(time.Hour+10*s)) // as the node reads it
	onClock, cancel := c.WithTimeout(ctx, time.Hour)
	defer cancel()
	checkDeadline(t, onClock, at(5*s)) // as the clock does
	onNode, cancel := node.WithTimeout(onClock, time.Hour)
	defer cancel()
	checkDeadline(t, onNode, at(time.Hour+10*s))

	node.Step(time.Minute) // running timers do not notice
	c.Advance(5*s - 1)
	checkEnded(t, ctx, nil, nil)
	c.Advance(1)
	for _, ctx := range []context.Context{ctx, onClock, onNode} {
		checkEnded(t, ctx, context.DeadlineExceeded, context.DeadlineExceeded)
	}
}

// A context leaves nothing behind on a parent that outlives it.
func TestContextReleasesParent(t *testing.T) {
	c := newClock()
	parent := &counting{Context: context.Background(), done: make(chan struct{})}
	_, cancel := c.WithTimeout(parent, s)
	if parent.watchers != 1 {
		t.Errorf("%d watchers of a running context's parent, want 1", parent.watchers)
	}
	cancel()
	if parent.watchers != 0 {
		t.Errorf("%d watchers after cancel, want 0", parent.watchers)
	}
	_, cancel = c.WithTimeout(parent, s)
	defer cancel()
	c.Advance(s)
	if parent.watchers != 0 {
		t.Errorf("%d watchers after the deadline, want 0", parent.watchers)
	}
	_, cancel = c.WithTimeout(&meddling{counting: parent, meddle: func() { c.Advance(s) }}, s)
	defer cancel()
	if parent.watchers != 0 {
		t.Errorf("%d watchers after the deadline came while WithTimeout ran, want 0", parent.watchers)
	}
	checkWaiters(t, c, 0)
}

// meddling does something while a context starts to watch it, as another goroutine might.
type meddling struct {
	*counting
	meddle func()
}

func (m *meddling) AfterFunc(f func()) func() bool {
	m.meddle()
	return m.counting.AfterFunc(f)
}

// counting is a context that counts its AfterFuncs that were not stopped.
type counting struct {
	context.Context
	done     chan struct{}
	watchers int
}

func (c *counting) Done() <-chan struct{} { return c.done }
func (c *counting) AfterFunc(func()) func() bool {
	c.watchers++
	stopped := false
	return func() bool {
		if !stopped {
			stopped = true
			c.watchers--
		}
		return true
	}
}

func TestContextNilParent(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic; package context panics on a nil parent")
		}
	}()
	var none context.Context
	_, cancel := newClock().WithTimeout(none, s)
	cancel()
}

func TestContextValues(t *testing.T) {
	type key struct{}
	ctx, cancel := newClock().WithTimeout(context.WithValue(t.Context(), key{}, "v"), s)
	defer cancel()
	if got := ctx.Value(key{}); got != "v" {
		t.Errorf("Value = %v, want v", got)
	}
}
