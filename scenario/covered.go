package scenario

import (
	"math/rand/v2"

	"github.com/isr-sim/isr-sim/scenario/sim"
)

// covered measures the coverage of a run.
type covered struct {
	sim    *sim.Sim
	order  sim.Order
	states []uint64
}

// by returns the strategy, watched.
func (c *covered) by(s sim.Strategy) sim.Strategy {
	if s.New == nil {
		s = sim.RandomWalk
	}
	ordered := c.order.Of(s)
	return sim.Strategy{Name: s.Name, New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
		return &watcher{ordered.New(rng, expectedSteps), c}
	}}
}

type watcher struct {
	sim.Chooser
	covered *covered
}

// Watch implements sim.Watcher.
func (w *watcher) Watch(s sim.Step) {
	w.covered.states = append(w.covered.states, w.covered.sim.Fingerprint())
	if next, ok := w.Chooser.(sim.Watcher); ok {
		next.Watch(s)
	}
}
