package property

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// world is a scenario that rapid drew.
type world struct{ *scenario.Scenario }

// text is the scenario as its file says it.
func (w world) text() string {
	yaml, err := w.YAML()
	if err != nil {
		return err.Error()
	}
	return "\n" + string(yaml)
}

// GoString says on one line what the world is: rapid prints all that it draws with %#v, and most of that did not fail.
func (w world) GoString() string {
	if len(lockNames(w.Scenario)) > 0 {
		return lockWords(w.Scenario)
	}
	return fmt.Sprintf("%d machines, %d pages, %d faults", len(w.Actors), len(pages(w.Scenario)), len(w.Faults))
}

// maxSteps cuts a run that does not end. Runs of these worlds that do end have some hundreds of steps.
const maxSteps = 10_000

// worlds generates worlds that keep their promises: all clocks stay within max-clock-skew. In every list the simplest
// value is the first, which is where rapid shrinks to.
func worlds(name, protocol string, schedules int, extra extras) *rapid.Generator[world] {
	return rapid.Custom(func(t *rapid.T) world {
		s := scenario.Defaults()
		s.Name, s.Protocol, s.Rows, s.Promise = name, protocol, extra.rows, extra.promise
		s.Bounds = scenario.Bounds{Schedules: schedules, Steps: maxSteps}
		s.Bounds.Ticks = pick(t, "ticks", 0, 2, 4, 8)
		s.Cache = drawCache(t)
		s.Lag = drawLag(t)
		s.ReplicaLag = pick(t, "replica lag", 0, 0, time.Second)
		s.Skew = pick(t, "max clock skew", 0, time.Second, 500*time.Millisecond, s.Cache.Lease/2)
		s.Faults = drawFaults(t)
		crashes := pick(t, "who may crash", 0, 0, 1)
		keys := pick(t, "keys", []string{"/home"}, []string{"/home", "/home", "/about"})
		tenants, keys := extra.drawTenants(t, keys)
		verbs := extra.drawVerbs(t)
		if len(verbs) > 0 { // a request, or an invalidation, is remembered for as long as a page is kept: no rendering may take longer
			d := scenario.Defaults().Cache
			s.Cache.Retention, s.Cache.TTLBuffer = d.Retention, d.TTLBuffer
		}
		plain := pick(t, "plain", false, false, true)
		if plain {
			drawPlain(t, s)
			crashes, keys = 0, keys[:1]
		}
		s.Actors = rapid.SliceOfN(actors(s, keys, crashes, verbs, plain), 2, len(actorNames)).Draw(t, "actors")
		for i := range s.Actors {
			s.Actors[i].Name = actorNames[i]
			if len(tenants) > 0 {
				s.Actors[i].Tenant = pick(t, "tenant", tenants...)
			}
		}
		if !slices.ContainsFunc(s.Actors, func(a scenario.Actor) bool { return slices.ContainsFunc(a.Script, served) }) { // else there is nothing to be judged
			s.Actors[0].Script = append(s.Actors[0].Script, scenario.Command{Verb: scenario.Get, Key: keys[0]})
		}
		for i := range s.Actors {
			drawClockWithin(t, s, &s.Actors[i], longest(s))
		}
		s.Settle = settle(s)
		return world{s}
	})
}

var actorNames = []string{"alice", "bob", "carol", "dave"}

