package explain

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/reschedule"
	"github.com/isr-sim/isr-sim/internal/sim"
)

// Event is something that happened in an explained run but need not have, with the result of leaving it out.
type Event struct {
	Step int    // its position in Steps; for a property of the whole world, the first step that it changes
	What string // its actor and its kind: alice pause
	// Violated is the number of runs without the event, out of Tails, that violate the invariant. Each of these runs
	// follows the recorded schedule up to some step after the event, and goes on at random; the step differs between
	// runs.
	Violated int
	// With is the same number, out of Tails, for runs that keep the event.
	With int
	// Rest says whether the recorded schedule, as far as it still fits, violates the invariant without the event.
	Rest bool

	rank int
}

// Needed reports whether no tried run without the event violates the invariant.
func (e Event) Needed() bool { return e.Violated == 0 && !e.Rest }

// Interval is Wilson's 95% interval of a chance, given violated hits in n runs; it is also right near 0 and 1.
//
// Source: Wilson: Probable inference, the law of succession, and statistical inference (JASA 1927).
func Interval(violated, n int) (from, to float64) {
	const z = 1.959964
	p, all := float64(violated)/float64(n), float64(n)
	middle := (p + z*z/(2*all)) / (1 + z*z/all)
	half := z / (1 + z*z/all) * math.Sqrt(p*(1-p)/all+z*z/(4*all*all))
	return max(0, middle-half), min(1, middle+half)
}

// The ranks order events that are equally needed: events that a test would have to cause come first, and the order of
// steps and the passing of time come last.
const (
	rankFault = iota
	rankNode
	rankStore
	rankSwitch
	rankTime
)

func rankOf(k sim.Kind) int {
	switch k {
	case sim.Effect:
		return rankFault
	case sim.Pause, sim.Crash, sim.ClockStep:
		return rankNode
	case sim.External, sim.Orphan:
		return rankStore
	case sim.Tick:
		return rankTime
	default: // such as the return of a node
		return rankSwitch
	}
}

// counterfactual is an event, and a way to run without it.
type counterfactual struct {
	Event
	world *spec.Scenario // nil means the world of the run
	fresh int            // the number of the read that no replica answers: see hooks.Probe
	// follow returns a strategy without the event: the recorded schedule up to the step cut, and the strategy then from
	// there on.
	follow func(cut int, then sim.Strategy) sim.Strategy
	// whole has strategies for the whole schedule without the event.
	whole []sim.Strategy
}

// without leaves out each event, one at a time. The list violated has, for each step from 0, the number of violating
// tails that begin after it.
func (e Explain) without(ctx context.Context, o *kernel.Outcome, x *Explanation, seen *witness) ([]Event, error) {
	recorded, err := e.recorded(ctx)
	if err != nil {
		return nil, err
	}
	all, err := e.elsewhere(ctx, x, recorded)
	if err != nil {
		return nil, err
	}
	for _, event := range seen.events {
		c := e.leftOut(event, seen, recorded)
		if event.from == "" && event.move.Kind == sim.External && event.step < len(x.Steps) {
			c.What += ": " + x.Steps[event.step].Did // a source has steps that cover many rows
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, nil
	}
	last := len(x.Steps)
	cut := func(nth, i int) int { return all[nth].Step + i*(last-all[nth].Step+1)/e.Tails }
	fresh := func(nth int) int { return all[nth].fresh }
	tails, err := e.count(ctx, o, len(all), e.Tails, fresh, func(nth, i int) kernel.Run {
		rng := sim.Stream(sim.Derive(e.Failed.Seed, nth*e.Tails+i), "explain without")
		return e.in(all[nth].world, all[nth].follow(cut(nth, i), sim.RandomWalk.From(rng)))
	})
	if err != nil {
		return nil, err
	}
	rests, err := e.count(ctx, o, len(all), 2, fresh, func(nth, way int) kernel.Run {
		return e.in(all[nth].world, all[nth].whole[min(way, len(all[nth].whole)-1)])
	})
	if err != nil {
		return nil, err
	}
	events := make([]Event, len(all))
	for nth, c := range all {
		event := c.Event
		event.Violated, event.Rest = tails[nth], rests[nth] > 0
		for i := range e.Tails {
			event.With += x.Steps[min(max(cut(nth, i), event.Step+1), last)-1].Violated
		}
		event.With = (event.With + e.Tails/2) / e.Tails
		events[nth] = event
	}
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(boolRank(b.Needed())-boolRank(a.Needed()), boolRank(a.Idle(e.Tails))-boolRank(b.Idle(e.Tails)),
			cmp.Compare(a.rank, b.rank), cmp.Compare(a.Violated, b.Violated), cmp.Compare(a.Step, b.Step))
	})
	return events, nil
}

