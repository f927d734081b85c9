package property

import (
	"context"
	"flag"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// limit says when making a failure smaller must be over, by the clock on the wall: after -rapid.shrinktime in all, or
// with the first run that does not end. It is the context of all runs. They only ask for Err: in a bubble of
// testing/synctest, the timer of any other context would stand still.
type limit struct {
	context.Context
	began       bool // there is something to make smaller
	most        time.Duration
	worlds, end time.Time // until when rapid may look for smaller worlds; and until when all may last
	over        atomic.Bool
	why         string // it ended early, for people
	mutexes     bool   // goroutines of the store wait for mutexes that others hold over a call
}

func newLimit(t *testing.T) *limit { return &limit{Context: context.WithoutCancel(t.Context())} }

// Err implements context.Context.
func (l *limit) Err() error {
	if l.over.Load() {
		return context.DeadlineExceeded
	}
	return l.Context.Err()
}

// shrinkFlag is rapid's.
const shrinkFlag = "rapid.shrinktime"

// reserve is what shrinking leaves of a test's own time: for what comes after it.
const reserve = 10 * time.Second

// begin has shrinking begin, and returns how long it may take. The schedule gets what worlds leave, and a quarter of
// the time at least.
func (l *limit) begin(t *testing.T) time.Duration {
	var most time.Duration
	if f := flag.Lookup(shrinkFlag); f != nil {
		if get, ok := f.Value.(flag.Getter); ok {
			most, _ = get.Get().(time.Duration)
		}
	}
	now := time.Now() //nolint:forbidigo // shrinking is bounded by the time that people wait
	if deadline, ok := t.Deadline(); ok {
		most = min(most, deadline.Add(-reserve).Sub(now))
	}
	most = max(most, 0)
	l.began, l.most, l.worlds, l.end = true, most, now.Add(most-most/4), now.Add(most)
	if most == 0 {
		l.over.Store(true)
		return 0
	}
	timer := time.AfterFunc(most, func() { l.over.Store(true) }) //nolint:forbidigo // as above
	t.Cleanup(func() { timer.Stop() })
	return most
}

// worldsOver says whether rapid has had its share.
func (l *limit) worldsOver() bool {
	return l.over.Load() || !time.Now().Before(l.worlds) //nolint:forbidigo // as above
}

// left is how much time there is, for many runs: they end a little after the limit.
func (l *limit) left() time.Duration {
	const more = time.Second
	return max(0, time.Until(l.end)) + more //nolint:forbidigo // as above
}

// stick notes that a run did not end within most.
func (l *limit) stick(most time.Duration) {
	if l.began {
		l.why = fmt.Sprintf("with a run that did not end within %v", most.Round(time.Millisecond))
		l.over.Store(true)
	}
}

// ended says why there may be a smaller failure; "" if there was time enough to look.
func (l *limit) ended() string {
	switch {
	case !l.began || l.most == 0 || l.why == "" && !l.worldsOver():
		return ""
	case l.why == "":
		return fmt.Sprintf("shrinking ended with its time, %v (-%s)", l.most.Round(time.Millisecond), shrinkFlag)
	default:
		return "shrinking ended " + l.why
	}
}

// patience is how long a run may take before it counts as stuck: not longer than shrinking may, where that has begun.
func (l *limit) patience() time.Duration {
	if !l.began {
		return patience
	}
	const least = time.Second                           // enough for a run that does end
	return min(patience, max(least, time.Until(l.end))) //nolint:forbidigo // as above
}