// pick draws one of the values; the first is the simplest.
func pick[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

func drawCache(t *rapid.T) scenario.Cache {
	c := scenario.Defaults().Cache
	c.Lease = pick(t, "lease", 10*time.Second, 2*time.Second, 1500*time.Millisecond, 30*time.Second)
	c.Revalidate = pick(t, "revalidate", time.Minute, 5*time.Second, time.Second)
	// A rendering that takes longer than the lease is a mistake in the configuration, but no excuse for a stale publish.
	c.Render = pick(t, "render", 0, time.Second, c.Lease-time.Second, c.Lease+time.Second)
	c.KeepAlive = pick(t, "keep-alive", 0, c.Lease/2)
	c.Retention = pick(t, "retention", 24*time.Hour, time.Second, time.Minute)
	c.TTLBuffer = pick(t, "ttl buffer", time.Hour, time.Second)
	c.Contention = pick(t, "contention", isr.ServeStale, isr.Wait)
	c.Poll = pick(t, "poll", time.Second, c.Lease/2)
	c.Patience = pick(t, "patience", 10, 2)
	c.Attempts = pick(t, "attempts", 3, 1)
	return c
}

// lagAfter is the lag of a TTL that takes its time.
const lagAfter = 10 * time.Minute

func drawLag(t *rapid.T) scenario.Lag {
	return pick(t, "ttl lag",
		scenario.Lag{Fixed: ddbfake.LagNever},
		scenario.Lag{Scheduler: true},
		scenario.Lag{Scheduler: true},
		scenario.Lag{Fixed: ddbfake.LagAtOnce},
		scenario.Lag{Fixed: ddbfake.LagFixed(lagAfter)},
		scenario.Lag{Fixed: ddbfake.LagUniform(0, lagAfter)},
	)
}

// actors generates nodes with their scripts, clocks, pauses and crashes.
func actors(s *scenario.Scenario, keys []string, crashes int, verbs []scenario.Verb, plain bool) *rapid.Generator[scenario.Actor] {
	c := s.Cache
	get := func(key string) scenario.Command { return scenario.Command{Verb: scenario.Get, Key: key} }
	sleep := func(d time.Duration) scenario.Command { return scenario.Command{Verb: scenario.Sleep, For: d} }
	commands := rapid.Custom(func(t *rapid.T) scenario.Command {
		key := pick(t, "key", keys...)
		if c, drawn := drawVerb(t, verbs, key); drawn {
			return c
		}
		all := []scenario.Command{
			get(key),
			sleep(c.Revalidate + time.Second),
			get(key),
			sleep(c.Lease + time.Second),
			get(key),
			sleep(time.Second),
			{Verb: scenario.Change, Key: key},
			sleep(c.Revalidate + c.Retention + lagAfter + 2*time.Second), // until TTL deletes META
			get(key),
			sleep(c.Revalidate),
		}
		if plain {
			all = all[:3]
		}
		if s.Promise.MaxAge > 0 {
			all = append(all, sleep(s.Promise.MaxAge+time.Second))
		}
		return pick(t, "command", all...)
	})
	return rapid.Custom(func(t *rapid.T) scenario.Actor {
		most := 6
		switch {
		case plain && s.Promise.MaxAge > 0:
			most = 3 // a page, a wait until it is too old, and a request in which something fails
		case plain:
			most = 2
		}
		a := scenario.Actor{Script: rapid.SliceOfN(commands, 1, most).Draw(t, "script")}
		if a.Pauses = pick(t, "pauses", 0, 1, 2); a.Pauses > 0 {
			a.PauseFor = pick(t, "pause for", c.Lease+time.Second, 0, c.Lease-time.Second)
		}
		if a.Crashes = pick(t, "crashes", 0, crashes); a.Crashes > 0 {
			a.Restarts = pick(t, "restarts", 0, 1)
		}
		return a
	})
}

// page is one that a client asks for.
type page struct{ tenant, key string }

// pages are those that clients ask for.
func pages(s *scenario.Scenario) []page {
	var all []page
	for _, a := range s.Actors {
		for _, c := range a.Script {
			if asks(c.Verb) && !slices.Contains(all, page{a.Tenant, c.Key}) {
				all = append(all, page{a.Tenant, c.Key})
			}
		}
	}
	return all
}

// served says whether a command is answered with a page.
func served(c scenario.Command) bool { return c.Verb == scenario.Get || c.Verb == scenario.Regenerate }

// asks says whether a command with the verb may make a page, and wait for another node.
func asks(v scenario.Verb) bool { return v != scenario.Sleep && v != scenario.Change }

// drawClockWithin draws how the actor's clock differs from true time, at most by the promised skew at any moment of a run
// of at most that length.
func drawClockWithin(t *rapid.T, s *scenario.Scenario, a *scenario.Actor, longest time.Duration) {
	if s.Skew == 0 {
		return
	}
	e := s.Skew
	if pick(t, a.Name+": slow", false, true) {
		e = -e
	}
	switch pick(t, a.Name+": clock", "exact", "offset", "step", "two steps", "drift") {
	case "offset":
		a.Drift.Offset = e
	case "step":
		a.ClockSteps = []time.Duration{e}
	case "two steps":
		a.ClockSteps = []time.Duration{e, -2 * e}
	case "drift":
		a.Drift.PPM = int64(e) / int64(longest/1e6)
	}
}

// longest bounds how much time a run can take.
func longest(s *scenario.Scenario) time.Duration {
	c := s.Cache
	// Time moves on its own only towards the end of a sleep or a pause.
	var moving time.Duration
	for _, a := range s.Actors {
		moving += time.Duration(a.Pauses) * a.PauseFor
		for _, command := range a.Script {
			moving += command.For
			if asks(command.Verb) {
				moving += c.Render + time.Duration(c.Patience)*c.Poll
			}
		}
		moving += time.Duration(a.Restarts) * (c.Render + time.Duration(c.Patience)*c.Poll + c.Revalidate + c.Retention + lagAfter)
	}
	// A tick moves time to the next deadline of a row at most.
	tick := max(c.Lease+c.TTLBuffer, c.Revalidate+c.Retention) + lagAfter
	return 2 * (moving + time.Duration(s.Bounds.Ticks)*tick + time.Minute)
}

// settle returns how long after its faults a world may take to be well again: each page in the cache, and fresh. Zero
// says that it may never be: a page that takes longer to make than a lease lasts is only published by caches that
// refresh their leases, and a page that is stale when it is made is never found fresh.
//
// A lease ends by itself, even if its holder has crashed, so the time includes a lease and a rendering. Where no node
// can crash and no fault can stop a release, no node may keep a lock that it does not need: half a lease is enough.
func settle(s *scenario.Scenario) time.Duration {
	c := s.Cache
	const second = time.Second // rows hold whole seconds
	lasting := c.Render + c.Poll + s.ReplicaLag + 2*s.Skew + 2*second
	if c.Render+2*second > c.Lease || lasting > c.Revalidate {
		return 0
	}
	renderings := time.Duration(len(pages(s))) * c.Render // one after the other
	slack := 2*c.Poll + 2*s.Skew + 2*second
	if prompt := renderings + slack; !locksStay(s) && c.Lease/2 >= 2*second {
		return max(prompt, c.Lease/2)
	}
	return 2*(c.Lease+renderings+c.Revalidate) + slack
}

// locksStay says whether a correct cache may leave a lock behind: its node has crashed, or a fault has met what would
// have given it back.
func locksStay(s *scenario.Scenario) bool {
	return slices.ContainsFunc(s.Actors, func(a scenario.Actor) bool { return a.Crashes > 0 }) ||
		slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool {
			return f.Dependency == "" && (f.Key != isr.SortMeta || f.Op == "" && shares(s.Rows))
		})
}

