package serve

import (
	"sync"
	"time"
)

// wallClock follows real time, and can be moved ahead of it. It is the only clock of the fake that moves by itself.
//
// It never goes back: when the clock of the machine does, this one stands until the other has caught up.
type wallClock struct {
	real func() time.Time

	mu    sync.Mutex
	ahead time.Duration
	last  time.Time
}

func newWallClock() *wallClock { return &wallClock{real: time.Now} }

// Now is real time, plus what the clock was moved ahead.
func (c *wallClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *wallClock) now() time.Time {
	// Without the monotonic reading, which stands while the machine sleeps.
	if t := c.real().Round(0).UTC().Add(c.ahead); t.After(c.last) {
		c.last = t
	}
	return c.last
}

// Advance moves the clock ahead by d.
func (c *wallClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d > 0 {
		c.ahead += d
	}
}

// AdvanceTo moves the clock ahead to t, from where it goes on. If t is before Now it does nothing.
func (c *wallClock) AdvanceTo(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); t.After(now) {
		c.ahead += t.Sub(now)
	}
}
