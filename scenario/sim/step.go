package sim

import (
	"fmt"
	"time"
)

// Kind is the kind of a step.
type Kind uint8

// The kinds of steps. Within one actor they are offered in this order.
const (
	Start     Kind = iota + 1 // an actor's code begins
	Effect                    // a request reaches the world and takes effect
	Response                  // an answer reaches its actor, which runs until it parks again
	Timer                     // a sleep is over, and its actor runs until it parks again
	Resume                    // a paused node runs on
	Restart                   // a crashed node comes back with an empty memory
	Pause                     // a node stops running; its requests under way go on
	Crash                     // a node loses its memory; its requests under way go on
	ClockStep                 // a node's clock is set
	Orphan                    // a request of a node that crashed since takes effect
	External                  // a step of a Source
	Tick                      // time moves to the next boundary
)

var kindNames = [...]string{
	Start: "start", Effect: "effect", Response: "response", Timer: "timer", Resume: "resume", Restart: "restart",
	Pause: "pause", Crash: "crash", ClockStep: "clock-step", Orphan: "orphan", External: "external", Tick: "tick",
}

// String returns the kind as traces print it.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// optional steps may happen but need not: a run is over when only these are left.
func (k Kind) optional() bool { return k >= Restart }

// optional is that of the step's kind, unless it was planned.
func (s *Step) optional() bool { return s.Kind.optional() && !s.planned }

// own reports whether the step is one of an actor's own code: it starts, its request takes effect, its answer arrives,
// or it wakes.
func (k Kind) own() bool { return k <= Timer }

// Step is one thing that can happen next.
type Step struct {
	Kind Kind
	// Thread numbers the step's thread: strategies with priorities give them to threads. The steps of one actor's own code
	// share a thread; pauses, crashes and clock steps of its node are another; so are orphans, each source, and time.
	Thread int
	// Name is the name of the step's owner: an actor with its incarnation, a source, or "time".
	Name string

	proc     *Proc
	outcome  int
	orphaned Request
	nth      int // among the orphans
	source   Source
	item     uint64
	until    time.Time
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
	// Steps returns the steps that are possible now, each by a number that keeps its meaning while others are taken. The
	// caller only reads the slice, and only until the next step.
	Steps() []uint64
	// Accesses returns the reads and writes of one of them. Nil means that it may access anything. The slice stays as it
	// is.
	Accesses(step uint64) []Access
	// Take takes one of them and returns its effect in words.
	Take(step uint64) string
	// Next returns the earliest instant after now at which the source's steps change: time stops there.
	Next(now time.Time) (time.Time, bool)
}
