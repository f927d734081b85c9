package sim

import (
	"fmt"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/fakeclock"
)

// NodeClock is the clock of a Proc. It also has the methods that the code of a node in another process needs: that code
// gets the clock, but not the Proc.
type NodeClock interface {
	clockwork.Clock
	// Local is Proc.Local.
	Local() time.Time
	// Memory is Config.Memory, and Left is Config.Left.
	Memory() Memory
	Left() <-chan struct{}
	// Lane runs f in a new lane until it parks or returns, and returns a function that drops the lane. Dropping a
	// finished lane does nothing; a request under way may still take effect. The steps of f are scheduled like those of
	// other lanes.
	Lane(f func()) (drop func())
	// Join parks the actor's own code until a lane has come to its end. There must be one.
	Join()
}

// actorClock is a node's clock as a coroutine may use it.
type actorClock struct {
	node *fakeclock.Node
	proc *Proc
}

func (c actorClock) Now() time.Time {
	if l := c.proc.running; l != nil {
		l.reads()
		return l.input.local
	}
	c.proc.Own()
	return c.proc.Local()
}

func (c actorClock) Local() time.Time { return c.proc.Local() }

func (c actorClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (c actorClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

func (c actorClock) Sleep(d time.Duration) { c.proc.sleep(d) }

func (c actorClock) Memory() Memory              { return c.proc.sim.cfg.Memory }
func (c actorClock) Left() <-chan struct{}       { return c.proc.sim.cfg.Left }
func (c actorClock) Lane(f func()) (drop func()) { return c.proc.openLane(f) }
func (c actorClock) Join()                       { c.proc.park(away) }

// errChannel explains why an actor may not wait on a channel.
const errChannel = "clock.%s is not available to an actor of the simulator: waiting on a channel would stop the " +
	"whole run; use Sleep, or set Goroutines in a check of package property"

func (c actorClock) After(time.Duration) <-chan time.Time {
	panic(fmt.Errorf(errChannel, "After"))
}

func (c actorClock) NewTimer(time.Duration) clockwork.Timer {
	panic(fmt.Errorf(errChannel, "NewTimer"))
}

func (c actorClock) NewTicker(time.Duration) clockwork.Ticker {
	panic(fmt.Errorf(errChannel, "NewTicker"))
}

func (c actorClock) AfterFunc(time.Duration, func()) clockwork.Timer {
	panic(fmt.Errorf("clock.AfterFunc is not available to an actor of the simulator: the callback would run outside " +
		"of it; use Sleep, or set Goroutines in a check of package property"))
}