// drawFaults draws faults, each left to the schedule: of the store, of the body store and the origin, or of all three.
// Faults of the body store and the origin do not stop a release.
func drawFaults(t *rapid.T) []scenario.Fault {
	ofStore := pick(t, "faults", []bool{true}, []bool{false}, []bool{true, false})
	generator := rapid.Custom(func(t *rapid.T) scenario.Fault {
		f := scenario.Fault{Maybe: true}
		if pick(t, "of the store", ofStore...) {
			f.Kind = pick(t, "fault", ddbfake.FaultResponseLost, ddbfake.FaultErrorAfter, ddbfake.FaultRequestLost,
				ddbfake.FaultResponseLost, ddbfake.FaultThrottled, ddbfake.FaultErrorBefore, ddbfake.FaultConflict, ddbfake.FaultDuplicate)
			f.Key = pick(t, "fault's key", "", "", isr.SortLock, isr.SortMeta)
		} else {
			f.Dependency = scenario.DependencyFault(pick(t, "trouble", mark.OriginFailed, mark.BodyPutFailed, mark.BodyGetFailed))
		}
		f.Times = pick(t, "fault's times", 0, 2)
		return f
	})
	return rapid.SliceOfNDistinct(generator, 0, 3, scenario.Fault.String).Draw(t, "faults")
}

