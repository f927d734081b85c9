package property

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// patience is how long, on the clock on the wall, a run in a bubble may take. Runs take milliseconds.
var patience = 20 * time.Second

// inBubble calls a run in a bubble of testing/synctest of its own, with the bubble's time at fakeclock.Epoch.
func (r runner) inBubble(run func(sim.Bubble)) error {
	return r.within(r.limit.patience(), func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = &stuckError{why: fmt.Sprintf(": when the run was over, a goroutine was left that waits for ever (%v): "+
					"give the store a method Close() error that ends its goroutines, or have them end with the context of Get", v)}
			}
		}()
		synctest.Test(r.t, func(t *testing.T) {
			r.random.in = t
			time.Sleep(time.Until(fakeclock.Epoch)) //nolint:forbidigo // the bubble's time, which the simulator moves
			run(bubble{})
		})
		return nil
	})
}

// within calls run, and gives it up after a time on the clock on the wall: run and its goroutines then stay. Nothing is
// made smaller after that.
func (r runner) within(most time.Duration, run func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	watchdog := time.NewTimer(most) //nolint:forbidigo // it ends no run that would end by itself
	defer watchdog.Stop()
	select {
	case err := <-done:
		return err
	case <-watchdog.C:
		r.limit.stick(most)
		r.random.left(r.t)
		stacks := make([]byte, 1<<20)
		return &stuckError{
			still: true,
			why: fmt.Sprintf(": a run did not end within %v: a goroutine computes without end, waits for a mutex that another holds over a call, "+
				"waits for the outside (a socket, a file, a channel made outside of newStore), or ticks on after Close", most),
			stacks: string(stacks[:runtime.Stack(stacks, true)]),
		}
	}
}

// stuckError says that a run in a bubble did not come to its end.
type stuckError struct {
	why    string // as it continues "the store under test"
	still  bool   // it runs on, or waits, with everything that it was given
	stacks string // of all goroutines, if that can tell something
}

func (e *stuckError) Error() string { return "the store under test" + e.why }

// bubble is the bubble of testing/synctest that its methods are called in.
type bubble struct{}

var _ sim.Bubble = bubble{}

// Wait implements sim.Bubble.
func (bubble) Wait() { synctest.Wait() }

// Now implements sim.Bubble.
func (bubble) Now() time.Time {
	return time.Now().Round(0).UTC() //nolint:forbidigo // the bubble's time, which the simulator moves
}

// Pass implements sim.Bubble.
func (b bubble) Pass(until time.Time, woken <-chan struct{}) {
	timer := time.NewTimer(until.Sub(b.Now())) //nolint:forbidigo // the bubble's time, which the simulator moves
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	}
}

// AfterFunc implements sim.Bubble.
func (bubble) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop //nolint:forbidigo // the bubble's time, which the simulator moves
}
