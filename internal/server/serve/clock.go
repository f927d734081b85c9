package serve

import (
	"fmt"
	"sync"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/server/control"
)

// ParseClock returns the clock that a text asks for, and its mode: wall follows real time, manual stands until the
// control API moves it, and so does an instant, at which it begins.
func ParseClock(text string) (clock control.Clock, mode string, err error) {
	switch text {
	case "wall":
		return newWallClock(), "wall", nil
	case "manual":
		return newManualClock(fakeclock.Epoch), "manual", nil
	}
	start, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return nil, "", fmt.Errorf("found %q, expected wall, manual, or an instant", text)
	}
	return newManualClock(start), "manual", nil
}

// manualClock stands until it is moved. No program sleeps on it, so that, unlike a fakeclock.Clock, it can be set back:
// to the time of a state that is restored.
type manualClock struct {
	mu  sync.Mutex
	now time.Time
}

func newManualClock(start time.Time) *manualClock { return &manualClock{now: start.Round(0).UTC()} }

// Now is where the clock stands.
func (c *manualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock ahead by d.
func (c *manualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d > 0 {
		c.now = c.now.Add(d)
	}
}

// AdvanceTo moves the clock ahead to t. If t is before Now it does nothing.
func (c *manualClock) AdvanceTo(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.now) {
		c.now = t.Round(0).UTC()
	}
}

// Reset sets the clock to t, which may be before Now.
func (c *manualClock) Reset(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t.Round(0).UTC()
}
