package campaign

import (
	"reflect"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/reschedule"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// simplify makes the scenario simpler, and adapts its schedule to it.
func (sh *shrinker) simplify(f found) found {
	for _, pass := range []func(found) found{
		sh.withoutActors, sh.withoutFaults, sh.withoutCommands, sh.withoutNodeFaults, sh.withDefaults,
		sh.withFewerTicks, sh.inLessTime, sh.fromPlainSeed,
	} {
		next := pass(f)
		if next.compare(&f) < 0 {
			next.recorded = reschedule.Shrink(next.recorded, sh.attempt(next.scenario, next.seed))
		}
		f = next
	}
	return f
}

// cut does the same as try, for a change that may remove the very thing that the schedule needs. If the schedules of
// try no longer violate the invariant, it searches for others. Most bugs that remain in the smaller scenario show
// within some tens of schedules.
func (sh *shrinker) cut(f *found, change func(*spec.Scenario), adapt func(sim.Move) (sim.Move, bool)) bool {
	return sh.try(f, change, adapt) || sh.search(f, change, 40, 200)
}

// search does the same as try, but with another schedule: the first one of a portfolio that violates the invariant,
// made smaller. It makes at most runs runs.
func (sh *shrinker) search(f *found, change func(*spec.Scenario), schedules, runs int) bool {
	s := changed(f.scenario, change)
	if s == nil {
		return false
	}
	attempt := func(strategy sim.Strategy) (sim.Result, bool) {
		if runs--; runs < 0 {
			return sim.Result{}, false
		}
		return sh.attempt(s, f.seed)(strategy)
	}
	plan := strategy.Portfolio().Begin()
	for i := range schedules {
		strategy := plan.At(i).From(sim.Stream(sim.Derive(f.seed, i), "shrink"))
		if recorded, ok := reschedule.Record(strategy, attempt); ok {
			next := found{s, f.seed, reschedule.Shrink(recorded, attempt)}
			if next.compare(f) < 0 {
				*f = next
				return true
			}
			break
		}
	}
	return false
}

// try changes a copy of the scenario, and keeps it if the invariant is still violated and the run is smaller. adapt, if
// set, translates the moves of a schedule; moves that it refuses are left out.
func (sh *shrinker) try(f *found, change func(*spec.Scenario), adapt func(sim.Move) (sim.Move, bool)) bool {
	s := changed(f.scenario, change)
	if s == nil || unfair(s) && !unfair(f.scenario) {
		return false
	}
	next := found{scenario: s, seed: f.seed}
	deviations, moves := f.recorded.Deviations, f.recorded.Moves
	if adapt != nil {
		deviations, moves = nil, nil
		for _, d := range f.recorded.Deviations {
			if m, ok := adapt(d.Move); ok {
				deviations = append(deviations, reschedule.Deviation{At: d.At, Move: m})
			}
		}
		for _, m := range f.recorded.Moves {
			if m, ok := adapt(m); ok {
				moves = append(moves, m)
			}
		}
	}
	for _, strategy := range []sim.Strategy{reschedule.Deviate(deviations), reschedule.Follow(moves)} {
		var ok bool
		if next.recorded, ok = reschedule.Record(strategy, sh.attempt(s, f.seed)); ok && next.compare(f) < 0 {
			*f = next
			return true
		}
	}
	return false
}

// unfair reports whether even a correct protocol would violate an invariant: a cache that obeys the scenario's settings
// serves pages that its promise forbids, or it has to have fresh pages where they may never be fresh.
func unfair(s *spec.Scenario) bool {
	c := s.Cache
	return s.Promise.MaxAge > 0 && c.Revalidate+c.Retention > s.Promise.MaxAge ||
		s.Settle > 0 && hooks.NeverFresh(c.Lease, c.Revalidate, c.Render, c.Poll, s.ReplicaLag+2*s.Skew)
}

// changed returns a changed copy; nil if it is the same, or if a file cannot hold it.
func changed(s *spec.Scenario, change func(*spec.Scenario)) *spec.Scenario {
	c := clone(s)
	change(c)
	if !sensible(c) {
		return nil
	}
	if reflect.DeepEqual(c, s) {
		return nil
	}
	return c
}

// sensible leaves out restarts of machines that no longer crash, and says whether each window of a fault ends after it
// begins.
func sensible(s *spec.Scenario) bool {
	for i := range s.Actors {
		a := s.Actors[i]
		s.Actors[i].Events = slices.DeleteFunc(s.Actors[i].Events,
			func(e sim.Planned) bool { return e.Kind == sim.Restart && !sim.MayBeDown(a.Crashes, a.Events, e.At) })
	}
	return !slices.ContainsFunc(s.Faults, func(f spec.Fault) bool { return f.To > 0 && f.To <= f.From })
}

// clone copies the parts of a scenario that simplify changes.
func clone(s *spec.Scenario) *spec.Scenario {
	c := *s
	c.Actors, c.Faults, c.CompareLags = slices.Clone(s.Actors), slices.Clone(s.Faults), slices.Clone(s.CompareLags)
	for i := range c.Actors {
		a := &c.Actors[i]
		a.Script, a.ClockSteps, a.Events = slices.Clone(a.Script), slices.Clone(a.ClockSteps), slices.Clone(a.Events)
	}
	return &c
}

// withoutActors leaves out actors, with the faults that strike only them.
func (sh *shrinker) withoutActors(f found) found {
	for i := 0; i < len(f.scenario.Actors) && len(f.scenario.Actors) > 1; {
		name := f.scenario.Actors[i].Name
		var faults []int
		for j, fault := range f.scenario.Faults {
			if fault.Actor == name {
				faults = append(faults, j)
			}
		}
		if !sh.cut(&f, func(s *spec.Scenario) {
			s.Actors = slices.Delete(s.Actors, i, i+1)
			s.Faults = slices.DeleteFunc(s.Faults, func(f spec.Fault) bool { return f.Actor == name })
		}, func(m sim.Move) (sim.Move, bool) {
			return withoutOutcomes(m, f.scenario.Faults, faults), !ofActor(m, name)
		}) {
			i++
		}
	}
	return f
}

// withoutFaults leaves out faults, or how often they strike.
func (sh *shrinker) withoutFaults(f found) found {
	for i := 0; i < len(f.scenario.Faults); {
		if !sh.cut(&f, func(s *spec.Scenario) { s.Faults = slices.Delete(s.Faults, i, i+1) },
			func(m sim.Move) (sim.Move, bool) {
				return withoutOutcomes(m, f.scenario.Faults, []int{i}), true
			}) {
			i++
		}
	}
	for i := range f.scenario.Faults {
		sh.cut(&f, func(s *spec.Scenario) { s.Faults[i].Times = 0 }, nil)
	}
	return f
}

// withoutOutcomes returns the move with its outcome renumbered for a scenario that lacks some of the faults: outcome 0
// of an effect is the ordinary one, and the possible faults count from 1.
func withoutOutcomes(m sim.Move, faults []spec.Fault, without []int) sim.Move {
	outcome, possible := m.Outcome, 0
	for i, fault := range faults {
		if !fault.Maybe {
			continue
		}
		possible++
		switch {
		case !slices.Contains(without, i):
		case m.Outcome == possible:
			outcome = 0
		case m.Outcome > possible:
			outcome--
		}
	}
	m.Outcome = outcome
	return m
}

// withoutCommands leaves out commands.
func (sh *shrinker) withoutCommands(f found) found {
	for i := range f.scenario.Actors {
		for j := 0; j < len(f.scenario.Actors[i].Script) && len(f.scenario.Actors[i].Script) > 1; {
			if !sh.cut(&f,
				func(s *spec.Scenario) { s.Actors[i].Script = slices.Delete(s.Actors[i].Script, j, j+1) }, nil) {
				j++
			}
		}
	}
	return f
}

// withoutNodeFaults leaves out pauses, crashes, restarts and clock steps of the nodes, planned or not.
func (sh *shrinker) withoutNodeFaults(f found) found {
	for i := range f.scenario.Actors {
		for j := 0; j < len(f.scenario.Actors[i].ClockSteps); {
			if !sh.cut(&f, func(s *spec.Scenario) {
				s.Actors[i].ClockSteps = slices.Delete(s.Actors[i].ClockSteps, j, j+1)
			}, nil) {
				j++
			}
		}
		for j := 0; j < len(f.scenario.Actors[i].Events); {
			if !sh.cut(&f,
				func(s *spec.Scenario) { s.Actors[i].Events = slices.Delete(s.Actors[i].Events, j, j+1) }, nil) {
				j++
			}
		}
		for _, change := range []func(*spec.Actor){
			func(a *spec.Actor) { a.Pauses, a.PauseFor = 0, 0 },
			func(a *spec.Actor) { a.Crashes, a.Restarts = 0, 0 },
			func(a *spec.Actor) { a.Restarts = 0 },
			func(a *spec.Actor) { a.Drift = fakeclock.Drift{} },
			func(a *spec.Actor) { a.Pauses = min(a.Pauses, 1) },
			func(a *spec.Actor) { a.Crashes = min(a.Crashes, 1) },
			func(a *spec.Actor) { a.Restarts = min(a.Restarts, 1) },
		} {
			sh.cut(&f, func(s *spec.Scenario) { change(&s.Actors[i]) }, nil)
		}
	}
	return f
}

// cacheSettings copy one setting of a cache to another cache.
var cacheSettings = []func(c, d *spec.Cache){
	func(c, d *spec.Cache) { c.Lease = d.Lease },
	func(c, d *spec.Cache) { c.Revalidate = d.Revalidate },
	func(c, d *spec.Cache) { c.Retention = d.Retention },
	func(c, d *spec.Cache) { c.TTLBuffer = d.TTLBuffer },
	func(c, d *spec.Cache) { c.Render = d.Render },
	func(c, d *spec.Cache) { c.KeepAlive = d.KeepAlive },
	func(c, d *spec.Cache) { c.SameBytes = d.SameBytes },
	func(c, d *spec.Cache) { c.Contention = d.Contention },
	func(c, d *spec.Cache) { c.Failure = d.Failure },
	func(c, d *spec.Cache) { c.Poll = d.Poll },
	func(c, d *spec.Cache) { c.Patience = d.Patience },
	func(c, d *spec.Cache) { c.Attempts = d.Attempts },
}

// withDefaults sets each value that the violation does not need to its default, which files leave out.
func (sh *shrinker) withDefaults(f found) found {
	d := spec.Defaults()
	// Settle must go first: with short durations in cache, no page may ever be fresh, and such a cache would never
	// settle.
	sh.try(&f, func(s *spec.Scenario) { s.Settle = 0 }, nil)
	for _, same := range cacheSettings {
		sh.try(&f, func(s *spec.Scenario) { same(&s.Cache, &d.Cache) }, nil)
	}
	sh.try(&f, func(s *spec.Scenario) { s.Lag = d.Lag }, nil)
	for i := 0; i < len(f.scenario.CompareLags); {
		if !sh.try(&f, func(s *spec.Scenario) { s.CompareLags = slices.Delete(s.CompareLags, i, i+1) }, nil) {
			i++
		}
	}
	for i := range f.scenario.Actors {
		sh.cut(&f, func(s *spec.Scenario) { s.Actors[i].Region = "" }, nil)
	}
	sh.try(&f, func(s *spec.Scenario) { s.RegionLag = d.RegionLag }, nil)
	sh.try(&f, func(s *spec.Scenario) { s.ReplicaLag = 0 }, nil)
	sh.try(&f, func(s *spec.Scenario) { s.Bounds.Sweeps = 0 }, nil)
	if !slices.ContainsFunc(f.scenario.Actors, func(a spec.Actor) bool {
		return a.Drift != fakeclock.Drift{} || sim.SetsClock(a.ClockSteps, a.Events)
	}) {
		sh.try(&f, func(s *spec.Scenario) { s.Skew = 0 }, nil)
	}
	return f
}

// withFewerTicks lets time move less often while something else could happen.
func (sh *shrinker) withFewerTicks(f found) found {
	for ticks := 0; ticks < f.scenario.Bounds.Ticks; ticks++ {
		sh.try(&f, func(s *spec.Scenario) { s.Bounds.Ticks = ticks }, nil)
	}
	return f
}

// duration is a duration of a scenario, with its least value.
type duration struct {
	value *time.Duration
	least time.Duration
}

// durations returns the durations that decide how long a run takes.
func durations(s *spec.Scenario) []duration {
	c := &s.Cache
	all := []duration{
		{&c.Lease, time.Second}, {&c.Revalidate, time.Second}, {&c.Render, 0}, {&c.KeepAlive, 0},
	}
	if c.Contention == isr.Wait {
		all = append(all, duration{&c.Poll, time.Second})
	}
	for i := range s.Actors {
		a := &s.Actors[i]
		all = append(all, duration{&a.PauseFor, 0})
		for j := range a.Events {
			all = append(all, duration{&a.Events[j].At, 0})
			if a.Events[j].Kind == sim.Pause {
				all = append(all, duration{&a.Events[j].For, time.Second})
			}
		}
		for j := range a.Script {
			if a.Script[j].For > 0 {
				all = append(all, duration{&a.Script[j].For, time.Second})
			}
		}
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		if f.To > 0 {
			all = append(all, duration{&f.From, 0}, duration{&f.To, time.Second})
		}
		if f.Latency > 0 && f.LatencyUpTo == 0 {
			all = append(all, duration{&f.Latency, time.Millisecond})
		}
	}
	return all
}

// nice are round durations, in ascending order.
var nice = []time.Duration{
	0, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 10 * time.Second,
	11 * time.Second, 15 * time.Second, 20 * time.Second,
	30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
	2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// inLessTime makes durations shorter: all of them in proportion, and then each.
func (sh *shrinker) inLessTime(f found) found {
	longest := time.Duration(0)
	for _, d := range durations(clone(f.scenario)) {
		longest = max(longest, *d.value)
	}
	for _, to := range nice[1:] {
		change := func(s *spec.Scenario) {
			for _, d := range durations(s) {
				seconds := int64(*d.value/time.Millisecond) * int64(to/time.Second) / int64(longest/time.Millisecond)
				*d.value = max(time.Duration(seconds)*time.Second, d.least)
			}
		}
		if to < longest && (sh.try(&f, change, nil) || sh.search(&f, change, 8, 80)) {
			break
		}
	}
	for i := 0; i < len(durations(f.scenario)); i++ { // an event that has lost its meaning may go
		least := true
		for _, to := range nice {
			d := durations(f.scenario)[i]
			if to >= *d.value || to < d.least {
				continue
			}
			change := func(s *spec.Scenario) { *durations(s)[i].value = to }
			if sh.try(&f, change, nil) || least && sh.search(&f, change, 8, 80) {
				break
			}
			least = false
		}
	}
	return f
}

// fromPlainSeed replaces the seed by a short one. Only a random lag depends on the seed.
func (sh *shrinker) fromPlainSeed(f found) found {
	plain := f
	plain.seed = 1
	var ok bool
	if plain.recorded, ok = reschedule.Record(reschedule.Deviate(f.recorded.Deviations),
		sh.attempt(plain.scenario, plain.seed)); ok && plain.compare(&f) < 0 {
		return plain
	}
	return f
}
