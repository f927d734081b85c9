package serve

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/server/control"
)

// ParseClock returns the clock that a text describes, and its mode. "wall" is a clock that follows real time. "manual"
// is a clock that stands until the control API moves it. An instant is a manual clock that starts at that instant.
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

// manualClock stands until it is moved. No program sleeps on it, so, unlike a fakeclock.Clock, it can be set back when
// an older state is restored.
type manualClock struct {
	mu  sync.Mutex
	now time.Time
}

func newManualClock(start time.Time) *manualClock { return &manualClock{now: start.Round(0).UTC()} }

// Now returns the time at which the clock stands.
func (c *manualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward by d.
func (c *manualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d > 0 {
		c.now = c.now.Add(d)
	}
}

// AdvanceTo moves the clock forward to t. If t is before Now it does nothing.
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

// WallLag is the default lag of TTL on the wall clock. DynamoDB Local has the same lag. The service promises to delete
// within a few days.
const WallLag = "uniform 1s 30s"

// defaultLag returns the default lag for a clock's mode. Under a manual clock, rows are deleted only on request.
func defaultLag(mode string) string {
	if mode == "wall" {
		return WallLag
	}
	return ddbfake.LagManual.String()
}

// sayLag prints when the expired rows of a table will be deleted, if a call has enabled the table's TTL.
func sayLag(log io.Writer, db *ddbfake.DB, input any) {
	in, ok := input.(*dynamodb.UpdateTimeToLiveInput)
	if !ok || in.TimeToLiveSpecification == nil || !aws.ToBool(in.TimeToLiveSpecification.Enabled) {
		return
	}
	text := "are deleted after a lag: " + db.Lag().String()
	switch lag := db.Lag(); lag {
	case ddbfake.LagManual:
		text = "stay until the control API sweeps them"
	case ddbfake.LagNever:
		text = "stay for ever"
	case ddbfake.LagAtOnce:
		text = "are deleted at once"
	}
	fmt.Fprintf(log, "isr-sim: TTL of %s is on; rows whose %s is past %s (--ttl-lag)\n",
		aws.ToString(in.TableName), aws.ToString(in.TimeToLiveSpecification.AttributeName), text)
}

// wallClock follows real time, and can be moved ahead of it. It is the fake's only clock that moves by itself.
//
// It never goes back: when the machine's clock goes back, the wallClock stands until the machine's clock has caught up.
type wallClock struct {
	real func() time.Time

	mu    sync.Mutex
	ahead time.Duration
	last  time.Time
}

func newWallClock() *wallClock { return &wallClock{real: time.Now} }

// Now returns real time, plus the duration by which the clock is ahead.
func (c *wallClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *wallClock) now() time.Time {
	// Round removes the monotonic reading, which stands still while the machine is asleep.
	if t := c.real().Round(0).UTC().Add(c.ahead); t.After(c.last) {
		c.last = t
	}
	return c.last
}

// Advance moves the clock forward by d.
func (c *wallClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d > 0 {
		c.ahead += d
	}
}

// AdvanceTo moves the clock forward to t, from where it continues. If t is before Now it does nothing.
func (c *wallClock) AdvanceTo(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); t.After(now) {
		c.ahead += t.Sub(now)
	}
}
