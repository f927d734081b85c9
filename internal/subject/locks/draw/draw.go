// Package draw draws the worlds of locks.
package draw

import (
	"cmp"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// Locks is the subject of locks. A lock has been tested only if somebody took it, if two machines wanted it at the same
// time, and if it was taken over from a machine that had not released it.
var Locks = &worlds.Subject{
	Verb: "hold", Fill: fill, Settle: settle, Wrong: worlds.Extras.WrongLease, UnderTest: "lock-under-test",
	Reach: []spec.Mark{
		mark.HoldTaken, mark.HoldContended, mark.HoldTakenOver, mark.GuardedWritten,
		mark.NodePaused, mark.NodeCrashed, mark.ClockSet, worlds.ResponseLost,
	},
	Proof:   []spec.Mark{mark.HoldTaken, mark.HoldContended, mark.HoldTakenOver},
	Nothing: "no lock was taken", Also: worlds.Also{Verb: "extend", Mark: mark.HoldExtended},
	Program: worlds.Program{
		Flag: "lock", Named: "a lock", InGo: "property.LockCheck", Hint: "docs/NODES.md says what that is",
		Usage: "the program is a lock: machines hold it, and write what it guards (docs/NODES.md)",
		Flags: []string{"lease"}, Lacks: "a lock has no pages",
	},
}

func fill(t *rapid.T, s *spec.Scenario, l worlds.Extras) {
	lease := worlds.Pick(t, "lease", worlds.Or(l.Leases, worlds.Leases()...)...)
	s.Cache.Lease = lease
	worlds.Tries(t, s)
	crashes := worlds.Pick(t, "who may crash", 0, 1)
	names := worlds.Keys(t, "job", "mail", "Job", "jobs", "jab")
	// Some times are not whole seconds, so that a lock that forgets about fractions is found.
	worlds.Scripted(t, s, crashes, rapid.Custom(func(t *rapid.T) spec.Command {
		lock := worlds.Pick(t, "lock", names...)
		return worlds.Pick(t, "command",
			hold(lock, 300*time.Millisecond),
			hold(lock, lease-100*time.Millisecond),
			worlds.Sleep(900*time.Millisecond),
			hold(lock, lease/2),
			worlds.Sleep(lease+time.Second),
			hold(lock, 2*lease+time.Second),
			hold(lock, lease+time.Second),
			worlds.Sleep(time.Second),
		)
	}))
	if len(worlds.NamesOf(s, "hold")) == 0 { // without a hold nothing could be judged
		s.Actors[0].Script = append(s.Actors[0].Script, hold(names[0], time.Second))
	}
	switch worlds.Pick(t, "fails at each attempt", "", "", "", "later", "all for a lease") {
	case "":
		if l.Goroutines || worlds.Pick(t, "a holder is lost", false, false, false, true) {
			drawLoss(t, s, names[0])
		}
	case "later": // the other node releases the lock, or keeps it
		const short = 300 * time.Millisecond
		o := worlds.Outage{First: hold(names[0], short), Takes: short}
		o.Then = hold(names[0], worlds.Pick(t, "outage's hold", short, lease-short))
		o.Lasts = worlds.Pick(t, "the other's hold", short, lease-short)
		o.Between = hold(names[0], o.Lasts)
		o.Draw(t, s)
	default:
		cutOff(s, names[0])
	}
	worlds.Late(t, s, "hold", 4*lease, lease)
}

func hold(lock string, d time.Duration) spec.Command {
	return spec.Command{Verb: "hold", Key: lock, For: d}
}

// drawLoss draws what happens to the first holder of a lock with goroutines. A holder that sends heartbeats loses its
// lock only if its machine dies, or stands still for longer than a lease: the timers of a machine that stands still go
// on, and send one more heartbeat. Schedules of such a lock are few and slow, and seldom find such a moment by
// themselves.
func drawLoss(t *rapid.T, s *spec.Scenario, lock string) {
	lease := s.Cache.Lease
	loss := sim.Planned{At: lease / 2}
	switch worlds.Pick(t, "the first holder", "lives", "dies", "lives", "dies", "stands still") {
	case "lives":
		return
	case "dies":
		loss.Kind, loss.At = sim.Crash, worlds.Pick(t, "dies", lease/2, 5*lease/2) // by then it has been extended often
	default:
		loss.Kind, loss.For = sim.Pause, 2*lease+time.Second
	}
	s.Actors[0].Events = []sim.Planned{loss}
	inherits(s, lock)
}

// settle returns the time within which each lock must be free to take, from the end of a world's faults. If no node can
// crash and no request can fail, not even by the lock's own timeout, every holder has released its lock by then. A lock
// that is still held has been forgotten.
func settle(s *spec.Scenario, e worlds.Extras) time.Duration {
	c, locks := s.Cache, len(worlds.NamesOf(s, "hold"))
	wait := cmp.Or(e.Wait, hooks.DefaultWait) + 2*s.Skew + c.Poll + s.ReplicaLag
	fails := len(s.Faults) > 0 || slices.ContainsFunc(s.Actors, func(a spec.Actor) bool {
		return a.Crashes > 0 || (e.Goroutines || e.Program) && a.Pauses > 0 || len(a.Events) > 0
	})
	if fails = fails || (e.Goroutines || e.Program) && s.Bounds.Ticks > 0; !fails && locks == 1 &&
		wait < c.Lease/2 {
		return wait
	}
	each := c.Lease + cmp.Or(e.Takeover, hooks.DefaultTakeover(c.Lease)) + wait + 4*s.Skew + 2*time.Second
	return time.Duration(locks) * each
}

// cutOff cuts the first node off from the table while it holds the lock, for longer than a lease: nothing that it sends
// extends the lock, and another node takes it.
func cutOff(s *spec.Scenario, lock string) {
	lease := s.Cache.Lease
	inherits(s, lock)
	s.Faults = append(s.Faults, spec.Fault{
		Fault: ddbfake.Fault{Kind: ddbfake.FaultErrorBefore, Actor: worlds.ActorNames[0]},
		From:  lease / 4, To: 3 * lease,
	})
}

// inherits makes the first node hold the lock for three leases, and the second one ask for it when one lease is over.
func inherits(s *spec.Scenario, lock string) {
	lease := s.Cache.Lease
	s.Cache.Poll, s.Cache.Patience = lease/2, max(s.Cache.Patience, 4)
	held := []spec.Command{hold(lock, 3*lease)}
	s.Actors[0].Script = slices.Concat(held, s.Actors[0].Script)
	s.Actors[1].Script = slices.Concat([]spec.Command{worlds.Sleep(lease)}, held, s.Actors[1].Script)
}
