package sim

import (
	"fmt"
	"time"
)

// boundary returns the first instant after a given one at which something can change, as things are now.
func (s *Sim) boundary(after time.Time) (next time.Time, ok bool) { return s.boundaryBut(-1, after) }

// boundaryBut does the same without one of the sources, by its place.
func (s *Sim) boundaryBut(but int, after time.Time) (next time.Time, ok bool) {
	consider := func(t time.Time) {
		if t.After(after) && (!ok || t.Before(next)) {
			next, ok = t, true
		}
	}
	if t, has := s.clock.Next(); has {
		consider(t)
	}
	for _, a := range s.actors {
		if a.paused {
			consider(a.until)
		}
		if t, has := s.nextPlanned(a); has {
			consider(t)
		}
		for i := -1; i < len(a.lanes); i++ {
			switch p := a.at(i); p.state {
			case sleeping:
				consider(p.wake)
			case answered:
				consider(p.arrives)
			}
		}
	}
	for i, src := range s.sources {
		if i == but {
			continue
		}
		if t, has := src.Next(after); has {
			consider(t)
		}
	}
	return next, ok
}

// Idle is implemented by a Source that makes time stop at hidden values: see [Hidden].
type Idle interface {
	Source
	// Idle reports whether time stops at t only for hidden values, as far as the source knows.
	Idle(t time.Time) bool
}

// Idle reports whether the step is a tick to an instant whose only reason is a hidden value, in a run that remembers
// what its code does.
func (s Step) Idle() bool {
	return s.Kind == Tick && s.sim.histories != nil && s.sim.required && s.sim.idle(s.until)
}

// idle reports whether time stops at t only for hidden values (see [Hidden]): nothing else can change then.
func (s *Sim) idle(t time.Time) bool {
	for i, src := range s.sources {
		if of, can := src.(Idle); can && of.Idle(t) {
			next, ok := s.boundaryBut(i, t.Add(-1))
			return !ok || !next.Equal(t)
		}
	}
	return false
}

// Further returns the ticks to all later instants at which something can change, if the step is a tick while something
// else could happen; nothing otherwise. A search takes them, and so does [Replay]; other strategies are never offered
// them. Their positions follow on those of the steps that a Chooser is offered. The caller only reads the slice, and
// only until the next step.
//
// Such a tick equals several ticks in a row: the timers, answers and pauses that it passes over end late, as on a slow
// machine. [Planned] events are never late, so no tick passes over one.
func (s Step) Further() []Step {
	if s.Kind != Tick {
		return nil
	}
	return s.sim.further()
}

// endless bounds the instants of a source: a source with more is taken to be endless.
const endless = 10_000

func (s *Sim) further() []Step {
	if s.gathered {
		return s.later
	}
	s.later, s.gathered = s.later[:0], true
	if !s.required || s.cfg.Bubble != nil {
		return nil
	}
	tick := s.steps[len(s.steps)-1]
	if tick.Kind != Tick {
		return nil
	}
	for {
		next, ok := s.boundary(tick.until)
		if !ok || s.plannedBefore(next) {
			return s.later
		}
		if len(s.later) == endless {
			s.fail(fmt.Errorf("a source has time stop at more than %d instants: Next must come to an end", endless))
			return s.later
		}
		tick.until, tick.item = next, uint64(next.Sub(s.start))
		s.later = append(s.later, tick)
	}
}

// plannedBefore says whether something is planned for an instant before t.
func (s *Sim) plannedBefore(t time.Time) bool {
	for _, a := range s.actors {
		if at, has := s.nextPlanned(a); has && at.Before(t) || a.paused && a.exact && a.until.Before(t) {
			return true
		}
	}
	return false
}

// at returns the step at a position: one of those that are possible, or of the further ticks.
func (s *Sim) at(i int) *Step {
	if i < len(s.steps) {
		return &s.steps[i]
	}
	return &s.further()[i-len(s.steps)]
}
