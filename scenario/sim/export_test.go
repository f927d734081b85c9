package sim

// Visit is one in which a run of an exploration comes to a state, with some steps asleep, and leaves it by one of the
// possible steps, or by none; or is the first to leave a state by a step, to which another run has come.
type Visit struct {
	Possible, Asleep []uint64
	Come             bool
	Taken            int // -1 is none
}

// Hear has a function hear of the visits of an exploration, as the runs come to them.
func (x *Exploration) Hear(hear func(Visit)) {
	x.heard = func(h heard) {
		m := Visit{Come: !h.left, Taken: h.taken}
		for _, s := range h.steps {
			m.Possible = append(m.Possible, s.ID())
		}
		for _, o := range h.asleep {
			m.Asleep = append(m.Asleep, o.id)
		}
		hear(m)
	}
}
