package worlds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// Locks are locks. One has been tested only if somebody took it, if two machines wanted it at the same time, and if it
// was taken over from a machine that had not given it back.
var Locks = &Subject{
	Verb: "hold", Draw: locks, Wrong: Extras.wrongLock, UnderTest: "lock-under-test",
	Reach: []kernel.Mark{
		mark.HoldTaken, mark.HoldContended, mark.HoldTakenOver, mark.GuardedWritten,
		mark.NodePaused, mark.NodeCrashed, mark.ClockSet, responseLost,
	},
	Proof: []kernel.Mark{mark.HoldTaken, mark.HoldContended, mark.HoldTakenOver},
	Basic: mark.HoldTaken, Nothing: "no lock was taken",
	Also: Also{"extend", mark.HoldExtended},
	Program: Program{
		Flag: "lock", Named: "a lock", InGo: "property.LockCheck", Hint: "docs/NODES.md says what that is",
		Usage: "the program is a lock: machines hold it, and write what it guards (docs/NODES.md)",
		Flags: []string{"lease"}, Lacks: "a lock has no pages",
	},
}

// shortestLease is the shortest lease that still leaves scripts something to do under the lock.
const shortestLease = 500 * time.Millisecond

// wrongLock names a field of a lock's terms whose value would let every lock pass, and says why; otherwise both are "".
func (e Extras) wrongLock() (field, why string) {
	for _, lease := range e.leases() {
		if lease < shortestLease {
			return "Leases", fmt.Sprintf("found %v, expected %v at least: of a shorter one nothing is left to rely on",
				lease, shortestLease)
		}
		if promise.Sure(lease, 0, e.Margin) <= 0 {
			return "Margin", fmt.Sprintf("found %v, expected less than each lease; one is %v", e.Margin, lease)
		}
	}
	if stores := promise.ObjectStores(); e.S3Store != "" && !slices.Contains(stores, e.S3Store) {
		return "S3Store", fmt.Sprintf("found %q, expected one of %s", e.S3Store, strings.Join(stores, ", "))
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"Margin", e.Margin}, {"Wait", e.Wait}, {"Takeover", e.Takeover}} {
		if d.value < 0 {
			return d.name, fmt.Sprintf("found %v, expected 0 or more", d.value)
		}
	}
	return "", ""
}

func (e Extras) leases() []time.Duration {
	if len(e.Leases) > 0 {
		return e.Leases
	}
	return defaultLeases()
}

// locks generates worlds for a lock.
func locks(name, protocol string, schedules int, l Extras) *rapid.Generator[World] {
	return rapid.Custom(func(t *rapid.T) World {
		s := begin(t, name, protocol, schedules, l)
		c := &s.Cache
		c.Lease = pick(t, "lease", l.leases()...)
		c.Poll = pick(t, "poll", c.Lease/2, time.Second, 300*time.Millisecond)
		c.Patience = pick(t, "patience", 4, 10, 1) // four tries wait a lease out
		c.Attempts = pick(t, "attempts", 3, 1)
		s.Lag = drawLag(t)
		s.Skew = pick(t, "max clock skew", 0, 0, 100*time.Millisecond, c.Lease/10)
		s.Faults = drawLockFaults(t)
		crashes := pick(t, "who may crash", 0, 1)
		names := []string{"job"}
		if pick(t, "locks", 1, 1, 2) > 1 {
			names = append(names, other(t, "mail", "Job", "jobs", "jab"))
		}
		s.Actors = rapid.SliceOfN(holders(s, names, crashes), 2, len(ActorNames)).Draw(t, "actors")
		for i := range s.Actors {
			s.Actors[i].Name = ActorNames[i]
		}
		if len(lockNames(s)) == 0 { // without a hold nothing could be judged
			s.Actors[0].Script = append(s.Actors[0].Script,
				kernel.Command{Verb: "hold", Key: names[0], For: time.Second})
		}
		switch pick(t, "fails at each attempt", "", "", "", "later", "all for a lease") {
		case "":
			if l.Goroutines || pick(t, "a holder is lost", false, false, false, true) {
				drawLoss(t, s, names[0])
			}
		case "later":
			ofLock(t, s, names[0]).draw(t, s)
		default:
			cutOff(s, names[0])
		}
		for i := range s.Actors {
			drawClockWithin(t, s, &s.Actors[i], longestHolds(s))
		}
		s.ReplicaLag = pick(t, "replica lag", 0, 0, time.Second)
		drawInPart(t, s)
		s.Settle = l.settleLocks(s)
		return World{s}
	})
}

