package kernel_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/kernel/deadline"
)

// A stop is not idle at the end of a fault's window, nor if it is the last one.
func TestNoStopIsIdleAtTheEndOfAWindow(t *testing.T) {
	at, both := time.Unix(100, 0), []int64{100, 101}
	for _, test := range []struct {
		stops      deadline.Stops
		idle, next bool // at 100, and at 101
		last       int64
	}{
		{deadline.Stops{Unread: both}, true, false, 101},
		{deadline.Stops{Unread: both, At: []int64{101}}, true, false, 0}, // code reads a deadline at 101
		{deadline.Stops{Unread: both, Windows: []time.Time{at}}, false, false, 101},
	} {
		d := &test.stops
		idle, next, last := d.Idle(at), d.Idle(at.Add(time.Second)), d.Last()
		if idle != test.idle || next != test.next || last != test.last {
			t.Errorf("idle %v and %v, last %d; want %+v", idle, next, last, test)
		}
	}
}

// A row in milliseconds may say "never" with an instant whose nanoseconds do not fit in an int64.
func TestNeverIsNoStop(t *testing.T) {
	for end, want := range map[int]bool{2200: true, 2300: false, 9999: false} {
		d, now := deadline.Stops{}, time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
		d.AddFine(time.Date(end, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond)
		if next, stops := d.Next(now); stops != want {
			t.Errorf("a lease until %d stops time at %v: %v, want %v", end, next, stops, want)
		}
	}
}
