package fakeclock_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/fakeclock"
)

const s = time.Second

// at returns the time d after Epoch, where most clocks here start.
func at(d time.Duration) time.Time { return fakeclock.Epoch.Add(d) }

func newClock() *fakeclock.Clock { return fakeclock.New(fakeclock.Epoch) }

// journal records events with the times of a clock.
type journal struct {
	clock interface{ Now() time.Time }
	lines []string
}

func (j *journal) add(event string) {
	j.lines = append(j.lines, fmt.Sprintf("%v %s", j.clock.Now().Sub(fakeclock.Epoch), event))
}

func (j *journal) note(event string) func() { return func() { j.add(event) } }

func (j *journal) check(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, j.lines); diff != "" {
		t.Errorf("what happened (-want +got):\n%s", diff)
	}
	j.lines = nil
}

func checkNow(t *testing.T, c interface{ Now() time.Time }, want time.Time) {
	t.Helper()
	if got := c.Now(); got != want {
		t.Errorf("Now() = %v, want %v", got, want)
	}
}

func checkWaiters(t *testing.T, c *fakeclock.Clock, want int) {
	t.Helper()
	if got := c.Waiters(); got != want {
		t.Errorf("Waiters() = %d, want %d", got, want)
	}
}

// checkReceive expects to receive want from ch; the zero time means nothing.
func checkReceive(t *testing.T, ch <-chan time.Time, want time.Time) {
	t.Helper()
	select {
	case got := <-ch:
		if want.IsZero() {
			t.Errorf("received %v, want nothing", got)
		} else if got != want {
			t.Errorf("received %v, want %v", got, want)
		}
	default:
		if !want.IsZero() {
			t.Errorf("received nothing, want %v", want)
		}
	}
}

func TestNewKeepsLocationAndDropsMonotonicReading(t *testing.T) {
	zone := time.FixedZone("zone", 3600)
	c := fakeclock.New(fakeclock.Epoch.In(zone))
	c.AdvanceTo(at(s)) // in UTC
	want := at(s).In(zone)
	checkNow(t, c, want)

	synctest.Test(t, func(t *testing.T) {
		c := fakeclock.New(clockwork.NewRealClock().Now())
		if got := c.Now(); got != got.Round(0) {
			t.Errorf("Now() = %v carries a monotonic reading", got)
		}
	})
}

func TestEqualDeadlinesFireInOrderOfRegistration(t *testing.T) {
	for _, n := range []int{2, 12, 13, 100, 1000} {
		c := newClock()
		var got, want []int
		for i := range n {
			c.AfterFunc(time.Minute, func() { got = append(got, i) })
			c.AfterFunc(time.Duration(i%7)*s, func() {}) // disturb the heap
			want = append(want, i)
		}
		c.Advance(time.Minute)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("order of %d functions (-want +got):\n%s", n, diff)
		}
	}
}

func TestAdvanceSurvivesPanickingCallback(t *testing.T) {
	c := newClock()
	j := &journal{clock: c}
	c.AfterFunc(s, func() { c.Advance(time.Hour); panic("callback") })
	c.AfterFunc(2*s, j.note("later"))
	func() {
		defer func() {
			if got := recover(); got != "callback" {
				t.Errorf("recovered %v, want the callback's panic", got)
			}
		}()
		c.Advance(10 * s)
	}()
	checkNow(t, c, at(s))
	c.Advance(s)
	j.check(t, "2s later")
	checkNow(t, c, at(2*s))
}

func TestConcurrentAdvancesAddUp(t *testing.T) {
	c := newClock()
	ticks := 0
	var tick func()
	tick = func() { // callbacks never overlap, or the race detector sees ticks
		ticks++
		c.AfterFunc(s, tick)
	}
	c.AfterFunc(s, tick)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				c.Advance(s)
			}
		})
	}
	wg.Wait()
	checkNow(t, c, at(800*s))
	if ticks != 800 {
		t.Errorf("got %d ticks, want 800", ticks)
	}
}

// A callback may wait for a goroutine that advances the clock.
func TestAdvanceByAnotherGoroutineDuringCallback(t *testing.T) {
	c := newClock()
	c.AfterFunc(s, func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.Advance(2 * s)
		}()
		<-done
		checkNow(t, c, at(s))
	})
	c.Advance(10 * s)
	checkNow(t, c, at(12*s))
}

// Many goroutines use all of the clock at once, for the race detector.
func TestConcurrentUse(t *testing.T) {
	c := newClock()
	node := c.Node(fakeclock.Drift{PPM: 500_000})
	var users, driver sync.WaitGroup
	stop := make(chan struct{})
	driver.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				c.Advance(s)
				runtime.Gosched() // with one processor, the sleepers need their turn
			}
		}
	})
	for i := range 4 {
		users.Go(func() {
			for range 50 {
				c.Sleep(time.Duration(i) * s)
				node.Sleep(s)
				<-c.After(s)
				ticker := node.NewTicker(s)
				<-ticker.Chan()
				ticker.Reset(2 * s)
				<-ticker.Chan()
				ticker.Stop()
				timer := c.NewTimer(s)
				timer.Reset(2 * s)
				timer.Stop()
				fired := make(chan struct{})
				f := c.AfterFunc(s, func() { close(fired) })
				<-fired
				f.Stop()
				ctx, cancel := c.WithTimeout(t.Context(), s)
				child, cancelChild := node.WithTimeout(ctx, 5*s)
				<-child.Done()
				cancelChild()
				cancel()
				node.Step(s)
				_, _ = node.TrueTime(node.Now())
				_, _ = c.Next()
			}
		})
	}
	users.Wait()
	close(stop)
	driver.Wait()
	checkWaiters(t, c, 0)
}

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
			// Real times have a monotonic reading, which Equal ignores.
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

// This is how the package documentation uses the clock with goroutines that block on it: every worker sees every
// instant that it sleeps to.
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

// In a bubble the package starts nothing that would keep the bubble from ending.
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
