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

// journal notes events with the times of a clock.
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

// checkReceive expects want in ch; the zero time means nothing.
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

// Many goroutines use all of the clock at once; the race detector judges.
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
				runtime.Gosched() // on one processor, the sleepers need their turn
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