// other draws the name of a second lock or call. Some differ from the first one only in the case of a letter, by one
// more character, or after the first letter: a layer that shortens or folds names takes both for one.
func other(t *rapid.T, names ...string) string { return pick(t, "the other name", names...) }

// holders generates nodes with their scripts, pauses and crashes. Some times are not whole seconds, so that a lock that
// forgets about fractions is found.
func holders(s *kernel.Scenario, names []string, crashes int) *rapid.Generator[kernel.Actor] {
	c := s.Cache
	hold := func(lock string, d time.Duration) kernel.Command {
		return kernel.Command{Verb: "hold", Key: lock, For: d}
	}
	sleep := func(d time.Duration) kernel.Command { return kernel.Command{Verb: "sleep", For: d} }
	commands := rapid.Custom(func(t *rapid.T) kernel.Command {
		lock := pick(t, "lock", names...)
		return pick(t, "command",
			hold(lock, 300*time.Millisecond),
			hold(lock, c.Lease-100*time.Millisecond),
			sleep(900*time.Millisecond),
			hold(lock, c.Lease/2),
			sleep(c.Lease+time.Second),
			hold(lock, 2*c.Lease+time.Second),
			hold(lock, c.Lease+time.Second),
			sleep(time.Second),
		)
	})
	return scripted(commands, c.Lease, crashes)
}

// drawLoss draws what happens to the first holder of a lock with goroutines. A holder that sends heartbeats loses its
// lock only if its machine dies, or stands still for longer than a lease: the timers of a machine that stands still go
// on, and send one more heartbeat. Schedules of such a lock are few and slow, and seldom find such a moment by
// themselves.
func drawLoss(t *rapid.T, s *kernel.Scenario, lock string) {
	lease := s.Cache.Lease
	loss := sim.Planned{At: lease / 2}
	switch pick(t, "the first holder", "lives", "dies", "lives", "dies", "stands still") {
	case "lives":
		return
	case "dies":
		loss.Kind, loss.At = sim.Crash, pick(t, "dies", lease/2, 5*lease/2) // by then it has been extended often
	default:
		loss.Kind, loss.For = sim.Pause, 2*lease+time.Second
	}
	s.Actors[0].Events = []sim.Planned{loss}
	inherits(s, lock)
}

// scripted generates nodes that run such commands, with their pauses and crashes.
func scripted(
	commands *rapid.Generator[kernel.Command], lease time.Duration, crashes int,
) *rapid.Generator[kernel.Actor] {
	return rapid.Custom(func(t *rapid.T) kernel.Actor {
		a := kernel.Actor{Script: rapid.SliceOfN(commands, 1, 5).Draw(t, "script")}
		if a.Pauses = pick(t, "pauses", 0, 1, 2); a.Pauses > 0 {
			a.PauseFor = pick(t, "pause for", lease+time.Second, 0, lease-time.Second, lease)
		}
		if a.Crashes = pick(t, "crashes", 0, crashes); a.Crashes > 0 {
			a.Restarts = pick(t, "restarts", 0, 1)
		}
		return a
	})
}

// drawLockFaults draws faults of the store, each left to the schedule.
func drawLockFaults(t *rapid.T) []kernel.Fault {
	generator := rapid.Custom(func(t *rapid.T) kernel.Fault {
		f := kernel.Fault{Maybe: true}
		f.Kind = pick(t, "fault", ddbfake.FaultResponseLost, ddbfake.FaultResponseLost, ddbfake.FaultErrorAfter,
			ddbfake.FaultRequestLost, ddbfake.FaultThrottled, ddbfake.FaultErrorBefore,
			ddbfake.FaultConflict, ddbfake.FaultDuplicate)
		f.Times = pick(t, "fault's times", 0, 2)
		return f
	})
	return rapid.SliceOfNDistinct(generator, 0, 3, kernel.Fault.String).Draw(t, "faults")
}

// drawInPart draws whether batches come back in part, and queries in pages, in half of the worlds in which something
// else fails, too: worlds without faults are judged more strictly. The keys of the rows are not known here, so the
// schedule chooses one row.
func drawInPart(t *rapid.T, s *kernel.Scenario) {
	if pick(t, "batches in part", false, true) && len(s.Faults) > 0 {
		s.Faults = append(s.Faults,
			kernel.Fault{Fault: ddbfake.Fault{Kind: ddbfake.FaultUnprocessed, Times: 3}, Maybe: true}, shortPages)
	}
}

// shortPages ends pages of queries early. It excuses nothing: who gets such a page asks for the next one at once.
var shortPages = kernel.Fault{Fault: ddbfake.Fault{Kind: ddbfake.FaultShortPage, Times: 3}, Maybe: true}