// drawPlain makes a world of quick renderings in which at most one thing fails, more than once. Nodes live, and what
// failed is no request that gives a lock back, so a lock that is left behind shows before it ends by itself.
func drawPlain(t *rapid.T, s *scenario.Scenario) {
	c := scenario.Defaults().Cache
	s.Cache.Lease, s.Cache.Poll, s.Cache.Render, s.Cache.Revalidate = c.Lease, c.Poll, c.Render, c.Revalidate
	s.Skew, s.ReplicaLag = 0, 0
	outages := [][]scenario.Fault{
		nil,
		{{Dependency: mark.OriginFailed}},
		{{Dependency: mark.BodyPutFailed}},
	}
	// A fault of the page is none of what gives the lock back. Where they are one row, an update says what it is.
	op := ""
	if shares(s.Rows) {
		op = "UpdateItem"
	}
	if op == "" || s.Rows.Translate == nil {
		for _, kind := range []ddbfake.FaultKind{ddbfake.FaultErrorBefore, ddbfake.FaultThrottled} {
			outages = append(outages, []scenario.Fault{{Fault: ddbfake.Fault{Kind: kind, Op: op, Key: isr.SortMeta}}})
		}
	}
	s.Faults = pick(t, "outage", outages...)
	if len(s.Faults) > 0 && s.Faults[0].Dependency == "" {
		s.Cache.Attempts = 1 // no retry of the SDK's hides it
	}
	for i := range s.Faults {
		s.Faults[i].Maybe, s.Faults[i].Times = true, pick(t, "outage's times", 2, 4)
	}
}

// checked returns the world as its file has it, so that the run is the one that the file will replay.
func (w world) checked() (*scenario.Scenario, error) {
	yaml, err := w.YAML()
	if err != nil {
		return nil, err
	}
	s, err := scenario.Parse(w.Name+".yaml", yaml, isr.Protocol{Name: w.Protocol})
	if err != nil {
		return nil, fmt.Errorf("isr-sim drew a world that is not valid, which is a mistake of its own: %w", err)
	}
	s.File, s.Rows = "", w.Rows // of which the file may not have all
	return s, nil
}

// responseLost is the fault after which a client does not know what its request has done.
var responseLost = ddbfake.FaultResponseLost.String()

// lockWorlds draws worlds for a lock.
type lockWorlds struct{ check LockCheck }

// generator is worlds, for a lock.
func (l lockWorlds) generator(name, protocol string, schedules int, _ extras) *rapid.Generator[world] {
	return rapid.Custom(func(t *rapid.T) world {
		s := scenario.Defaults()
		s.Name, s.Protocol = name, protocol
		s.Bounds = scenario.Bounds{Schedules: schedules, Steps: maxSteps}
		s.Bounds.Ticks = pick(t, "ticks", 0, 2, 4, 8)
		leases := l.check.Leases
		if len(leases) == 0 {
			leases = defaultLeases()
		}
		c := &s.Cache
		c.Lease = pick(t, "lease", leases...)
		c.Poll = pick(t, "poll", c.Lease/2, time.Second, 300*time.Millisecond)
		c.Patience = pick(t, "patience", 4, 10, 1) // four tries wait a lease out
		c.Attempts = pick(t, "attempts", 3, 1)
		s.Lag = drawLag(t)
		s.Skew = pick(t, "max clock skew", 0, 0, 100*time.Millisecond, c.Lease/10)
		s.Faults = drawLockFaults(t)
		crashes := pick(t, "who may crash", 0, 1)
		locks := pick(t, "locks", []string{"job"}, []string{"job"}, []string{"job", "mail"})
		s.Actors = rapid.SliceOfN(l.actors(s, locks, crashes), 2, len(actorNames)).Draw(t, "actors")
		for i := range s.Actors {
			s.Actors[i].Name = actorNames[i]
		}
		if len(lockNames(s)) == 0 { // else there is nothing to be judged
			s.Actors[0].Script = append(s.Actors[0].Script, scenario.Command{Verb: scenario.Hold, Key: locks[0], For: time.Second})
		}
		for i := range s.Actors {
			drawClockWithin(t, s, &s.Actors[i], longestHolds(s))
		}
		s.Settle = l.settle(s)
		return world{s}
	})
}

