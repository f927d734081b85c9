package sim

import "math/rand/v2"

// Strategy makes a chooser for one run. The random stream is the run's own; expectedSteps estimates the steps of the
// run (at least 1).
type Strategy struct {
	Name string
	New  func(rng *rand.Rand, expectedSteps int) Chooser
}

// From returns the strategy with the given random stream in place of that of the run's seed. It is for one run.
func (s Strategy) From(rng *rand.Rand) Strategy {
	return Strategy{Name: s.Name, New: func(_ *rand.Rand, expectedSteps int) Chooser { return s.New(rng, expectedSteps) }}
}

// Chooser picks one of the steps possible now, by its position. It is called only where there are at least two.
type Chooser interface {
	Choose(steps []Step) int
}

// abandon is chosen instead of a step to end the run where it is.
const abandon = -1

// Watcher is implemented by a Chooser that hears of every step when it is taken, also of a step that was the only one
// possible.
type Watcher interface {
	Watch(Step)
}

// strategyOf is a strategy without randomness.
func strategyOf(name string, chooser func() Chooser) Strategy {
	return Strategy{Name: name, New: func(*rand.Rand, int) Chooser { return chooser() }}
}

// RandomWalk picks every step with the same chance.
var RandomWalk = Strategy{
	Name: "random-walk",
	New:  func(rng *rand.Rand, _ int) Chooser { return randomWalk{rng} },
}

type randomWalk struct{ rng *rand.Rand }

func (w randomWalk) Choose(steps []Step) int { return w.rng.IntN(len(steps)) }
