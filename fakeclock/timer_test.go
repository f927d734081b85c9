package fakeclock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/fakeclock"
)

// Stop and Reset behave as in package time since Go 1.23: if the value was not yet received, they report true, and
// nothing is received later.
func TestTimerStopAndReset(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before func(advance func(time.Duration), timer clockwork.Timer)
		active bool
	}{
		{"running", func(func(time.Duration), clockwork.Timer) {}, true},
		{"fired, not received", func(advance func(time.Duration), _ clockwork.Timer) { advance(s) }, true},
		{"fired and received",
			func(advance func(time.Duration), timer clockwork.Timer) { advance(s); <-timer.Chan() }, false},
		{"stopped", func(_ func(time.Duration), timer clockwork.Timer) { timer.Stop() }, false},
		{"fired, then stopped",
			func(advance func(time.Duration), timer clockwork.Timer) { advance(s); timer.Stop() }, false},
		{"reset", func(_ func(time.Duration), timer clockwork.Timer) { timer.Reset(s) }, true},
	} {
		check := func(t *testing.T, c clockwork.Clock, advance func(time.Duration)) {
			timer := c.NewTimer(s)
			tt.before(advance, timer)
			if got := timer.Stop(); got != tt.active {
				t.Errorf("Stop() = %v, want %v", got, tt.active)
			}
			checkReceive(t, timer.Chan(), time.Time{})
			advance(time.Hour)
			checkReceive(t, timer.Chan(), time.Time{})

			timer = c.NewTimer(s)
			tt.before(advance, timer)
			if got := timer.Reset(2 * s); got != tt.active {
				t.Errorf("Reset() = %v, want %v", got, tt.active)
			}
			checkReceive(t, timer.Chan(), time.Time{})
			want := c.Now().Add(2 * s)
			advance(2 * s)
			// Real times carry a monotonic reading; compare without.
			if got := <-timer.Chan(); !got.Equal(want) {
				t.Errorf("received %v, want %v", got, want)
			}
		}
		t.Run(tt.name+"/fakeclock", func(t *testing.T) {
			c := newClock()
			check(t, c, c.Advance)
			checkWaiters(t, c, 0)
		})
		t.Run(tt.name+"/time", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clockwork.NewRealClock() // of the bubble
				check(t, c, func(d time.Duration) { c.Sleep(d); synctest.Wait() })
			})
		})
	}
}

func TestTickerPanicsLikePackageTime(t *testing.T) {
	clocks := map[string]clockwork.Clock{
		"time":           clockwork.NewRealClock(),
		"fakeclock":      newClock(),
		"fakeclock node": newClock().Node(fakeclock.Drift{PPM: 1}),
	}
	panics := func(f func()) (did bool) {
		defer func() { did = recover() != nil }()
		f()
		return
	}
	for name, c := range clocks {
		for _, d := range []time.Duration{0, -1} {
			if !panics(func() { c.NewTicker(d) }) {
				t.Errorf("%s: NewTicker(%d) did not panic", name, d)
			}
			ticker := c.NewTicker(time.Hour)
			if !panics(func() { ticker.Reset(d) }) {
				t.Errorf("%s: Reset(%d) did not panic", name, d)
			}
			ticker.Stop()
		}
	}
}
