package fakeclock_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
)

// This is the way to use the clock with goroutines that block on it, as the package documentation shows it: every
// worker sees every instant it sleeps to.
func TestGoroutinesInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := fakeclock.New(fakeclock.Epoch)
		j := &journal{clock: clock}
		for i := range time.Duration(2) {
			go func() {
				for range 2 {
					clock.Sleep((i + 2) * s)
					j.add(fmt.Sprint("worker ", int(i)))
				}
			}()
		}
		synctest.Wait() // both sleep
		for t, ok := clock.Next(); ok; t, ok = clock.Next() {
			clock.AdvanceTo(t)
			synctest.Wait() // they have done their work at t, and sleep again
		}
		j.check(t, "2s worker 0", "3s worker 1", "4s worker 0", "6s worker 1")
	})
}

// In a bubble the package starts nothing that would keep it from ending.
func TestNothingOutlivesBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := fakeclock.New(fakeclock.Epoch)
		clock.NewTimer(s)
		clock.NewTicker(s)
		clock.AfterFunc(s, func() {})
		ctx, cancel := clock.WithTimeout(t.Context(), s)
		defer cancel()
		clock.Advance(time.Minute)
		<-ctx.Done()
	})
}
