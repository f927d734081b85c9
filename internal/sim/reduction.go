package sim

import (
	"errors"
	"slices"
)

// Reduction is a set of ways to leave schedules out.
type Reduction uint16

// The reductions of a search.
const (
	SleepSets Reduction = 1 << iota
	StateComparison
	PersistentSets
	UnreadClocks
	InterchangeableActors
	UnreadDeadlines
	OrphanedReads
	// RememberedCode and NoRandomness are no reductions. Without RememberedCode, the code of nodes runs in each
	// schedule: see Memory.Search. Without NoRandomness, code may draw random bytes: see Memory.Seed.
	RememberedCode
	NoRandomness
)

// Option is what is remembered of a step after its run.
type Option struct {
	Kind          Kind
	Thread, Actor int // see footprint
	ID            uint64
	Position      int      // its place among the steps of its moment
	Accesses      []Access `json:",omitempty"`
	MayEnd        bool     `json:",omitempty"` // the actor's code runs on, and may be done
}

// Option returns what is remembered of the step; position is its place among the steps of its moment.
func (s Step) Option(position int) Option {
	f := s.footprint()
	return Option{s.Kind, f.thread, f.actor, s.id(), position, s.accesses(), s.mayEnd()}
}

// Is says whether the step is the one that the option remembers.
func (o Option) Is(s Step) bool { return s.id() == o.ID }

// Reads reports whether the option is known to write nothing.
func (o Option) Reads() bool { return reads(o.Accesses) }

func (o Option) footprint() footprint {
	return footprint{o.Kind, global(o.Kind) || o.Accesses != nil, o.Thread, o.Actor}
}

// TakenError says that an assumption of some reductions does not hold. What was explored does not count; a search
// without these reductions may succeed.
type TakenError struct {
	Off Reduction
	Why string
}

func (e *TakenError) Error() string { return e.Why + "; expected a search with fewer reductions" }

// BreaksRun implements runBreaker.
func (*TakenError) BreaksRun() {}

// Dependent reports whether two options that are both possible now are dependent: they race, or one could leave no
// actor alive, which ends the run before the other.
func (s *Sim) Dependent(a, b Option) bool {
	race, known := a.footprint().races(b.footprint())
	if !known {
		race = interfere(a.Accesses, b.Accesses)
	}
	return race || s.endsBefore(a, b) || s.endsBefore(b, a)
}

// mayEnd says whether the actor may be done after the step.
func (s Step) mayEnd() bool {
	switch s.Kind {
	case Start, Response, Timer, Crash:
		return true
	case Effect:
		_, at := s.proc.request.(Immediate)
		return at
	default:
		return false
	}
}

// endsBefore says whether the run may end after a, so that the optional step b does not happen.
func (s *Sim) endsBefore(a, b Option) bool {
	if !a.MayEnd {
		return false
	}
	others := 0
	for i, other := range s.actors {
		if i != a.Actor && other.alive() && (b.Kind != Crash || i != b.Actor) {
			others++
		}
	}
	return others == 0
}

// Persistent returns the position of a step that need not wait for any other, because it races with nothing that can
// happen earlier. It returns -1 if there is no such step, as in every run with Config.Ordered. An error says that the
// run does not allow persistent sets.
//
// It is a node's own step. Other nodes do not see it; time cannot move before it is taken; and nothing can happen to
// the node. It might end its actor and with it the run, which would keep optional steps from happening. So another
// actor must be alive that cannot crash, and whose last step can come after all optional steps.
func (s *Sim) Persistent() (position int, err error) {
	if s.endsInEffects() {
		return -1, errEndsInEffects
	}
	if s.ticks > 0 || s.cfg.Ordered {
		return -1, nil
	}
	for i, step := range s.steps {
		switch step.Kind {
		case Start, Response, Timer:
		default:
			continue
		}
		a := step.proc.actor
		// Before its code runs, nothing can happen to a node.
		if len(a.lanes) > 0 { // they race with one another
			continue
		}
		if s.dueFor(a) {
			continue
		}
		if step.Kind != Start && (a.pauses > 0 || a.crashes > 0 || len(a.clockSteps) > 0) {
			continue
		}
		for _, other := range s.actors {
			if other != a && other.alive() && other.crashes == 0 && !s.dueFor(other) {
				return i, nil
			}
		}
	}
	return -1, nil
}

var errEndsInEffects = errors.New("an Exploration found an Immediate request, whose effect may end its actor, in a " +
	"run with steps that need not happen (of a source, a restart, or of a request whose sender is gone); expected " +
	"one or the other, or PersistentSets off")

// endsInEffects says whether the effect of a request may end its actor, and with it the run, before a step that the
// effect makes possible. If so, a node's own step may not be taken before others: see Persistent.
func (s *Sim) endsInEffects() bool {
	optional := len(s.sources) > 0 || len(s.orphans) > 0 ||
		slices.ContainsFunc(s.actors, func(a *actor) bool { return a.restarts > 0 })
	return optional && slices.ContainsFunc(s.steps,
		func(step Step) bool { return step.Kind == Effect && step.mayEnd() })
}

// dueFor says whether a planned event of the actor's node is due at this moment.
func (s *Sim) dueFor(a *actor) bool {
	return s.due && slices.ContainsFunc(s.steps, func(step Step) bool { return step.planned && step.proc.actor == a })
}
