package fakeclock_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/fakeclock"
)

// The tests of this file hold the differences from clockwork.FakeClock v0.5.0, each together with what
// this package does. One that fails on clockwork's side after an upgrade is good news: the package documentation then
// claims a difference that is gone.

func newClockwork() *clockwork.FakeClock { return clockwork.NewFakeClockAt(fakeclock.Epoch) }

// In clockwork, functions run in goroutines. Advance holds the lock until it is done, so none of them can see the time
// at which it was due.
func TestClockworkAfterFuncSeesTheEndOfAdvance(t *testing.T) {
	deadlines := []time.Duration{1 * s, 2 * s, 3 * s}
	seen := func(c clockwork.Clock, advance func(time.Duration)) []time.Duration {
		var wg sync.WaitGroup
		got := make([]time.Duration, len(deadlines))
		for i, d := range deadlines {
			wg.Add(1)
			c.AfterFunc(d, func() { defer wg.Done(); got[i] = c.Since(fakeclock.Epoch) })
		}
		advance(time.Hour)
		wg.Wait()
		return got
	}
	theirs, ours := newClockwork(), newClock()
	if got, want := seen(theirs, theirs.Advance), slices.Repeat([]time.Duration{time.Hour}, 3); !slices.Equal(got, want) {
		t.Errorf("clockwork: functions saw %v, want %v", got, want)
	}
	if got := seen(ours, ours.Advance); !slices.Equal(got, deadlines) {
		t.Errorf("fakeclock: functions saw %v, want %v", got, deadlines)
	}
}

// In clockwork, what a function registers starts from the end of the Advance. So a chain of one-second timers moves one
// link in an Advance of an hour.
func TestClockworkChainOfTimersStalls(t *testing.T) {
	links := func(c clockwork.Clock, advance func(time.Duration)) int {
		link := make(chan struct{}, 3600)
		var next func()
		next = func() {
			c.AfterFunc(s, next)
			link <- struct{}{}
		}
		c.AfterFunc(s, next)
		advance(time.Hour)
		<-link // in clockwork, wait for the goroutine
		return 1 + len(link)
	}
	theirs, ours := newClockwork(), newClock()
	if got := links(theirs, theirs.Advance); got != 1 {
		t.Errorf("clockwork: %d links, want 1", got)
	}
	if got := links(ours, ours.Advance); got != 3600 {
		t.Errorf("fakeclock: %d links, want 3600", got)
	}
}

// clockwork sorts its waiters with slices.SortFunc, which does not keep the order of equals and begins to disturb it at
// 13 elements. Its order can only be observed from inside: functions run in goroutines, in any order anyway.
func TestClockworkOrderOfEqualDeadlines(t *testing.T) {
	theirOrder := func(n int) []int {
		c := newClockwork()
		number := make(map[uintptr]int)
		for i := range n - 1 {
			number[reflect.ValueOf(c.NewTimer(time.Hour)).Pointer()] = i
		}
		c.NewTimer(time.Minute) // one that is due earlier makes the sort move things
		waiters := reflect.ValueOf(c).Elem().FieldByName("waiters")
		var order []int
		for i := 1; i < waiters.Len(); i++ {
			order = append(order, number[waiters.Index(i).Elem().Pointer()])
		}
		return order
	}
	if got := theirOrder(12); len(got) != 11 || !slices.IsSorted(got) {
		t.Errorf("clockwork: 12 waiters are in order %v, want sorted", got)
	}
	if got := theirOrder(13); len(got) != 12 || slices.IsSorted(got) {
		t.Errorf("clockwork: 13 waiters are in order %v, want disturbed", got)
	}

	c := newClock()
	var got []int
	for i := range 12 {
		c.AfterFunc(time.Hour, func() { got = append(got, i) })
	}
	c.AfterFunc(time.Minute, func() {})
	c.Advance(time.Hour)
	if len(got) != 12 || !slices.IsSorted(got) {
		t.Errorf("fakeclock: functions ran in order %v, want sorted", got)
	}
}