// Effect returns needed, helped or idle. The parameter tails is the number of runs with which the explanation tried the
// event.
func (e Event) Effect(tails int) string {
	switch {
	case e.Needed():
		return "needed"
	case e.Idle(tails):
		return "idle"
	default:
		return "helped"
	}
}

// Idle reports whether runs with the event and runs without it differ by no more than chance.
func (e Event) Idle(tails int) bool {
	_, most := Interval(e.Violated, tails)
	least, _ := Interval(e.With, tails)
	return most >= least
}

func boolRank(is bool) int {
	if is {
		return 1
	}
	return 0
}

// recorded repeats the recorded schedule, and notes it in forms that still apply in a changed world.
func (e Explain) recorded(ctx context.Context) (recorded reschedule.Recorded, err error) {
	recorded, _ = reschedule.Record(sim.StrategyOf(e.Failed.Strategy), func(s sim.Strategy) (sim.Result, bool) {
		var again *kernel.Outcome
		run := e.Failed
		run.Trace, run.Strategy = nil, s
		if again, err = run.Do(ctx); err != nil {
			return sim.Result{}, false
		}
		return again.Result, true
	})
	return recorded, err
}

// in returns the run in another world and under another schedule, without a bound on its steps.
func (e Explain) in(world *spec.Scenario, s sim.Strategy) kernel.Run {
	run := e.Failed
	run.Trace, run.Strategy, run.Steps = nil, s, 0
	if world != nil {
		run.Scenario = world
	}
	return run
}

// leftOut is the counterfactual of one step, or one context switch, of the schedule.
func (e Explain) leftOut(event optionalEvent, seen *witness, recorded reschedule.Recorded) counterfactual {
	c := counterfactual{
		Event:  Event{Step: event.step, rank: rankOf(event.move.Kind)},
		follow: func(cut int, then sim.Strategy) sim.Strategy { return seen.without(event, cut, then) },
		whole:  []sim.Strategy{seen.without(event, math.MaxInt, sim.RandomWalk)},
	}
	if event.from != "" {
		c.What, c.rank = event.from+" gives way to "+event.move.Name, rankSwitch
		return c
	}
	c.What = e.what(event.move)
	before, _ := seen.same(event)
	c.whole = append(c.whole, reschedule.Deviate(withoutNth(recorded.Deviations, event.move, before)))
	return c
}

// withoutNth leaves out the nth deviation, from 0, that has the given move.
func withoutNth(deviations []reschedule.Deviation, move sim.Move, nth int) []reschedule.Deviation {
	return slices.DeleteFunc(slices.Clone(deviations), func(d reschedule.Deviation) bool {
		if d.Move != move {
			return false
		}
		nth--
		return nth == -1
	})
}

// what names an event by its actor and its kind or fault.
func (e Explain) what(m sim.Move) string {
	kind := m.Kind.String()
	if m.Kind == sim.Effect {
		possible := e.possible()
		kind = possible[(m.Outcome-1)%len(possible)].Name() // the quotient is the position in the batch
	}
	return m.Name + " " + kind
}

// possible are the faults that the schedule may choose from. A fault's index is the number of the outcome, minus 1 and
// modulo the count of faults.
func (e Explain) possible() []spec.Fault {
	return slices.DeleteFunc(slices.Clone(e.Failed.Scenario.Faults), func(f spec.Fault) bool { return !f.Maybe })
}

