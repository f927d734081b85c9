package campaign

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/reschedule"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// Shrink makes a violated run small: it looks for a run that violates the same invariant and does as much harm, with
// fewer context switches, then fewer steps, then in less time, and then with fewer faults, actors, commands and
// settings. A run that does more harm is better than any of these.
//
//	shrunk, err := campaign.Shrink{Failed: failed}.Run(ctx)
//
// It tries simpler schedules and simpler scenarios, keeps those that still violate the invariant, and ends when nothing
// simpler does. It is deterministic, and shrinking its result changes nothing. The result ends at the step that
// violates the invariant (spec.Replay.Steps). A violation of liveness has no such step: liveness concerns the end.
//
// # Limits
//
// It is greedy: there may be a smaller run that needs several changes at once. It keeps a scenario's promises:
// max-clock-skew is made smaller only if all clocks are exact.
type Shrink struct {
	// Failed is the violated run: its Strategy is strategy.Replay of the recorded choices. Trace is not used.
	Failed kernel.Run
	// Runs bounds the number of runs; 0 means DefaultShrinkRuns.
	Runs int
	// ScheduleOnly leaves the scenario as it is.
	ScheduleOnly bool
}

// DefaultShrinkRuns bounds the number of runs that a Shrink tries. It is several times the number that the embedded
// scenarios need.
const DefaultShrinkRuns = 10_000

// Shrunk is the result of a Shrink.
type Shrunk struct {
	// The replay entry of Scenario is the run, and Scenario.About names the violation. The scenario declares no marks
	// and no mutants.
	Scenario *spec.Scenario
	Outcome  *kernel.Outcome // the outcome of the replay entry, with its Digest
	Before   Size
	After    Size
	Runs     int // that were tried
	// Bounded says that the bound was reached or the context cancelled: more runs may shrink the run further.
	Bounded bool
}

// Size measures how much of a run there is to understand.
type Size struct {
	Switches int           // see sim.Result
	Steps    int           // in all
	Elapsed  time.Duration // the true time that it took
	Faults   int           // that the scenario declares
	Actors   int
	Commands int // in all scripts
}

func sizeOf(s *spec.Scenario, r sim.Result) Size {
	size := Size{Switches: r.Switches, Steps: r.Steps, Elapsed: r.Elapsed, Faults: len(s.Faults), Actors: len(s.Actors)}
	for _, a := range s.Actors {
		size.Commands += len(a.Script)
	}
	return size
}

// compare orders sizes: the count that is hardest to understand comes first.
func (s Size) compare(o Size) int {
	return cmp.Or(
		cmp.Compare(s.Switches, o.Switches), cmp.Compare(s.Steps, o.Steps), cmp.Compare(s.Elapsed, o.Elapsed),
		cmp.Compare(s.Faults, o.Faults), cmp.Compare(s.Actors, o.Actors), cmp.Compare(s.Commands, o.Commands),
	)
}

// String prints the size in one line.
func (s Size) String() string {
	return fmt.Sprintf("%s, %s, %v of true time, %s, %s, %s", schedules.Plural(s.Switches, "context switch"),
		schedules.Plural(s.Steps, "step"), s.Elapsed,
		schedules.Plural(s.Faults, "fault"), schedules.Plural(s.Actors, "actor"),
		schedules.Plural(s.Commands, "command"))
}

// NotViolatedError says that a run violates no invariant, so that there is nothing to shrink.
type NotViolatedError struct {
	Scenario, Protocol string
	Verdict            invariant.Verdict
}

func (e *NotViolatedError) Error() string {
	return fmt.Sprintf("scenario %s, protocol %s: the run's verdict is %v, expected a violated one",
		e.Scenario, e.Protocol, e.Verdict)
}