// actors generates nodes with their scripts, pauses and crashes. Some times are no whole seconds, so that a lock that
// forgets about fractions is seen.
func (l lockWorlds) actors(s *scenario.Scenario, locks []string, crashes int) *rapid.Generator[scenario.Actor] {
	c := s.Cache
	hold := func(lock string, d time.Duration) scenario.Command {
		return scenario.Command{Verb: scenario.Hold, Key: lock, For: d}
	}
	sleep := func(d time.Duration) scenario.Command { return scenario.Command{Verb: scenario.Sleep, For: d} }
	commands := rapid.Custom(func(t *rapid.T) scenario.Command {
		lock := pick(t, "lock", locks...)
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
	return rapid.Custom(func(t *rapid.T) scenario.Actor {
		a := scenario.Actor{Script: rapid.SliceOfN(commands, 1, 5).Draw(t, "script")}
		if a.Pauses = pick(t, "pauses", 0, 1, 2); a.Pauses > 0 {
			a.PauseFor = pick(t, "pause for", c.Lease+time.Second, 0, c.Lease-time.Second)
		}
		if a.Crashes = pick(t, "crashes", 0, crashes); a.Crashes > 0 {
			a.Restarts = pick(t, "restarts", 0, 1)
		}
		return a
	})
}

// drawLockFaults draws faults of the store, each left to the schedule.
func drawLockFaults(t *rapid.T) []scenario.Fault {
	generator := rapid.Custom(func(t *rapid.T) scenario.Fault {
		f := scenario.Fault{Maybe: true}
		f.Kind = pick(t, "fault", ddbfake.FaultResponseLost, ddbfake.FaultResponseLost, ddbfake.FaultErrorAfter, ddbfake.FaultRequestLost,
			ddbfake.FaultThrottled, ddbfake.FaultErrorBefore, ddbfake.FaultDuplicate)
		f.Times = pick(t, "fault's times", 0, 2)
		return f
	})
	return rapid.SliceOfNDistinct(generator, 0, 3, scenario.Fault.String).Draw(t, "faults")
}

// lockNames are the locks that scripts hold.
func lockNames(s *scenario.Scenario) []string {
	var names []string
	for _, a := range s.Actors {
		for _, c := range a.Script {
			if c.Verb == scenario.Hold && !slices.Contains(names, c.Key) {
				names = append(names, c.Key)
			}
		}
	}
	return names
}

// longestHolds bounds how much time a run of locks can take.
func longestHolds(s *scenario.Scenario) time.Duration {
	c := s.Cache
	var moving time.Duration
	for _, a := range s.Actors {
		moving += time.Duration(a.Pauses) * a.PauseFor
		for _, command := range a.Script {
			once := command.For
			if command.Verb == scenario.Hold {
				once += time.Duration(c.Patience) * (c.Poll + 4*c.Lease)
			}
			moving += time.Duration(1+a.Restarts) * once
		}
	}
	return 2 * (moving + time.Duration(s.Bounds.Ticks)*(c.Lease+lagAfter) + time.Minute)
}

// settle returns how long after its faults a world may take until each lock can be taken. Where no node can crash and no
// request can have failed, not even by a timeout of the lock's own, every holder has given its lock back: a lock that is
// still held then has been forgotten.
func (l lockWorlds) settle(s *scenario.Scenario) time.Duration {
	c := s.Cache
	wait := cmp.Or(l.check.Wait, defaultWait) + 2*s.Skew + c.Poll
	fails := len(s.Faults) > 0 || slices.ContainsFunc(s.Actors, func(a scenario.Actor) bool {
		return a.Crashes > 0 || l.check.Goroutines && a.Pauses > 0
	})
	if fails = fails || l.check.Goroutines && s.Bounds.Ticks > 0; !fails && len(lockNames(s)) == 1 && wait < c.Lease/2 {
		return wait
	}
	each := c.Lease + cmp.Or(l.check.Takeover, c.Lease) + wait + 4*s.Skew + 2*time.Second
	return time.Duration(len(lockNames(s))) * each
}

// lockWords says on one line what a world of locks is.
func lockWords(s *scenario.Scenario) string {
	return fmt.Sprintf("%d machines, %d locks, %d faults", len(s.Actors), len(lockNames(s)), len(s.Faults))
}
