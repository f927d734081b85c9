package fakeclock_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
)

func BenchmarkNow(b *testing.B) {
	c := newClock()
	b.ReportAllocs()
	for b.Loop() {
		c.Now()
	}
}

func BenchmarkNodeNow(b *testing.B) {
	c := newClock()
	node := c.Node(fakeclock.Drift{Offset: time.Second, PPM: 200})
	c.Advance(time.Hour)
	b.ReportAllocs()
	for b.Loop() {
		node.Now()
	}
}

func BenchmarkNewTimerStop(b *testing.B) {
	c := newClock()
	b.ReportAllocs()
	for b.Loop() {
		c.NewTimer(time.Second).Stop()
	}
}

func BenchmarkWithTimeoutCancel(b *testing.B) {
	c := newClock()
	b.ReportAllocs()
	for b.Loop() {
		_, cancel := c.WithTimeout(b.Context(), time.Second)
		cancel()
	}
}

// Each iteration fires 1,000 timers, set in an order that is not theirs.
func BenchmarkAdvance1000(b *testing.B) {
	c := newClock()
	f := func() {}
	b.ReportAllocs()
	for b.Loop() {
		for i := range 1000 {
			c.AfterFunc(time.Duration(i*617%1000)*time.Millisecond, f)
		}
		c.Advance(time.Second)
	}
}
