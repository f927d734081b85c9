package sim

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"

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

// abandon is chosen instead of a step to end the run where it is.
const abandon = -1

// Watcher is implemented by a Chooser that is told of every step taken, also if it was the only one possible.
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

// Plan assigns a strategy to each schedule of a campaign.
type Plan struct {
	Name string
	// At returns the strategy of the i-th schedule, from 0. The strategy of the first schedule must not need an
	// estimate of the run's length: that schedule gives the estimate for the others.
	At func(i int) Strategy
	// begin, if set, returns At for one set of schedules, in which the first schedule tells the others more than its
	// length.
	begin func() func(i int) Strategy
}

// Begin returns the plan for one set of schedules. The first of these ends before the others begin.
func (p Plan) Begin() Plan {
	if p.begin != nil {
		p.At = p.begin()
	}
	return p
}

// Portfolio is the default plan. Its first four schedules have no delay, one, two and three: they show the bugs that
// need one late event. Then a random walk takes turns with strategies in which threads fall behind where steps race, as
// the first schedule has shown. No strategy alone is the best for every bug: docs/STRATEGIES.md has what each finds.
func Portfolio() Plan {
	var delays [4]Strategy
	for d := range delays {
		delays[d] = DelayBound(d)
	}
	begin := func() func(int) Strategy {
		first := &profile{}
		trial := sync.OnceValues(first.races)
		turns := [...]Strategy{RandomWalk, racing(2, 2, trial), racing(2, 0, trial), racing(2, 2, trial)}
		return func(i int) Strategy {
			switch {
			case i == 0:
				return first.of(delays[0])
			case i < len(delays):
				return delays[i]
			}
			return turns[i%len(turns)]
		}
	}
	return Plan{Name: "portfolio", At: func(i int) Strategy { return begin()(i) }, begin: begin}
}

// Only is a plan of one strategy.
func Only(s Strategy) Plan { return Plan{Name: s.Name, At: func(int) Strategy { return s }} }

// Plans returns every plan that has a name, the default first.
func Plans() []Plan {
	plans := []Plan{Portfolio(), Only(RandomWalk), Only(POS)}
	for depth := 2; depth <= 5; depth++ {
		plans = append(plans, Only(PCT(depth)))
	}
	for delays := 1; delays <= 3; delays++ {
		plans = append(plans, Only(DelayBound(delays)))
	}
	return append(plans, surw())
}

// PlanNamed finds one of Plans by its name.
func PlanNamed(name string) (Plan, error) {
	var names []string
	for _, p := range Plans() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Plan{}, fmt.Errorf("strategy: found %q, expected one of %s", name, strings.Join(names, ", "))
}

// Replay takes the given choices. After the last one it takes the first possible step, so a prefix of a schedule is a
// schedule too. A choice that is not possible ends the run with a *DivergedError.
func Replay(choices Choices) Strategy {
	return strategyOf("replay", func() Chooser { return &replay{left: choices} })
}

type replay struct{ left Choices }

func (r *replay) Choose(steps []Step) int {
	if len(r.left) == 0 {
		return 0
	}
	next := r.left[0]
	r.left = r.left[1:]
	return next
}

// Prefix takes the given choices, and then the choices of another strategy.
func Prefix(choices Choices, then Strategy) Strategy {
	return Strategy{
		Name: "replay, then " + then.Name,
		New: func(rng *rand.Rand, expectedSteps int) Chooser {
			return &prefix{replay{left: choices}, then.New(rng, expectedSteps)}
		},
	}
}

type prefix struct {
	replay
	then Chooser
}

func (p *prefix) Choose(steps []Step) int {
	if len(p.left) == 0 {
		return p.then.Choose(steps)
	}
	return p.replay.Choose(steps)
}

func (p *prefix) Watch(s Step) {
	if w, ok := p.then.(Watcher); ok {
		w.Watch(s)
	}
}

// DivergedError says that a replayed schedule does not fit the run: the scenario, the protocol or the simulator has
// changed since it was recorded; or that a run of an Exploration cannot be repeated.
type DivergedError struct {
	step    int // the number of the step that could not be taken, from 1
	choice  int // the position that was asked for
	options int // the number of steps that were possible
	// differs says in which way a run of an Exploration is not the same as another one; "" for a replay.
	differs string
}

func (e *DivergedError) Error() string {
	if e.differs != "" {
		return fmt.Sprintf("the run cannot be repeated: at step %d %s", e.step, e.differs)
	}
	return fmt.Sprintf("the schedule does not fit: at step %d it takes option %d, but only %d were possible "+
		"(0 to %d); it was recorded for another scenario, protocol or version", e.step, e.choice, e.options,
		e.options-1)
}

// POS samples partial orders: each step gets a random priority when it becomes possible, the highest one is taken, and
// the steps that race with it draw again. Unlike PCT it needs no estimate of the run's length, and it spends nothing on
// the order of steps that do not touch each other.
//
// Source: Yuan, Yang, Gu: Partial order aware concurrency sampling (CAV 2018).
var POS = Strategy{
	Name: "pos",
	New:  func(rng *rand.Rand, _ int) Chooser { return &pos{rng: rng} },
}

type pos struct {
	rng *rand.Rand
	// priorities are the priorities of each thread's possible steps, in their order; 0 is not drawn yet.
	priorities [][]float64
}

func (p *pos) Choose(steps []Step) int {
	best, highest, nth := 0, 0.0, 0
	for i, s := range steps {
		if nth++; i == 0 || steps[i-1].Thread != s.Thread {
			nth = 0
		}
		if priority := p.priority(s.Thread, nth); priority > highest {
			best, highest = i, priority
		}
	}
	for i, s := range steps {
		if i != best && s.Races(steps[best]) {
			clear(p.priorities[s.Thread])
		}
	}
	clear(p.priorities[steps[best].Thread])
	return best
}

func (p *pos) priority(thread, nth int) float64 {
	for len(p.priorities) <= thread {
		p.priorities = append(p.priorities, nil)
	}
	for len(p.priorities[thread]) <= nth {
		p.priorities[thread] = append(p.priorities[thread], 0)
	}
	if p.priorities[thread][nth] == 0 {
		p.priorities[thread][nth] = 1 - p.rng.Float64() // in (0, 1]
	}
	return p.priorities[thread][nth]
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
