package fakeclock

import (
	"fmt"
	"math"
	"time"

	"github.com/jonboulle/clockwork"
)

// MaxPPM bounds [Drift.PPM] on both sides: at MaxPPM a node's clock runs at twice the true rate, at -MaxPPM it stands
// still.
const MaxPPM = 1_000_000

// A Drift is how a node's clock differs from true time. The zero Drift is a correct clock.
type Drift struct {
	Offset time.Duration // how far ahead the node's clock is when the true clock starts
	PPM    int64         // parts per million by which it runs fast, or slow if negative
}

// String returns d as "+1.5s -200ppm".
func (d Drift) String() string {
	sign := "+"
	if d.Offset < 0 {
		sign = ""
	}
	return fmt.Sprintf("%s%v %+dppm", sign, d.Offset, d.PPM)
}

func (d Drift) clamp() Drift {
	d.PPM = min(max(d.PPM, -MaxPPM), MaxPPM)
	// The smallest Duration has no negative; its neighbour does.
	d.Offset = max(d.Offset, -math.MaxInt64)
	return d
}

// A Node is the clock of one machine: a view of a [Clock] that is off by a [Drift] and by the steps taken since. It
// implements [clockwork.Clock]. Make one with [Clock.Node]; a PPM beyond MaxPPM is taken as MaxPPM.
//
// As a machine does, a node has two clocks. T is the true time, start is the start of the true clock, and integers are
// rounded down to the nanosecond:
//
//	monotonic  M(T) = T + PPM * (T - start) / 1,000,000
//	wall       Now  = M(T) + Offset + the sum of all steps so far
//
// Now returns the wall clock; Since and Until compare with it, and timers send it. (Timers of package time prefer the
// monotonic reading inside a [time.Time]. It cannot be forged, so here a step shows in Since.)
//
// Durations are measured by the monotonic clock: a timer for d set at T0 fires at the earliest true time T with M(T) >=
// M(T0) + d. A node that runs fast fires early in true time; one that stands still never fires. Steps move no timer.
//
// The arithmetic is exact and does not overflow. It spans 292 years from start, the range of a [time.Duration]. Beyond
// that, drift no longer grows, and the later timers of a drifting node are never due.
type Node struct {
	clock *Clock
	drift Drift
	steps time.Duration // guarded by clock.mu
}

var _ clockwork.Clock = (*Node)(nil)

// True returns true time: Now of the node's Clock.
func (n *Node) True() time.Time { return n.clock.Now() }

// Step makes the node's wall clock jump by d, which may be negative, as when NTP or an operator sets it. Running
// timers, tickers and contexts do not notice: they measure by the monotonic clock, as in package time.
func (n *Node) Step(d time.Duration) {
	n.clock.mu.Lock()
	defer n.clock.mu.Unlock()
	n.steps = addDuration(n.steps, d)
}

// Local returns the reading of the node's clock at the true time t, if the node takes no further step. For past times
// it assumes that all steps were taken at the start.
func (n *Node) Local(t time.Time) time.Time {
	n.clock.mu.Lock()
	defer n.clock.mu.Unlock()
	return n.read(n.clock.normal(t))
}

// TrueTime returns the earliest true time at which the node's clock shows local or later, under the assumptions of
// [Node.Local]; it may lie in the past, up to 292 years before the clock started. It returns false if there is no such
// time: the node stands still, or is so slow that it lies more than 292 years after the start.
//
// Within that span, Local(TrueTime(l)) is l or, where the node is fast and skips l, the next nanosecond.
func (n *Node) TrueTime(local time.Time) (time.Time, bool) {
	n.clock.mu.Lock()
	defer n.clock.mu.Unlock()
	t := n.due(n.unshift(local))
	if !t.Before(never) {
		return time.Time{}, false
	}
	return t, true
}

// Now returns the time the node's wall clock shows.
func (n *Node) Now() time.Time {
	n.clock.mu.Lock()
	defer n.clock.mu.Unlock()
	return n.read(n.clock.now)
}

