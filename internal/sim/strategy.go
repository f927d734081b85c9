package sim

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// Strategy makes a chooser for one run. The random stream is the run's own; expectedSteps estimates the steps of the
// run (at least 1).
type Strategy struct {
	Name string
	New  func(rng *rand.Rand, expectedSteps int) Chooser
}

// String returns the strategy's name.
func (s Strategy) String() string { return s.Name }

// StrategyOf returns the strategy of a run: the zero Strategy for nil.
func StrategyOf(s fmt.Stringer) Strategy {
	own, _ := s.(Strategy)
	return own
}

// From returns the strategy with the given random stream in place of the stream of the run's seed. It is for one run.
func (s Strategy) From(rng *rand.Rand) Strategy {
	return Strategy{
		Name: s.Name, New: func(_ *rand.Rand, expectedSteps int) Chooser { return s.New(rng, expectedSteps) },
	}
}

// Chooser picks one of the steps possible now, by its position. It is called only where there are at least two.
type Chooser interface {
	Choose(steps []Step) int
}

// Abandon is chosen instead of a step to end the run where it is.
const Abandon = -1

// Explorer is a Chooser that is asked at each moment, even where only one step is possible, and may also choose a tick
// of Step.Further. It is part of a search through all schedules: see package exhaustive.
type Explorer interface {
	Chooser
	// Begin is called before the run begins, or goes on (see Kept). It returns the reductions that Sim.Fingerprint does
	// without.
	Begin(*Sim) Reduction
	// Over is called when every actor is done. It returns true if other runs cover what follows: then the run is
	// Abandoned.
	Over() bool
	// Ended is called at the end of the run. An error breaks it.
	Ended(Result) error
}

// exploredBy lets an explorer choose.
func (s *Sim) exploredBy(e Explorer) {
	s.chooser, s.explorer, s.cfg.Off = e, e, e.Begin(s)
	s.watcher, _ = e.(Watcher)
	s.eager = s.cfg.Off&UnreadClocks != 0
}

// Watcher is implemented by a Chooser that is told of every step taken, even if it was the only one possible.
type Watcher interface {
	Watch(Step)
}

// RandomWalk picks every step with the same chance.
var RandomWalk = Strategy{
	Name: "random-walk",
	New:  func(rng *rand.Rand, _ int) Chooser { return randomWalk{rng} },
}

type randomWalk struct{ rng *rand.Rand }

func (w randomWalk) Choose(steps []Step) int { return w.rng.IntN(len(steps)) }

// DivergedError says that a replayed schedule does not fit the run: the scenario, the protocol or the simulator has
// changed since it was recorded; or that a run of a search cannot be repeated.
type DivergedError struct {
	Step    int // the number of the step that could not be taken, from 1
	choice  int // the position that was asked for
	options int // the number of steps that were possible
	// Differs says in which way a run of a search is not the same as another one; "" for a replay.
	Differs string
}

func (e *DivergedError) Error() string {
	if e.Differs != "" {
		return fmt.Sprintf("the run cannot be repeated: at step %d %s", e.Step, e.Differs)
	}
	return fmt.Sprintf("the schedule does not fit: at step %d it takes option %d, but only %d were possible "+
		"(0 to %d); it was recorded for another scenario, protocol or version", e.Step, e.choice, e.options,
		e.options-1)
}

// Stream returns the random stream called name of seed. Streams of one seed are independent of each other: drawing more
// from one changes nothing in another.
func Stream(seed uint64, name string) *rand.Rand {
	return rand.New(rand.NewPCG(seed, nameHash(name)))
}

// Derive returns the seed of the n-th child of seed, such as the n-th schedule of a campaign. Children can be made in
// any order, on any machine.
func Derive(seed uint64, n int) uint64 {
	return fingerprint.Mix(seed, uint64(n))
}

func nameHash(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash.Hash never fails
	return h.Sum64()
}