// lockNames are the locks that scripts hold.
func lockNames(s *kernel.Scenario) []string { return namesOf(s, "hold") }

// namesOf returns the keys of the scripts' commands with a verb.
func namesOf(s *kernel.Scenario, verb kernel.Verb) []string {
	var names []string
	for _, a := range s.Actors {
		for _, c := range a.Script {
			if c.Verb == verb && !slices.Contains(names, c.Key) {
				names = append(names, c.Key)
			}
		}
	}
	return names
}

// longestHolds bounds how much time a run of locks can take.
func longestHolds(s *kernel.Scenario) time.Duration {
	return longestTries(s, "hold", 4*s.Cache.Lease, s.Cache.Lease)
}

// longestTries bounds how much time a run can take. Each command of the verb tries Patience times. A try takes the
// given time, and rows are kept for the given time.
func longestTries(s *kernel.Scenario, verb kernel.Verb, try, kept time.Duration) time.Duration {
	c := s.Cache
	var moving time.Duration
	for _, a := range s.Actors {
		moving += time.Duration(a.Pauses) * a.PauseFor
		for _, command := range a.Script {
			one := command.For
			if command.Verb == verb {
				one += time.Duration(c.Patience) * (c.Poll + try)
			}
			moving += time.Duration(1+a.Restarts) * one
		}
	}
	return 2 * (moving + time.Duration(s.Bounds.Ticks)*(kept+lagAfter) + time.Minute)
}

// settleLocks returns the time within which each lock must be free to take, from the end of a world's faults. If no
// node can crash and no request can fail, not even by a timeout of the lock's own, every holder has given its lock back
// by then. A lock that is still held has been forgotten.
func (e Extras) settleLocks(s *kernel.Scenario) time.Duration {
	c := s.Cache
	wait := cmp.Or(e.Wait, hooks.DefaultWait) + 2*s.Skew + c.Poll + s.ReplicaLag
	fails := len(s.Faults) > 0 || slices.ContainsFunc(s.Actors, func(a kernel.Actor) bool {
		return a.Crashes > 0 || (e.Goroutines || e.Program) && a.Pauses > 0 || len(a.Events) > 0
	})
	if fails = fails || (e.Goroutines || e.Program) && s.Bounds.Ticks > 0; !fails && len(lockNames(s)) == 1 &&
		wait < c.Lease/2 {
		return wait
	}
	each := c.Lease + cmp.Or(e.Takeover, hooks.DefaultTakeover(c.Lease)) + wait + 4*s.Skew + 2*time.Second
	return time.Duration(len(lockNames(s))) * each
}

// defaultLeases are the leases of worlds whose check names none.
func defaultLeases() []time.Duration {
	return []time.Duration{10 * time.Second, 2 * time.Second, 1500 * time.Millisecond, 30 * time.Second}
}

// ofLock is an outage of a lock. The other node gives the lock back, or keeps it.
func ofLock(t *rapid.T, s *kernel.Scenario, lock string) outage {
	hold := func(d time.Duration) kernel.Command { return kernel.Command{Verb: "hold", Key: lock, For: d} }
	const short = 300 * time.Millisecond
	o := outage{first: hold(short), takes: short, then: hold(pick(t, "outage's hold", short, s.Cache.Lease-short))}
	o.lasts = pick(t, "the other's hold", short, s.Cache.Lease-short)
	o.between = hold(o.lasts)
	return o
}

// cutOff cuts the first node off from the table while it holds the lock, for longer than a lease: nothing that it sends
// extends the lock, and another node takes it.
func cutOff(s *kernel.Scenario, lock string) {
	lease := s.Cache.Lease
	inherits(s, lock)
	s.Faults = append(s.Faults, kernel.Fault{
		Fault: ddbfake.Fault{Kind: ddbfake.FaultErrorBefore, Actor: ActorNames[0]}, From: lease / 4, To: 3 * lease,
	})
}

// inherits has the first node hold the lock for three leases, and the second one ask for it when one lease is over.
func inherits(s *kernel.Scenario, lock string) {
	lease := s.Cache.Lease
	hold := kernel.Command{Verb: "hold", Key: lock, For: 3 * lease}
	s.Cache.Poll, s.Cache.Patience = lease/2, max(s.Cache.Patience, 4)
	s.Actors[0].Script = append([]kernel.Command{hold}, s.Actors[0].Script...)
	s.Actors[1].Script = append([]kernel.Command{{Verb: "sleep", For: lease}, hold}, s.Actors[1].Script...)
}