// elsewhere returns worlds without one thing: a certain fault, a planned event, an error of a clock, a lag of replicas,
// or deletions by TTL outside of the schedule. It returns only worlds in which the recorded schedule takes another
// course.
func (e Explain) elsewhere(
	ctx context.Context, x *Explanation, recorded reschedule.Recorded,
) ([]counterfactual, error) {
	var all []counterfactual
	add := func(what string, rank int, change func(*spec.Scenario)) error {
		world := *e.Failed.Scenario
		world.Faults, world.Actors = slices.Clone(world.Faults), slices.Clone(world.Actors)
		change(&world)
		step, err := e.differs(ctx, x, &world, recorded)
		if err != nil || step < 0 {
			return err
		}
		all = append(all, counterfactual{
			Event: Event{Step: step, What: what, rank: rank}, world: &world,
			follow: func(cut int, then sim.Strategy) sim.Strategy {
				return until(cut, reschedule.Follow(recorded.Moves), then)
			},
			whole: []sim.Strategy{reschedule.Follow(recorded.Moves), reschedule.Deviate(recorded.Deviations)},
		})
		return nil
	}
	s := e.Failed.Scenario
	for i, f := range s.Faults {
		if f.Maybe {
			continue
		}
		if err := add("fault "+f.String(), rankFault, func(s *spec.Scenario) {
			s.Faults = slices.Delete(s.Faults, i, i+1)
		}); err != nil {
			return nil, err
		}
	}
	for i, a := range s.Actors {
		for j, event := range a.Events {
			if err := add(a.Name+" "+event.String(), rankNode, func(s *spec.Scenario) {
				s.Actors[i].Events = slices.Delete(slices.Clone(a.Events), j, j+1)
			}); err != nil {
				return nil, err
			}
		}
		if a.Drift == (fakeclock.Drift{}) {
			continue
		}
		if err := add(a.Name+" clock error", rankNode, func(s *spec.Scenario) {
			s.Actors[i].Drift = fakeclock.Drift{}
		}); err != nil {
			return nil, err
		}
	}
	if s.ReplicaLag != 0 {
		if err := add("lag of replicas", rankStore, func(s *spec.Scenario) { s.ReplicaLag = 0 }); err != nil {
			return nil, err
		}
		reads, err := e.staleReads(ctx, x, recorded)
		if err != nil {
			return nil, err
		}
		all = append(all, reads...)
	}
	if !s.RegionLag.Scheduler && s.RegionLag.Fixed != ddbfake.LagNever {
		err := add("arrival in other regions", rankStore,
			func(s *spec.Scenario) { s.RegionLag.Fixed = ddbfake.LagNever })
		if err != nil {
			return nil, err
		}
	}
	if !s.Lag.Scheduler && s.Lag.Fixed != ddbfake.LagNever {
		err := add("deletion by TTL", rankStore, func(s *spec.Scenario) { s.Lag.Fixed = ddbfake.LagNever })
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// staleReads returns, for each read of the run that got an outdated answer from a replica, the world in which only this
// read gets a current answer. The run may end before its scripts do: later reads are not among its events.
func (e Explain) staleReads(
	ctx context.Context, x *Explanation, recorded reschedule.Recorded,
) (all []counterfactual, err error) {
	steps := 0
	again := e.in(nil, reschedule.Follow(recorded.Moves))
	again.Trace = io.Discard
	_, err = again.Do(hooks.With(ctx, &hooks.Probe{
		OnStep: func(hooks.Step) { steps++ },
		OnStale: func(actor string, read int) {
			if steps >= len(x.Steps) {
				return
			}
			all = append(all, counterfactual{
				Event: Event{Step: steps, What: actor + " stale read", rank: rankFault}, fresh: read,
				follow: func(cut int, then sim.Strategy) sim.Strategy {
					return until(cut, reschedule.Follow(recorded.Moves), then)
				},
				whole: []sim.Strategy{reschedule.Follow(recorded.Moves), reschedule.Deviate(recorded.Deviations)},
			})
		},
	}))
	return all, err
}

// differs returns the position of the first step that differs in another world, or -1.
func (e Explain) differs(
	ctx context.Context, x *Explanation, world *spec.Scenario, recorded reschedule.Recorded,
) (int, error) {
	_, steps, err := told(ctx, e.in(world, reschedule.Follow(recorded.Moves)))
	if err != nil {
		return -1, err
	}
	for i, step := range x.Steps {
		if i >= len(steps) || steps[i].Text != step.Text {
			return i, nil
		}
	}
	return -1, nil
}
