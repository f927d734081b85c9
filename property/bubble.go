package property

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// patience is how long, on the clock on the wall, a run in a bubble may take. Runs take milliseconds.
var patience = 20 * time.Second

// inBubble calls a run in a bubble of testing/synctest of its own, with the bubble's time at fakeclock.Epoch.
//
// A bubble waits for ever if a goroutine waits for a mutex. The first run to which that happens is given up, and made
// again in a bubble that looks at the goroutines itself, as all later ones are: that takes longer.
func (r runner) inBubble(run func(sim.Bubble)) error {
	err := r.inOneBubble(run)
	if stuck, ok := errors.AsType[*stuckError](err); ok && stuck.mutex && !r.limit.mutexes {
		r.limit.mutexes = true
		return r.inOneBubble(run)
	}
	return err
}

func (r runner) inOneBubble(run func(sim.Bubble)) error {
	var w watch
	return r.within(r.limit.patience(), &w, func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = &stuckError{why: fmt.Sprintf(": when the run was over, a goroutine was left that waits for ever (%v): "+
					"give the store a method Close() error that ends its goroutines, or have them end with the context of Get%s", v, tell(goroutinesOf(w.name())))}
			}
		}()
		synctest.Test(r.t, func(t *testing.T) {
			w.begin()
			r.random.in = t
			time.Sleep(time.Until(fakeclock.Epoch)) //nolint:forbidigo // the bubble's time, which the simulator moves
			b := &bubble{}
			if r.limit.mutexes {
				b.name = w.name()
			}
			run(b)
		})
		return nil
	})
}

// within calls run, and gives it up after a time on the clock on the wall, or when its bubble will never go on: run and
// its goroutines then stay. Nothing is made smaller after that, unless it can be made again.
func (r runner) within(most time.Duration, w *watch, run func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	watchdog := time.NewTicker(min(look, most)) //nolint:forbidigo // it ends no run that would end by itself
	defer watchdog.Stop()
	began := time.Now() //nolint:forbidigo // as above
	var since time.Time // when it was first seen that the bubble does not go on
	for {
		var now time.Time
		select {
		case err := <-done:
			return err
		case now = <-watchdog.C:
		}
		mutex, waiting := w.stuck()
		if len(waiting) == 0 {
			since = time.Time{}
		} else if since.IsZero() {
			since = now
		}
		again := mutex && r.own != nil && !r.limit.mutexes // the run can be made again
		enough := outside
		if again {
			enough = look / 2
		}
		stuck := &stuckError{still: true, mutex: mutex}
		switch {
		case len(waiting) > 0 && now.Sub(since) >= enough && mutex:
			stuck.why = ": a goroutine waits for a mutex that is never unlocked" + tell(waiting)
		case len(waiting) > 0 && now.Sub(since) >= enough:
			stuck.why = ": a goroutine waits for the outside (a socket, a file, a channel made outside of newStore)" + tell(waiting)
		case now.Sub(began) >= most:
			stuck.why = fmt.Sprintf(": a run did not end within %v: a goroutine computes without end, waits for the outside, or ticks on after Close%s",
				most, tell(goroutinesOf(w.name())))
		default:
			continue
		}
		r.random.left(r.t)
		stuck.stacks = string(stacks(nil))
		if !again {
			r.limit.stick(now.Sub(began))
		}
		return stuck
	}
}

// stuckError says that a run in a bubble did not come to its end.
type stuckError struct {
	why    string // as it continues "the store under test"
	still  bool   // it runs on, or waits, with everything that it was given
	mutex  bool   // for a mutex
	stacks string // of all goroutines, if that can tell something
}

func (e *stuckError) Error() string { return "the store under test" + e.why }

// bubble is the bubble of testing/synctest that its methods are called in.
type bubble struct {
	name    string // set if it looks at the goroutines itself
	room    []byte
	mutexes bool // the last time it looked, a goroutine waited for a mutex
}

var _ sim.Bubble = (*bubble)(nil)

// Wait implements sim.Bubble.
func (b *bubble) Wait() {
	if b.name == "" {
		synctest.Wait()
		return
	}
	for {
		for range 4 {
			runtime.Gosched() // so that whoever can park has done so
		}
		b.room = stacks(b.room)
		quiet, self := true, true
		was := b.mutexes
		b.mutexes = false
		headers(b.room, b.name, func(state, _ []byte) bool {
			switch {
			case self: // the first one is the goroutine that asks
				self = false
			case forMutex(state):
				b.mutexes = true
			case !bytes.Contains(state, []byte("(durable)")):
				quiet = false
			}
			return quiet
		})
		if quiet && was == b.mutexes { // what looks like a wait for a mutex may be that of another test, and be over soon
			break
		}
	}
	if !b.mutexes {
		synctest.Wait()
	}
}

// Held implements sim.Bubble.
func (b *bubble) Held() bool { return b.mutexes }

// Waiting implements sim.Bubble.
func (b *bubble) Waiting() string {
	all := goroutinesOf(bubbleOf())
	return tell(slices.DeleteFunc(all, func(g goroutine) bool { return g.runs() }))
}

// Now implements sim.Bubble.
func (*bubble) Now() time.Time {
	return time.Now().Round(0).UTC() //nolint:forbidigo // the bubble's time, which the simulator moves
}

// Pass implements sim.Bubble.
func (b *bubble) Pass(until time.Time, woken <-chan struct{}) {
	timer := time.NewTimer(until.Sub(b.Now())) //nolint:forbidigo // the bubble's time, which the simulator moves
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	}
}

// AfterFunc implements sim.Bubble.
func (*bubble) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop //nolint:forbidigo // the bubble's time, which the simulator moves
}