// In clockwork, Ticker.Reset queues the ticker again without taking it out.
func TestClockworkTickerResetLeaksWaiter(t *testing.T) {
	theirs := newClockwork()
	ticker := theirs.NewTicker(time.Hour)
	ticker.Reset(time.Hour)
	ended, cancel := context.WithCancel(t.Context())
	cancel() // BlockUntilContext then only looks
	if reflect.ValueOf(theirs).Elem().FieldByName("waiters").Len() != 2 {
		t.Error("clockwork: Reset left no second waiter")
	}
	if err := theirs.BlockUntilContext(ended, 2); err != nil {
		t.Errorf("clockwork: BlockUntilContext does not count two waiters for one ticker: %v", err)
	}
	ticker.Stop()
	theirs.Advance(time.Hour)
	checkReceive(t, ticker.Chan(), at(time.Hour)) // from the waiter that Stop left

	ours := newClock()
	ticker = ours.NewTicker(time.Hour)
	ticker.Reset(time.Hour)
	checkWaiters(t, ours, 1)
	ticker.Stop()
	checkWaiters(t, ours, 0)
	ours.Advance(time.Hour)
	checkReceive(t, ticker.Chan(), time.Time{})
}

// In clockwork, a sent time stays in the channel after Stop and Reset, as in package time before Go 1.23.
func TestClockworkStaleValues(t *testing.T) {
	stale := func(c clockwork.Clock, advance func(time.Duration), want time.Time) {
		t.Helper()
		ticker, stopped, reset := c.NewTicker(s), c.NewTimer(s), c.NewTimer(s)
		advance(s)
		ticker.Stop()
		checkReceive(t, ticker.Chan(), want)
		stopped.Stop()
		checkReceive(t, stopped.Chan(), want)
		reset.Reset(time.Hour)
		checkReceive(t, reset.Chan(), want)
	}
	theirs, ours := newClockwork(), newClock()
	stale(theirs, theirs.Advance, at(s))
	stale(ours, ours.Advance, time.Time{})
}

// A wrapper of a clock, for instance one that counts calls.
type wrapped struct{ clockwork.Clock }

// clockwork.WithTimeout looks for its own type and otherwise uses real time, of which a minute does not pass in this
// test.
func TestClockworkWithTimeoutUsesRealTime(t *testing.T) {
	theirs, ours := newClockwork(), newClock()
	advance := func() { theirs.Advance(time.Hour); ours.Advance(time.Hour) }
	for name, c := range map[string]clockwork.Clock{
		"a wrapped clockwork.FakeClock": wrapped{theirs},
		"a fakeclock.Clock":             ours,
	} {
		ctx, cancel := clockwork.WithTimeout(t.Context(), c, time.Minute)
		if got, _ := ctx.Deadline(); got.Equal(c.Now().Add(time.Minute)) {
			t.Errorf("clockwork.WithTimeout on %s has its deadline on the clock: %v", name, got)
		}
		advance()
		if err := ctx.Err(); err != nil {
			t.Errorf("clockwork.WithTimeout on %s ended: %v", name, err)
		}
		cancel()
	}
	ctx, cancel := ours.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	checkDeadline(t, ctx, ours.Now().Add(time.Minute))
	advance()
	checkEnded(t, ctx, context.DeadlineExceeded, context.DeadlineExceeded)
}

// clockwork's contexts end with an error of its own, which code that compares with == does not recognise.
func TestClockworkDeadlineError(t *testing.T) {
	theirs := newClockwork()
	ctx, cancel := clockwork.WithTimeout(t.Context(), theirs, s)
	defer cancel()
	theirs.Advance(s)
	<-ctx.Done() // another goroutine ends it
	if err := ctx.Err(); err == context.DeadlineExceeded || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("clockwork: Err() = %v, want an error that wraps DeadlineExceeded and is not it", err)
	}

	ours := newClock()
	ctx, cancel = ours.WithTimeout(t.Context(), s)
	defer cancel()
	ours.Advance(s)
	if err := ctx.Err(); err != context.DeadlineExceeded {
		t.Errorf("fakeclock: Err() = %v, want context.DeadlineExceeded itself", err)
	}
}

func TestClockworkHasNoNext(t *testing.T) {
	type nexter interface{ Next() (time.Time, bool) }
	if _, ok := any(newClockwork()).(nexter); ok {
		t.Error("clockwork.FakeClock has a method Next")
	}
	if _, ok := any(newClock()).(nexter); !ok {
		t.Error("fakeclock.Clock has no method Next")
	}
}

func TestClockworkNegativeAdvanceGoesBack(t *testing.T) {
	theirs, ours := newClockwork(), newClock()
	theirs.Advance(-s)
	checkNow(t, theirs, at(-s))
	ours.Advance(-s)
	checkNow(t, ours, at(0))
}
