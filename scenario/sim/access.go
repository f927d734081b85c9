package sim

// Access is one thing of the world that a step reads or writes, such as a row.
type Access struct {
	// Object tells things apart: see ObjectNamed. Two things with one number are taken for one, which costs schedules and
	// hides nothing.
	Object uint64
	Write  bool
}

// ObjectNamed returns a number for the thing that the parts name.
func ObjectNamed(parts ...string) uint64 {
	// FNV-1a, with a byte between the parts that no UTF-8 text has.
	h := uint64(14695981039346656037)
	for _, part := range parts {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	return h
}

// ID names a step among all those possible now, and keeps doing so while others
// are taken that do not race with it.
func (s Step) ID() uint64 {
	h := uint64(s.Kind)
	if s.proc != nil {
		h = h<<16 | uint64(s.proc.actor.index)
		h = h<<16 | uint64(s.proc.incarnation)
		return h<<16 | uint64(s.outcome)
	}
	return mix(h<<16|uint64(s.Thread), s.item)
}

// Races reports whether the order of two steps that are both possible can matter
// to what happens after them. Steps that do not race lead to the same state in
// either order, which is what partial-order methods live on.
func (s Step) Races(o Step) bool {
	switch {
	case s.Kind == Tick || o.Kind == Tick:
		return true // whoever runs may read a clock
	case s.Thread == o.Thread, s.proc != nil && o.proc != nil && s.proc.actor == o.proc.actor:
		return true
	case !s.Kind.global() || !o.Kind.global():
		return false // what happens within one node is not seen from another
	}
	a, b := s.accesses(), o.accesses()
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

// global steps are those that the world sees, beside the passing of time.
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
