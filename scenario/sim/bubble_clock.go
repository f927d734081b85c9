package sim

import (
	"context"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// bubbleClock is a node's clock for code in a Bubble: it has all that a clock has. Its Sleep is a step of the schedule.
// Timers and tickers go by the bubble's time, so that those whose firing does nothing cost no steps; no two of one node
// fire at the same instant, because their order would then be undefined.
type bubbleClock struct{ actorClock }

func (c bubbleClock) Now() time.Time                  { return c.proc.actor.node.Local(c.proc.Now()) }
func (c bubbleClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c bubbleClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Sleep returns at once if the node is down: the end of the wait would never come.
func (c bubbleClock) Sleep(d time.Duration) {
	_ = c.proc.Sleep(context.WithoutCancel(c.proc.life), d) // it has no error to return
}

func (c bubbleClock) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).Chan() }

func (c bubbleClock) NewTimer(d time.Duration) clockwork.Timer {
	t := &bubbleTimer{clock: c, tick: make(chan time.Time, 1)}
	t.Reset(d)
	return t
}

func (c bubbleClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	t := &bubbleTimer{clock: c, f: f}
	t.Reset(d)
	return t
}

func (c bubbleClock) NewTicker(d time.Duration) clockwork.Ticker {
	if d <= 0 {
		panic("sim: non-positive interval for NewTicker")
	}
	t := &bubbleTimer{clock: c, tick: make(chan time.Time, 1), period: d}
	t.Reset(d)
	return bubbleTicker{t}
}

// apart is how many timers of one node are kept apart, by a nanosecond each.
const apart = 1000

// delay returns how long d of the node's time is in true time, and a little more, differently for each timer.
func (c bubbleClock) delay(d time.Duration) time.Duration {
	p := c.proc
	p.sim.gate.mu.Lock()
	p.timers = p.timers%apart + 1
	nth := time.Duration(p.timers)
	p.sim.gate.mu.Unlock()
	return p.after(max(d, 0)).Sub(p.Now()) + nth
}

// bubbleTimer is a timer, or a ticker if it has a period.
type bubbleTimer struct {
	clock  bubbleClock
	tick   chan time.Time
	f      func()
	period time.Duration

	mu   sync.Mutex
	stop func() bool
	nth  int // number of the setting of the timer; earlier settings no longer count
	late int // ticks since the node has been down
}

func (t *bubbleTimer) Chan() <-chan time.Time { return t.tick }

func (t *bubbleTimer) Stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.clear()
}

func (t *bubbleTimer) Reset(d time.Duration) bool {
	delay := t.clock.delay(d)
	t.mu.Lock()
	defer t.mu.Unlock()
	active := t.clear()
	if t.period > 0 {
		t.period = d
	}
	t.start(delay)
	return active
}

// clear stops the timer and removes the value that it has sent.
func (t *bubbleTimer) clear() (active bool) {
	t.nth++
	if t.stop != nil {
		active = t.stop()
	}
	select {
	case <-t.tick:
	default:
	}
	return active
}

func (t *bubbleTimer) start(delay time.Duration) {
	nth := t.nth
	t.stop = t.clock.proc.sim.cfg.Bubble.AfterFunc(delay, func() { t.fire(nth) })
}

func (t *bubbleTimer) fire(nth int) {
	t.mu.Lock()
	if nth != t.nth {
		t.mu.Unlock()
		return
	}
	p := t.clock.proc
	if t.period > 0 {
		// The ticks of a node that is down would never end.
		if p.life.Err() != nil {
			t.late++
		}
		if t.late <= 2*enoughRefusals {
			t.start(p.after(t.period).Sub(p.Now()))
		}
	}
	if t.tick != nil {
		select {
		case t.tick <- t.clock.Now():
		default:
		}
	}
	t.mu.Unlock()
	if t.f != nil {
		t.f()
	}
}

// bubbleTicker is a ticker as clockwork has it: its methods return nothing.
type bubbleTicker struct{ t *bubbleTimer }

func (t bubbleTicker) Chan() <-chan time.Time { return t.t.tick }
func (t bubbleTicker) Stop()                  { t.t.Stop() }
func (t bubbleTicker) Reset(d time.Duration)  { t.t.Reset(d) }
