package sim

import (
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
)

// Kept is a moment of a run, to go on from.
type Kept struct {
	sim     *Sim
	was     Sim
	now     time.Time
	actors  []keptActor
	sources []Source
	orphans []orphan
	world   func(moved bool)
}

type keptActor struct {
	actor actor
	node  fakeclock.Node
	proc  *Proc // a copy, if it is not the first; else nil
}

// Keep saves the present moment, in the memory of k unless k is nil. See Memory.Search.
func (s *Sim) Keep(k *Kept) *Kept {
	if k == nil {
		k = &Kept{actors: make([]keptActor, len(s.actors))}
	}
	k.sim, k.was, k.now, k.world = s, *s, s.clock.Now(), s.cfg.Keep()
	k.sources, k.orphans = append(k.sources[:0], s.sources...), append(k.orphans[:0], s.orphans...)
	for i, a := range s.actors {
		k.actors[i] = keptActor{actor: *a, node: *a.node}
		if a.proc != &a.first {
			now := *a.proc
			k.actors[i].proc = &now
		}
	}
	return k
}

// Restore puts the run and its world back to the moment, and returns the run, which e continues.
func (k *Kept) Restore(e Explorer) *Sim {
	s := k.sim
	moved := !s.clock.Now().Equal(k.now)
	*s = k.was
	s.result.Cycles = nil // earlier runs have them
	s.clock.Set(k.now)
	for i, a := range s.actors {
		*a = k.actors[i].actor
		*a.node = k.actors[i].node
		if a.proc != &a.first {
			*a.proc = *k.actors[i].proc
		}
	}
	s.sources = append(s.sources[:0], k.sources...)
	s.orphans = slices.Clone(k.orphans)
	s.result.Choices = append(make(Choices, 0, len(s.result.Choices)+usualChoices), s.result.Choices...)
	k.world(moved)
	s.exploredBy(e)
	return s
}
