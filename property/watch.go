package property

import (
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// patience is how long a run in a bubble may take in real time. Runs take milliseconds.
var patience = 20 * time.Second

// within calls run. It stops waiting for run after some real time, or when run's bubble will never go on. Then run and
// its goroutines stay. After that, failures are made smaller only if the run can be repeated.
func (r runner) within(most time.Duration, w *watch, run func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	watchdog := time.NewTicker(min(glance, most)) //nolint:forbidigo // it does not end a run that would end by itself
	defer watchdog.Stop()
	began := time.Now() //nolint:forbidigo // as above
	looked := began
	var since time.Time // when within first saw that the bubble does not go on
	for {
		var now time.Time
		select {
		case err := <-done:
			return err
		case now = <-watchdog.C:
		}
		if r.rouse(w) || now.Sub(looked) < min(look, most) {
			continue
		}
		looked = now
		mutex, waiting := w.stuck()
		if len(waiting) == 0 {
			since = time.Time{}
		} else if since.IsZero() {
			since = now
		}
		stuck := &stuckError{still: true}
		switch {
		case len(waiting) > 0 && now.Sub(since) >= outside && mutex:
			stuck.why = ": a goroutine waits for a mutex that is never unlocked" + tell(waiting)
		case len(waiting) > 0 && now.Sub(since) >= outside:
			stuck.why = ": a goroutine waits for the outside (a socket, a file, a channel made outside of newStore)" +
				tell(waiting)
		case now.Sub(began) >= most:
			stuck.why = fmt.Sprintf(": a run did not end within %v: a goroutine computes without end, waits for the "+
				"outside, or ticks on after Close%s",
				most, tell(goroutinesOf(w.name())))
		default:
			continue
		}
		r.random.left(r.t)
		stuck.stacks = string(stacks(nil))
		r.limit.stick(now.Sub(began))
		return stuck
	}
}

// stuckError says that a run in a bubble did not end.
type stuckError struct {
	why    string // the text that follows "the store under test"
	still  bool   // the run still runs or waits, and keeps everything that it was given
	stacks string // the stacks of all goroutines, if they can explain something
}

func (e *stuckError) Error() string { return "the store under test" + e.why }

// rouse wakes the simulator in a bubble in which it waits for ever: a goroutine waits for a mutex, so the bubble is not
// quiet, and no time passes in it. But the mutex's holder may wait for something that takes no time, such as the answer
// to a request. The simulator's next steps do not depend on when the watchdog notices: meanwhile nothing happens in the
// bubble.
//
// Go lets no goroutine outside of a bubble wake one inside, with one exception: the other side of a coroutine may be in
// another bubble. (Both bubbles count it correctly; a goroutine without a bubble would not be counted.)
//
// Source: coroswitch_m in https://go.dev/src/runtime/coro.go
func (r runner) rouse(w *watch) bool {
	if n := w.waits.Load(); n%2 == 0 || n != w.seen {
		w.seen = n // the simulator does not wait, or has only just begun to
		return false
	}
	if waiters, quiet := waits(stacks(nil), w.name()); waiters == "" || !quiet {
		return false
	}
	synctest.Test(r.t, func(*testing.T) {
		go w.wake()
		<-w.woke // made outside of the bubble: without this wait, Go would report a deadlock of the bubble meanwhile
	})
	return true
}

// watch has the facts that the watchdog of a run uses.
type watch struct {
	mu     sync.Mutex
	bubble string // the name of the bubble; "" before it begins
	next   func() (struct{}, bool)
	woke   chan struct{}
	waits  atomic.Int64 // odd while the simulator waits, for goroutines or for time
	seen   int64        // the value of waits when the watchdog last looked
}

// rousable lets rouse wake the goroutine that waits on the returned channel. Call rousable and end in the bubble.
func (w *watch) rousable() (roused <-chan struct{}, end func()) {
	rousing := make(chan struct{}, 1)
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		for {
			select {
			case rousing <- struct{}{}:
			default:
			}
			if !yield(struct{}{}) {
				return
			}
		}
	})
	w.next = next
	return rousing, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		stop()
	}
}

// wake resumes the coroutine of rousable.
func (w *watch) wake() {
	w.mu.Lock()
	w.next()
	w.mu.Unlock()
	w.woke <- struct{}{}
}

func (w *watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bubble = bubbleOf()
}

func (w *watch) name() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bubble
}

// look is how often the watchdog looks at stacks, and outside is how long a goroutine may wait for something outside of
// its bubble. Ordinary runs do not wait in real time. A glance costs nothing as long as the simulator goes on.
const (
	glance  = 2 * time.Millisecond
	look    = 500 * time.Millisecond
	outside = 5 * time.Second
)

// stuck returns the goroutines of a bubble that will not go on by itself: all of them wait, and at least one waits
// neither for time nor for another goroutine. Otherwise it returns none.
func (w *watch) stuck() (mutex bool, all []goroutine) {
	all = goroutinesOf(w.name())
	other := false
	for i := range all {
		switch g := &all[i]; {
		case g.runs():
			return false, nil
		case g.forMutex():
			mutex = true
		case !g.durable && g.state != "coroutine" && !strings.HasPrefix(g.state, "synctest."):
			other = true
		}
	}
	if !mutex && !other {
		return false, nil
	}
	return mutex, all
}