// Run shrinks. If the run does not violate an invariant, the error is a *NotViolatedError; other errors come from
// kernel.Run.Do. A cancelled context ends it with the smallest run so far.
func (k Shrink) Run(ctx context.Context) (*Shrunk, error) {
	k.Failed.Trace = nil
	if k.Failed.Swarm {
		k.Failed.Scenario, k.Failed.Swarm = drawn(k.Failed.Scenario, k.Failed.Seed), false
	}
	o, err := k.Failed.Do(ctx)
	if err != nil {
		return nil, err
	}
	if o.Verdict != invariant.Violated {
		return nil, &NotViolatedError{
			Scenario: k.Failed.Scenario.Name, Protocol: k.Failed.Protocol.Name, Verdict: o.Verdict,
		}
	}
	sh := newShrinker(ctx, k.Failed, o, cmp.Or(k.Runs, DefaultShrinkRuns))
	defer sh.pool.Close()
	budget := sh.left
	s := *k.Failed.Scenario
	recorded, ok := reschedule.Record(sim.StrategyOf(k.Failed.Strategy), sh.attempt(&s, k.Failed.Seed))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("scenario %s, protocol %s: the run violates %s, and does not when it is run again",
			s.Name, k.Failed.Protocol.Name, sh.invariant)
	}
	found := found{&s, k.Failed.Seed, recorded}
	before := sizeOf(&s, recorded.Result)
	found, _ = sh.worse(found)
	for {
		next := found
		next.recorded = reschedule.Shrink(next.recorded, sh.attempt(next.scenario, next.seed))
		if !k.ScheduleOnly {
			next = sh.simplify(next)
		}
		if next.compare(&found) >= 0 {
			if next = sh.withoutTail(found); next.compare(&found) >= 0 {
				worse := false
				if next, worse = sh.worse(found); !worse {
					break
				}
			}
		}
		if found = next; found.recorded.Result.End != sim.Cut {
			sh.run.Steps = 0 // this bound on steps did not end the run
		}
	}
	return sh.finish(found, before, budget)
}

// drawn returns the scenario without the possible faults that swarm testing turns off in the run of a seed. The run's
// choices fit the returned scenario unchanged: a fault that is off offers no step.
func drawn(s *spec.Scenario, seed uint64) *spec.Scenario {
	same := *s
	same.Faults = slices.DeleteFunc(slices.Clone(s.Faults),
		func(f spec.Fault) bool { return f.Maybe && !f.Kept(seed) })
	return &same
}

// finish makes the scenario file of the smallest run.
func (sh *shrinker) finish(f found, before Size, budget int) (*Shrunk, error) {
	run := sh.run
	run.Scenario, run.Seed, run.Trace = f.scenario, f.seed, io.Discard
	choices := trimmed(f.recorded.Result.Choices)
	run.Strategy = strategy.Replay(choices)
	// An interrupt must not lose what has been found so far: this run, which is small by now, is made to its end.
	o, err := run.Do(hooks.Leave(context.WithoutCancel(sh.ctx), nil))
	if err != nil {
		return nil, err
	}
	recorded := o.Replay()
	recorded.Choices = choices
	s := f.scenario.With(recorded)
	s.File = ""
	s.Reach, s.Catches, s.Source, s.Broken = nil, nil, nil, ""
	after := sizeOf(s, o.Result)
	if o.Violation == nil {
		return nil, fmt.Errorf(
			"scenario %s, protocol %s: the shrunk run violates %s, and does not when it is run again", s.Name,
			run.Protocol.Name, sh.invariant,
		)
	}
	s.About = fmt.Sprintf("Under %s, %s is violated: %s.\nShrunk to %s and %s in %v of true time.",
		run.Protocol.Name, o.Violation.Invariant.Name, o.Violation.Why,
		schedules.Plural(after.Switches, "context switch"), schedules.Plural(after.Steps, "step"), after.Elapsed)
	return &Shrunk{
		Scenario: s, Outcome: o, Before: before, After: after, Runs: budget - sh.left, Bounded: sh.left == 0 ||
			sh.ctx.Err() != nil,
	}, nil
}

