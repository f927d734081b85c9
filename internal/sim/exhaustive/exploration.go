// Package exhaustive runs every schedule of a small world, one after another, and leaves out those that can show
// nothing new. The scheduler asks it for each step (sim.Explorer), and through it, runs share what code did
// (sim.Search).
package exhaustive

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// Exploration runs every schedule, one after another: depth first, each run from the beginning, because the code of an
// actor cannot be copied. With [sim.Memory].Search, what the code did is remembered, and a run starts at the first step
// in which it differs from earlier ones.
//
//	x := exhaustive.Exploration{}
//	for x.Next() {
//		s := sim.New(sim.Config{Strategy: x.Strategy(), Fingerprint: world.fingerprint})
//		... // add the actors, Run, and judge what has happened, however the run ended
//	}
//	fmt.Println(x.Explored())
//
// Every run must begin in the same state and be repeatable: same actors, same seed, same bounds. A run is Abandoned as
// soon as other runs cover its continuations. It must be judged by its events until then.
//
// # What is left out
//
// Seven reductions leave out schedules that can show nothing new. Each can be switched off.
//
//   - Sleep sets: of two steps that do not race ([sim.Step.Races]) one order is run.
//   - State comparison, if Config.Fingerprint is set: the continuations of a state are explored once
//     ([sim.Sim.Fingerprint]). If a state comes up again with fewer steps asleep than before, only the steps that are
//     no longer asleep are taken from it. Of the runs that end in one state, one is Finished.
//   - Unread clocks: the time at which an actor's code was resumed, and the time at which its request took effect, are
//     part of the state only if the code read a clock then. This makes states equal, and has no effect without state
//     comparison.
//   - Unread deadlines: no tick goes to an instant whose only reason is a hidden value (see [sim.Hidden] and
//     [sim.Idle]). Whatever could follow it can also follow the stop before it, unless code compares its clock with
//     such an instant.
//   - Orphaned reads: a read whose sender is gone changes nothing. It is not taken, and is not part of the state.
//   - Symmetric actors, if Config.Symmetry is set: states that differ only by permuting such actors count as equal.
//   - Persistent sets: where time cannot move and nothing can happen to a node, its own step (Start, Response, Timer)
//     is taken before those of others. A [sim.Immediate] request in a run with steps that need not happen breaks the
//     run then: its effect may end the run, and cannot be put off.
//
// A tick goes to any instant at which something can change, and not only to the next one: see [sim.Step.Further].
//
// Except for the instants of unread deadlines, the search reaches all states in which runs end, up to the names of
// interchangeable actors; without persistent sets, it reaches all reachable states. Without state comparison, all
// orders of steps that race remain, with one exception: if the sender of a request is gone, the place of the request
// among the last steps of its node's next incarnation. The order of events on different nodes at the same instant is
// not explored, so the judgement of a run must not depend on it, unless Config.Ordered is set. It must not depend on a
// history that Config.Fingerprint does not cover either: if two histories lead to the same state, only one is
// continued.
//
// Source: Godefroid: Partial-order methods for the verification of concurrent systems (LNCS 1032, 1996), chapters 4 to
// 6, for everything except the clocks; for these, see Sim.Fingerprint.
//
// # Limits
//
// It is complete within the bounds of the Config and of the actors (Ticks, Pauses, Crashes, Restarts, ClockSteps,
// MaxSteps), and up to collisions of fingerprints.
type Exploration struct {
	// MaxSchedules and MaxStates bound the exploration; 0 means no bound. The run that reaches MaxStates is the last. A
	// divided exploration ends at the first Meet after a bound is reached.
	MaxSchedules, MaxStates int
	// Off holds the reductions that are switched off.
	Off sim.Reduction
	// Repeat makes each run twice, and compares it, step by step, with its repetition and with the runs that begin like
	// it. A difference ends the exploration, and the run, with a *sim.DivergedError. It is for code that may depend on
	// something that the Sim does not decide. A sim.Request should be sim.Sorted then: its content is compared, too.
	Repeat bool
	// Spare, if set, says whether a schedule (by its number from 1) need not be repeated, because something else shows
	// that its code is deterministic. It is still compared with the runs that begin like it.
	Spare func(schedule int) bool
	// Backwards takes the last of the possible steps first.
	Backwards bool
	// Visit, if set, is called with the fingerprint of each state that the exploration reaches for the first time. If
	// it returns false the exploration ends there, and is not complete.
	Visit func(state uint64) bool

	visited visited
	repeats repeats
	// path are the choices that the next run begins with; the last one is made at the last frame.
	path    sim.Choices
	frames  []frame
	done    Explored
	begun   bool
	stopped bool          // by Visit
	err     error         // the error of the run that broke, or was left because of it
	onVisit func(visit)   // for tests
	options []sim.Option  // possible now; reused between moments
	awake   []sim.Option  // those of them to explore; reused, too
	steps   []sim.Step    // the steps that are possible now, with the further ticks; reused, too
	spare   *sim.Kept     // the moment of a frame that is done; reused
	memory  sim.Histories // see sim.Memory.Search
	team    *team         // see Divide; nil without
}

