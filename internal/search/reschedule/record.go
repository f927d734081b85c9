// Package reschedule describes a schedule in forms that survive a change of the world, and shrinks it.
//
//	recorded, ok := reschedule.Record(strategy.Replay(choices), attempt)
//	shrunk := reschedule.Shrink(recorded, attempt)
//	fmt.Println(shrunk.Result.Choices)
//
// The choices of a run are positions in lists, and mean something else in another world. Moves and deviations name the
// steps instead: [Follow] and [Deviate] make a similar schedule of them.
//
// # Determinism
//
// Everything here is deterministic if the attempts are.
package reschedule

import (
	"cmp"
	"math/rand/v2"

	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// Attempt runs one schedule and reports whether the run shows the wanted behaviour, for instance the same violation. It
// must be deterministic, except that it may refuse every schedule from some moment on, which ends a search.
type Attempt func(sim.Strategy) (sim.Result, bool)

// Recorded is a run that shows the wanted behaviour, with its schedule in the forms that survive a change of the world.
type Recorded struct {
	Result     sim.Result
	Moves      []sim.Move  // every step
	Deviations []Deviation // Deviate(Deviations) repeats the run

	detours []Deviation // steps of actors' code that were possible and not taken
}

// Record attempts a schedule and records it.
func Record(s sim.Strategy, attempt Attempt) (Recorded, bool) {
	var r Recorded
	result, ok := attempt(sim.Strategy{Name: s.Name, New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
		r = Recorded{}
		return &recorder{Recorded: &r, chooser: s.New(rng, expectedSteps)}
	}})
	r.Result = result
	return r, ok
}

// recorder records a run while another chooser decides its steps.
type recorder struct {
	*Recorded
	place
	chooser sim.Chooser
}

func (r *recorder) Watch(s sim.Step) {
	r.saw(s)
	r.Moves = append(r.Moves, s.Move())
	if w, ok := r.chooser.(sim.Watcher); ok {
		w.Watch(s)
	}
}

func (r *recorder) Choose(steps []sim.Step) int {
	chosen := r.chooser.Choose(steps)
	var taken sim.Step
	switch last := chosen - len(steps); {
	case chosen < 0 || last >= 0 && last >= len(further(steps)):
		return chosen
	case last >= 0:
		taken = further(steps)[last]
	default:
		taken = steps[chosen]
	}
	if chosen != strategy.Due(steps, r.thread) {
		r.Deviations = append(r.Deviations, Deviation{r.at, taken.Move()})
	}
	for i, s := range steps {
		if i != chosen && !optional(s.Kind) && s.Move().Outcome == 0 {
			r.detours = append(r.detours, Deviation{r.at, s.Move()})
		}
	}
	return chosen
}

// compare orders schedules of one world: first by context switches, then by steps, by true time, and by deviations.
// Fewer is less.
func (r *Recorded) compare(o *Recorded) int {
	return cmp.Or(
		cmp.Compare(r.Result.Switches, o.Result.Switches), cmp.Compare(r.Result.Steps, o.Result.Steps),
		cmp.Compare(r.Result.Elapsed, o.Result.Elapsed), cmp.Compare(len(r.Deviations), len(o.Deviations)),
	)
}