// trimmed leaves out the zeros at the end: a replay takes choice 0 there anyway.
func trimmed(c sim.Choices) sim.Choices {
	for len(c) > 0 && c[len(c)-1] == 0 {
		c = c[:len(c)-1]
	}
	return slices.Clip(c)
}

// shrinker tries runs.
type shrinker struct {
	ctx       context.Context
	run       kernel.Run
	invariant string
	harm, did int  // the harm that a violation must do, and that of the run that was tried last
	graded    bool // the invariant also knows violations with more harm, or with less
	left      int  // runs that may still be tried
	pool      hooks.Pool
}

func newShrinker(ctx context.Context, failed kernel.Run, o *kernel.Outcome, runs int) *shrinker {
	return &shrinker{
		ctx: ctx, run: failed, invariant: o.Violation.Invariant.Name, left: runs, harm: o.Harm, graded: o.Graded,
	}
}

// worse looks for a schedule of the same scenario that does more harm, if the invariant grades harm. A smaller run
// with less harm is a worse example of the bug.
func (sh *shrinker) worse(f found) (more found, is bool) {
	for strategy := range furtherSchedules(f, sh.graded, &sh.harm) {
		was, bound := sh.harm, sh.run.Steps
		sh.harm, sh.run.Steps = was+1, 0
		if recorded, ok := reschedule.Record(strategy, sh.attempt(f.scenario, f.seed)); ok {
			f.recorded, sh.harm, is = recorded, sh.did, true
			continue
		}
		sh.harm, sh.run.Steps = was, bound
	}
	return f, is
}

// moreSchedules is how many schedules of each of two kinds are tried for one that does more harm.
const moreSchedules = 50

// furtherSchedules are the schedules that are tried for more harm, until the harm is done. Near the run that was found
// are those in which something happens later: a pause harms nobody before the page has been rendered. Random ones
// differ from it in more than that.
func furtherSchedules(f found, graded bool, harm *int) iter.Seq[sim.Strategy] {
	const done = 2
	return func(yield func(sim.Strategy) bool) {
		if !graded {
			return
		}
		i := 0
		for later := range f.recorded.Later {
			if i == moreSchedules || *harm >= done {
				break
			}
			if !yield(later) {
				return
			}
			i++
		}
		for plan := strategy.Portfolio().Begin(); i < 2*moreSchedules && *harm < done; i++ {
			if !yield(plan.At(i).From(sim.Stream(sim.Derive(f.seed, i), "harm"))) {
				return
			}
		}
	}
}

// Worse returns the outcome of a schedule that violates the same invariant as a recorded run and does more harm. It
// tries some schedules, and returns nil if none of them does.
func Worse(ctx context.Context, run kernel.Run, o *kernel.Outcome) (*kernel.Outcome, error) {
	run.ExpectedSteps, run.Steps = o.Result.Steps, 0
	sh := newShrinker(ctx, run, o, DefaultShrinkRuns)
	defer sh.pool.Close()
	recorded, ok := reschedule.Record(sim.StrategyOf(run.Strategy), sh.attempt(run.Scenario, run.Seed))
	if !ok {
		return nil, ctx.Err()
	}
	more, is := sh.worse(found{run.Scenario, run.Seed, recorded})
	if !is {
		return nil, ctx.Err()
	}
	run.Strategy = strategy.Replay(more.recorded.Result.Choices)
	return run.Do(ctx)
}

// attempt returns an Attempt, which reports whether a schedule of the scenario violates the invariant, with no less
// harm.
func (sh *shrinker) attempt(s *spec.Scenario, seed uint64) reschedule.Attempt {
	return func(strategy sim.Strategy) (sim.Result, bool) {
		if sh.left == 0 || sh.ctx.Err() != nil {
			return sim.Result{}, false
		}
		sh.left--
		return sh.violates(sh.ctx, s, seed, strategy)
	}
}