// Explored is the progress of an Exploration.
type Explored struct {
	Schedules int // the number of runs
	States    int // the number of distinct states; 0 without Config.Fingerprint
	// TooLong counts the runs that were cut at Config.MaxSteps.
	TooLong int
	// Complete says that nothing is left.
	Complete bool
	// Open counts the branches that are left: steps that were possible at some point and have not been taken from
	// there. Shallowest and Deepest are the numbers of choices before the first and the last of them.
	Open, Shallowest, Deepest int
	// Share is how much of the tree is searched, from 0 to 1, as if all branches of a moment were equally large. It
	// never falls. In truth the first branch of a moment is the largest: what branches have in common is searched
	// there. So the first hundredth of the tree takes most of the time: in the embedded proofs, between 27 and 99 of a
	// hundred schedules.
	//
	// Source: Simsa, Bryant and Gibson: Runtime estimation and resource allocation for concurrency testing
	// (CMU-PDL-12-113, 2012).
	Share float64
}

// Frame is a moment with more than one step to explore.
type Frame struct {
	At     int          // how many choices come before it
	Each   float64      // the share of the tree that each of its branches has
	Todo   []sim.Option // the steps that are left to take
	Asleep []sim.Option // the steps that need not be taken until a step races with them
}

type frame struct {
	Frame
	kept *sim.Kept // nil without sim.Memory.Search
}

// Next prepares the next run. It returns false if no run is left, or a bound is reached.
func (x *Exploration) Next() bool {
	if !x.begun {
		x.begun = true
		x.visited = newVisited()
		return true
	}
	if x.Repeat && x.err == nil && !x.repeats.again {
		if x.Spare == nil || !x.Spare(x.done.Schedules) {
			x.repeats.again = true
			return true
		}
		x.repeats.owed = false
	}
	x.repeats.again = false
	for len(x.frames) > 0 && len(x.frames[len(x.frames)-1].Todo) == 0 {
		x.spare = x.frames[len(x.frames)-1].kept
		x.frames = x.frames[:len(x.frames)-1]
	}
	if len(x.frames) == 0 || x.err != nil || x.stopped || x.team == nil && x.met() {
		return false
	}
	x.path = x.path[:x.frames[len(x.frames)-1].At]
	return true
}

// met reports whether a bound is reached.
func (x *Exploration) met() bool {
	schedules := 0
	for _, m := range x.Members() {
		schedules += m.done.Schedules
	}
	return x.MaxSchedules > 0 && schedules >= x.MaxSchedules || x.MaxStates > 0 && len(x.known().states) >= x.MaxStates
}

// Repeating reports whether the run that Next has prepared repeats the latest one.
func (x *Exploration) Repeating() bool { return x.repeats.again }

// Name is the name of an Exploration's strategy.
const Name = "exhaustive"

// Strategy returns the strategy of the run that Next has prepared. It is for one run.
func (x *Exploration) Strategy() sim.Strategy {
	return sim.Strategy{
		Name: Name,
		New:  func(*rand.Rand, int) sim.Chooser { return &explorer{x: x, replaying: len(x.frames) > 0} },
	}
}

// Rewind implements sim.Search for the run that Next has prepared.
func (x *Exploration) Rewind() *sim.Sim {
	if len(x.frames) == 0 {
		return nil
	}
	f := &x.frames[len(x.frames)-1]
	if f.kept == nil {
		return nil
	}
	return f.kept.Restore(&explorer{x: x, replaying: true, n: f.At})
}

// Histories implements sim.Search.
func (x *Exploration) Histories() *sim.Histories { return &x.memory }

// Close ends the code that the exploration keeps.
func (x *Exploration) Close() {
	for _, m := range x.Members() {
		m.memory.Close()
	}
}

// Schedules counts the runs of this exploration alone: see Divide.
func (x *Exploration) Schedules() int { return x.done.Schedules }

// Remembers reports whether code of actors has run for the memory: see sim.Memory.Search.
func (x *Exploration) Remembers() bool { return x.memory.Runs() > 0 }

// Explored returns the progress so far.
func (x *Exploration) Explored() Explored {
	e := Explored{States: len(x.known().states)}
	broke := false
	for _, m := range x.Members() {
		e.Schedules += m.done.Schedules
		e.TooLong += m.done.TooLong
		broke = broke || m.err != nil
		for _, f := range m.frames {
			if left := len(f.Todo); left > 0 {
				if e.Open == 0 {
					e.Shallowest = f.At
				}
				e.Open, e.Shallowest, e.Deepest = e.Open+left, min(e.Shallowest, f.At), max(e.Deepest, f.At)
				e.Share -= f.Each * float64(left)
			}
		}
	}
	if e.Schedules > 0 {
		e.Share++
	}
	e.Complete = e.Schedules > 0 && e.Open == 0 && e.TooLong == 0 && !broke && !x.stopped && !x.repeats.owed
	return e
}

// States returns the fingerprints of the states that the exploration has reached, ascending.
func (x *Exploration) States() []uint64 { return slices.Sorted(maps.Keys(x.known().states)) }
