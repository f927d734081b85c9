package sim

import "github.com/isr-sim/isr-sim/internal/fingerprint"

// Access is a read or write of one thing of the world, such as a row.
type Access struct {
	// Object identifies the thing: see ObjectNamed. Two things with one number count as one, which costs schedules and
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

// id identifies a step among all those possible now. It stays the same while other steps are taken that do not race
// with it.
func (s Step) id() uint64 {
	h := uint64(s.Kind)
	if s.planned {
		h |= 1 << 7 // no Kind has this bit
	}
	if s.proc != nil {
		h |= uint64(s.proc.lane) << 8
		h = h<<16 | uint64(s.proc.actor.index)
		h = h<<16 | uint64(s.proc.incarnation)
		return h<<16 | uint64(s.outcome)
	}
	return fingerprint.Mix(h<<16|uint64(s.Thread), s.item)
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
	kind          Kind
	thread, actor int // actor is -1 for the steps of sources and of time
}

func (s Step) footprint() footprint {
	f := footprint{s.Kind, s.Thread, -1}
	if s.proc != nil {
		f.actor = s.proc.actor.index
	}
	return f
}

// races says whether two steps race, if that is known without their accesses.
func (f footprint) races(o footprint) (race, known bool) {
	switch {
	case f.kind == Tick || o.kind == Tick:
		return true, true // code that runs may read a clock
	case f.thread == o.thread, f.actor >= 0 && f.actor == o.actor:
		return true, true
	case !f.kind.global() || !o.kind.global():
		return false, true // a step within one node is not seen from another
	default:
		return false, false
	}
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

// global steps are those that the world sees, except for the passing of time.
func (k Kind) global() bool { return k == Effect || k == Orphan || k == External }

// accesses returns what a global step touches, nil if that is not known.
func (s Step) accesses() []Access {
	switch s.Kind {
	case Effect:
		return s.proc.request.Accesses(s.outcome)
	case Orphan:
		return s.orphaned.Accesses(0)
	case External:
		return s.source.Accesses(s.item)
	default:
		return nil
	}
}
