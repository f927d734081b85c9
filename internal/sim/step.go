package sim

import (
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/base/schedule"
)

// The kinds of steps. Within one actor they are offered in this order.
const (
	Start     Kind = iota + 1           // an actor's code begins
	Effect                              // a request reaches the world and takes effect
	Response                            // an answer reaches its actor, which runs until it parks again
	Timer                               // a sleep is over, and its actor runs until it parks again
	Resume                              // a paused node runs on
	Restart        = schedule.Restart   // a crashed node comes back with an empty memory
	Pause          = schedule.Pause     // a node stops running; its requests under way go on
	Crash          = schedule.Crash     // a node loses its memory; its requests under way go on
	ClockStep      = schedule.ClockStep // a node's clock is set
	Orphan    Kind = iota + 1           // a request of a node that crashed since takes effect
	External                            // a step of a Source
	Tick                                // time moves to the next boundary, or to a later one: see Step.Further
)

// optional steps may happen but need not: a run is over when only these are left.
func optional(k Kind) bool { return k >= Restart }

// Optional reports whether the step need not happen. A planned step must happen, whatever its kind.
func (s *Step) Optional() bool { return optional(s.Kind) && !s.planned }

// Own reports whether the step belongs to an actor's own code: it starts, its request takes effect, its answer arrives,
// or it wakes.
func (s *Step) Own() bool { return s.Kind <= Timer }

// Step is one thing that can happen next.
type Step struct {
	Kind Kind
	// Thread numbers the step's thread: strategies with priorities give them to threads. The steps of one actor's own
	// code share a thread; pauses, crashes and clock steps of its node are another thread. Orphans, each source, and
	// time are separate threads.
	Thread int
	// Name is the name of the step's owner: an actor with its incarnation, a source, or "time".
	Name string

	proc     *Proc
	outcome  int
	orphaned Request
	nth      int // its place among the orphans
	source   Source
	item     uint64
	until    time.Time
	sim      *Sim // the Sim of a Tick
	planned  bool // it must happen now: see Planned
}

// Actor returns the name of the actor that the step belongs to, the same for all its incarnations; "" for a step of a
// source or of time.
func (s Step) Actor() string {
	if s.proc == nil {
		return ""
	}
	return s.proc.actor.Name
}

// Planned reports whether the step was not chosen by the schedule: see the type Planned.
func (s Step) Planned() bool { return s.planned }

// TraceStep is a step that was taken, for a trace.
type TraceStep struct {
	N       int       // steps are counted from 1
	Time    time.Time // true time, after the step
	Step    Step
	Options int    // the number of steps that were possible
	Text    string // the effect, in words
}

// Source offers steps that belong to no actor, such as a sweeper's deletions. Its methods are called between steps and
// must not block.
type Source interface {
	// Name is printed in traces and must be unique among sources.
	Name() string
	// Steps returns the steps that are possible now, each as a number that keeps its meaning while others are taken.
	// The caller only reads the slice, and only until the next step.
	Steps() []uint64
	// Accesses returns the reads and writes of one of these steps. Nil means that the step may access anything. The
	// slice must not change later.
	Accesses(step uint64) []Access
	// Take takes one of them and returns its effect in words.
	Take(step uint64) string
	// Next returns the earliest instant after the given one at which the source's steps change, as things are now: time
	// stops there. It is first called with the present, and then with each instant that it has returned.
	Next(after time.Time) (time.Time, bool)
}

// Apart is implemented by a Source whose steps race with each other only where their accesses do. Two steps of another
// source always race: one may use up what the other needs.
type Apart interface{ Apart() }

// Move identifies a step by its content, so that a schedule can be carried over to another run, even in a world that
// was changed a little. No two steps that are possible at one moment have the same Move.
type Move struct {
	Kind    Kind
	Name    string // Step.Name
	Outcome int    // the outcome of an effect: 0 is the ordinary one
	Planned bool   // it is not chosen by the schedule: see Planned
	item    uint64 // the item of a source's step
}

// Move returns the step's identity.
func (s Step) Move() Move { return Move{s.Kind, s.Name, s.outcome, s.planned, s.item} }