func (sh *shrinker) violates(
	ctx context.Context, s *spec.Scenario, seed uint64, strategy sim.Strategy,
) (sim.Result, bool) {
	run := sh.run
	run.Scenario, run.Seed, run.Strategy = s, seed, strategy
	o, err := run.Do(sh.pool.In(ctx))
	if err != nil {
		return sim.Result{}, false
	}
	sh.did = o.Harm
	return o.Result,
		o.Verdict == invariant.Violated && o.Violation.Invariant.Name == sh.invariant && sh.did >= sh.harm
}

// withoutTail ends the run at the step that violates the invariant. It makes a few runs, even if the budget is used up.
// A binary search finds the step, because further steps do not undo a violation. If the invariant needs the end of a
// run, a smaller bound does not violate it, and the run does not change. A bound that no longer ends the run is
// removed.
func (sh *shrinker) withoutTail(f found) found {
	ctx, whole, replay := context.WithoutCancel(sh.ctx), sh.run.Steps, strategy.Replay(f.recorded.Result.Choices)
	attempt := func(s sim.Strategy) (sim.Result, bool) { return sh.violates(ctx, f.scenario, f.seed, s) }
	sh.run.Steps = 1 + sort.Search(f.recorded.Result.Steps-1, func(i int) bool {
		sh.run.Steps = i + 1
		_, ok := attempt(replay)
		return ok
	})
	next := f
	var ok bool
	if next.recorded, ok = reschedule.Record(replay, attempt); ok &&
		next.recorded.Result.Steps < f.recorded.Result.Steps {
		return next
	}
	sh.run.Steps = whole
	return f
}

// found is a scenario and a run of it that violates the invariant.
type found struct {
	scenario *spec.Scenario
	seed     uint64
	recorded reschedule.Recorded
}

// compare orders findings: by size, then by the details of the scenario.
func (f *found) compare(o *found) int {
	if c := sizeOf(f.scenario, f.recorded.Result).compare(sizeOf(o.scenario, o.recorded.Result)); c != 0 {
		return c
	}
	a, b := detailsOf(f.scenario), detailsOf(o.scenario)
	return cmp.Or(slices.Compare(a[:], b[:]), cmp.Compare(len(f.recorded.Deviations), len(o.recorded.Deviations)),
		cmp.Compare(f.seed, o.seed))
}

// detailsOf counts the details of a scenario that its size leaves out: the pauses, crashes and clock steps that it
// permits, ticks, settings that are not the default, and durations.
func detailsOf(s *spec.Scenario) [4]int64 {
	var nodeFaults, settings int64
	count := func(differs bool) {
		if differs {
			settings++
		}
	}
	for _, a := range s.Actors {
		nodeFaults += int64(a.Pauses + a.Crashes + a.Restarts + len(a.ClockSteps) + len(a.Events))
		count(a.Drift.Offset != 0)
		count(a.Drift.PPM != 0)
		count(a.PauseFor != 0)
		count(a.Region != "")
	}
	for _, f := range s.Faults {
		count(f.Times != 0)
	}
	d := spec.Defaults()
	for _, same := range cacheSettings {
		differing := s.Cache
		same(&differing, &d.Cache)
		count(differing != s.Cache)
	}
	count(s.Lag != d.Lag)
	settings += int64(len(s.CompareLags))
	count(s.RegionLag != d.RegionLag)
	count(s.ReplicaLag != 0)
	count(s.Skew != 0)
	count(s.Bounds.Sweeps != 0)
	var sum time.Duration
	copied := *s
	for _, t := range durations(&copied) {
		sum += *t.value
	}
	return [4]int64{nodeFaults, int64(s.Bounds.Ticks), settings, int64(sum)}
}

// ofActor reports whether a move belongs to one of the actor's incarnations.
func ofActor(m sim.Move, actor string) bool {
	return m.Name == actor || strings.HasPrefix(m.Name, actor+".")
}