// Since returns Now().Sub(t).
func (n *Node) Since(t time.Time) time.Duration { return n.Now().Sub(t) }

// Until returns t.Sub(Now()).
func (n *Node) Until(t time.Time) time.Duration { return t.Sub(n.Now()) }

// Sleep is [Clock.Sleep] by the node's rate.
func (n *Node) Sleep(d time.Duration) { <-n.After(d) }

// After is [Clock.After] by the node's rate.
func (n *Node) After(d time.Duration) <-chan time.Time { return n.NewTimer(d).Chan() }

// NewTimer is [Clock.NewTimer] by the node's rate. The time it sends is Now of the node.
func (n *Node) NewTimer(d time.Duration) clockwork.Timer { return newTimer(n, d, newChan(), nil) }

// AfterFunc is [Clock.AfterFunc] by the node's rate.
func (n *Node) AfterFunc(d time.Duration, f func()) clockwork.Timer { return newTimer(n, d, nil, f) }

// NewTicker is [Clock.NewTicker] by the node's rate. The time it sends is Now of the node. The k-th tick comes when k
// periods have passed on the node's monotonic clock, without accumulating rounding.
func (n *Node) NewTicker(d time.Duration) clockwork.Ticker {
	if d <= 0 {
		panic("fakeclock: non-positive interval for NewTicker")
	}
	return newTicker(n, d)
}

// The methods below are called with the clock locked.

// mono returns M(t).
func (n *Node) mono(t time.Time) time.Time {
	if n.drift.PPM == 0 {
		return t
	}
	// Whole seconds and the rest are multiplied separately: neither product can overflow.
	million, rest := divFloor(int64(t.Sub(n.clock.start)), MaxPPM)
	part, _ := divFloor(rest*n.drift.PPM, MaxPPM)
	return t.Add(time.Duration(million*n.drift.PPM + part))
}

// due returns the earliest true time at which the monotonic clock shows m or later, never if there is none.
func (n *Node) due(m time.Time) time.Time {
	m = n.clock.normal(m)
	if n.drift.PPM == 0 {
		return m
	}
	// M rounds elapsed * rate / MaxPPM down; so elapsed is m * MaxPPM / rate rounded up.
	elapsed, rate := int64(m.Sub(n.clock.start)), MaxPPM+n.drift.PPM
	switch {
	case elapsed == math.MaxInt64: // saturated
		return never
	case rate == 0 && elapsed > 0:
		return never
	case rate == 0:
		return n.clock.start
	}
	quo, rest := divFloor(elapsed, rate)
	switch limit := int64(math.MaxInt64/MaxPPM - 1); {
	case quo > limit:
		return never
	case quo < -limit:
		return n.clock.start.Add(math.MinInt64)
	}
	part, over := divFloor(rest*MaxPPM, rate)
	if over > 0 {
		part++
	}
	return n.clock.start.Add(time.Duration(quo*MaxPPM + part))
}

// after returns the true time at which d has passed on the monotonic clock; if d is not positive, a time up to now.
func (n *Node) after(d time.Duration) time.Time { return n.due(n.mono(n.clock.now).Add(d)) }

// read returns the wall clock's reading at the true time t.
func (n *Node) read(t time.Time) time.Time { return n.mono(t).Add(n.drift.Offset).Add(n.steps) }

// unshift returns the monotonic reading for a wall reading.
func (n *Node) unshift(local time.Time) time.Time {
	return local.Add(-n.drift.Offset).Add(-n.steps)
}

// divFloor returns a/b rounded down and the remainder, which is in [0, b).
func divFloor(a, b int64) (quo, rest int64) {
	quo, rest = a/b, a%b
	if rest < 0 {
		quo, rest = quo-1, rest+b
	}
	return quo, rest
}

// addDuration returns a + b. If that overflows, it returns the nearest [time.Duration] that has a negative.
func addDuration(a, b time.Duration) time.Duration {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < -math.MaxInt64-b:
		return -math.MaxInt64
	}
	return a + b
}