// Access is a read or write of one thing of the world, such as a row.
type Access struct {
	// Object identifies the thing: see ObjectNamed. Two things with one number count as one: that adds schedules and
	// hides none.
	Object uint64
	Write  bool
}

// ObjectNamed returns a number for the thing that the parts name.
func ObjectNamed(parts ...string) uint64 {
	var h fingerprint.Hash
	for _, part := range parts {
		h = h.Text(part)
	}
	return uint64(h)
}

// SortKey returns the content of the request that takes effect, if it is Sorted; else "".
func (s Step) SortKey() string {
	request := s.orphaned
	if s.Kind == Effect {
		request = s.proc.request
	}
	if sorted, ok := request.(Sorted); ok {
		return sorted.SortKey()
	}
	return ""
}

// id identifies a step among all those possible now. It stays the same while other steps that do not race with it are
// taken.
func (s Step) id() uint64 {
	h := fingerprint.Hash(s.Kind)
	if s.planned {
		h = ^h
	}
	if p := s.proc; p != nil {
		h = h.Number(uint64(p.actor.index)).Number(uint64(p.incarnation)).Number(uint64(s.outcome))
	}
	return uint64(h.Number(uint64(s.Thread)).Number(s.item))
}

// Races reports whether the order of two steps that are both possible can matter to the run after them. Steps that do
// not race lead to the same state in either order; partial-order methods rely on that.
func (s Step) Races(o Step) bool {
	if race, known := s.footprint().races(o.footprint()); known {
		return race
	}
	return interfere(s.accesses(), o.accesses())
}

// footprint is the part of a step that Races reads in addition to its accesses.
type footprint struct {
	kind   Kind
	global bool
	// actor is -1 for the steps of sources and of time; thread is negative for one of a source that is Apart
	thread, actor int
}

func (s Step) footprint() footprint {
	f := footprint{s.Kind, s.global(), s.Thread, -1}
	if s.proc != nil {
		f.actor = s.proc.actor.index
	}
	if _, apart := s.source.(Apart); apart {
		f.thread = -1 - int(s.item>>1)
	}
	return f
}

// races says whether two steps race, if that is known without their accesses.
func (f footprint) races(o footprint) (race, known bool) {
	switch {
	case f.kind == Tick || o.kind == Tick, // code that runs may read a clock
		f.thread == o.thread, f.actor >= 0 && f.actor == o.actor:
		return true, true
	}
	return false, !f.global || !o.global // a step within one node is not seen from another
}

// interfere reports whether one step writes a thing that the other accesses.
func interfere(a, b []Access) bool {
	if a == nil || b == nil {
		return true
	}
	for _, x := range a {
		for _, y := range b {
			if x.Object == y.Object && (x.Write || y.Write) {
				return true
			}
		}
	}
	return false
}

// reads says that accesses are known, and write nothing.
func reads(accesses []Access) bool {
	return accesses != nil && !slices.ContainsFunc(accesses, func(a Access) bool { return a.Write })
}

// global says whether the world sees steps of a kind. The passing of time does not count.
func global(k Kind) bool { return k == Effect || k == Orphan || k == External }

// Told is the thing that the steps of a run with Config.Ordered write: the answers to clients, and their times.
var Told = ObjectNamed("told")

var telling = []Access{{Object: Told, Write: true}}

// tells reports whether the run is judged by the order of this step and the steps of other actors.
func (s Step) tells() bool {
	return (s.Kind == Start || s.Kind == Response || s.Kind == Timer || s.Kind == Crash) && s.proc.sim.cfg.Ordered
}

// global says whether the world sees the step, or whoever judges the run.
func (s Step) global() bool { return global(s.Kind) || s.tells() }

// Accesses returns what the step reads and writes of the world: nothing if the world does not see the step, or if its
// accesses are not known.
func (s Step) Accesses() []Access {
	if !global(s.Kind) {
		return nil
	}
	return s.accesses()
}

// accesses returns what a global step touches, nil if that is not known.
func (s Step) accesses() []Access {
	switch s.Kind {
	case Effect:
		return s.proc.request.Accesses(s.outcome)
	case Orphan:
		return s.orphaned.Accesses(0)
	case External:
		return s.source.Accesses(s.item)
	}
	if s.tells() {
		return telling
	}
	return nil
}
