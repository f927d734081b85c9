package fakeclock_test

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/fakeclock"
)

func TestTicker(t *testing.T) {
	c := newClock()
	ticker := c.NewTicker(2 * s)
	checkReceive(t, ticker.Chan(), time.Time{})
	for i := range time.Duration(3) {
		c.Advance(2 * s)
		checkReceive(t, ticker.Chan(), at((i+1)*2*s))
		checkReceive(t, ticker.Chan(), time.Time{})
	}
}

func TestTickerDropsTicksForSlowReader(t *testing.T) {
	c := newClock()
	ticker := c.NewTicker(s)
	c.Advance(10*s + s/2)
	checkReceive(t, ticker.Chan(), at(s)) // the first; the others found it unread
	checkReceive(t, ticker.Chan(), time.Time{})
	c.Advance(s / 2) // the rhythm is kept
	checkReceive(t, ticker.Chan(), at(11*s))
}

func TestTickerStop(t *testing.T) {
	c := newClock()
	ticker := c.NewTicker(s)
	c.Advance(s)
	ticker.Stop()
	checkReceive(t, ticker.Chan(), time.Time{})
	c.Advance(time.Hour)
	checkReceive(t, ticker.Chan(), time.Time{})
	checkWaiters(t, c, 0)
	ticker.Stop() // again does nothing
}

func TestTickerReset(t *testing.T) {
	c := newClock()
	ticker := c.NewTicker(2 * s)
	c.Advance(3 * s) // leaves the tick of 2s unread
	ticker.Reset(5 * s)
	checkReceive(t, ticker.Chan(), time.Time{})
	checkWaiters(t, c, 1)
	c.Advance(5*s - 1)
	checkReceive(t, ticker.Chan(), time.Time{})
	c.Advance(1)
	checkReceive(t, ticker.Chan(), at(8*s))

	ticker.Stop()
	ticker.Reset(s) // starts a stopped ticker
	c.Advance(s)
	checkReceive(t, ticker.Chan(), at(9*s))
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
