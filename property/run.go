package property

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/engine"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// runner runs the store under test.
type runner struct {
	t        *testing.T
	name     string // the name of the store
	newStore func(Node) (isr.Handler, error)
	answers  *answers
	limit    *limit
	random   *random
	subject  *subject
	judge    []invariant.Invariant // the caller's own
	// own is set for a store with goroutines. Each run happens in a bubble that own makes.
	own func(run func(sim.Bubble)) error
}

func newRunner(t *testing.T, c Check, newStore func(Node) (isr.Handler, error)) runner {
	labelled()
	r := runner{
		t: t, name: c.Protocol, newStore: newStore, answers: &answers{}, limit: newLimit(t), random: &random{},
		subject: c.about(),
	}
	for _, inv := range c.Invariants {
		r.judge = append(r.judge, invariant.Own(inv.Name, inv.Statement, inv.Check))
	}
	if c.Goroutines {
		r.own = r.inBubble
	}
	return r
}

// options returns the options of every run of the store.
func (r runner) options() kernel.Options {
	setup := kernel.Setup{
		Before: r.random.seed, Drew: r.random.drew, Enter: inStore, Table: r.subject.table, Bubble: r.own,
	}
	if r.own == nil { // with goroutines, the Go runtime decides some things
		setup.Repeats = r.random.seeded
	}
	if r.subject.ttl != nil {
		setup.TTL = r.subject.ttl.Said
	}
	return kernel.Options{SDK: true, Invariants: r.judge, Setup: setup}
}

// guard is a new guard for the runner's store.
func (r runner) guard(a *answers) *guard {
	return &guard{answers: a, goroutines: r.own != nil, pageless: !r.subject.OfRows()}
}

// failure is the result of a run that is not ok.
type failure struct {
	kind   string // failures of one kind count as the same while rapid shrinks
	harm   int    // of a violation; a smaller world does no less of it
	world  *spec.Scenario
	replay *spec.Replay // nil if no schedule can be replayed
	seen   *kernel.Outcome
	text   string // verdict, invariant, statement and events, or the error
	how    string // how it was found
	origin string // how it was found, in words for the file
	flags  string // the flags that isr-sim replay needs besides the file, with a space at the end
	// details are for people only: they differ from run to run.
	details string
}

// repeatable reports whether the failure belongs to a schedule, so that it can be replayed and shrunk. A failure by a
// goroutine outside of the schedule does not.
func (f *failure) repeatable() bool { return f.replay != nil }

// violates reports whether the failure is a violation that a schedule shows.
func (f *failure) violates() bool {
	return f.repeatable() && strings.HasPrefix(f.kind, invariant.Violated.String())
}

// campaign runs the world under its schedules from the given seed.
func (r runner) campaign(s *spec.Scenario, seed uint64, schedules int) (*campaign.Report, *failure) {
	g := r.guard(r.answers)
	protocol := g.protocol(r.name, r.newStore)
	report, err := inside(r, func(ctx context.Context) (*campaign.Report, error) {
		if r.subject.ttl != nil {
			ctx = r.subject.ttl.Watch(ctx)
		}
		// There is only one worker: the guard can follow only one run at a time, and a store may have state that is not
		// safe for several runs at once.
		return engine.Try(ctx, campaign.Campaign{
			Scenario: s, Protocol: protocol, Seed: seed, Schedules: schedules, Workers: 1, Options: r.options(),
		})
	})
	if report != nil {
		s = report.Scenario // perhaps with slower clocks
	}
	if f := r.broken(s, g, err); f != nil {
		return nil, f
	}
	r.answers.asked = r.answers.asked || report.AskedObjects || engine.Asked(report.Metrics)
	switch report.Verdict {
	case invariant.Violated:
		f := r.outcome(s, report.Failure)
		f.how = fmt.Sprintf("found in schedule %d of seed %d (%s), after %d steps",
			report.FailedAt, seed, report.FailureStrategy, report.Failure.Result.Steps)
		r.doubt(f, report.Failure)
		return nil, f
	case invariant.Unknown:
		if report.Doubt == nil {
			return report, nil // the time was over
		}
		f := r.outcome(s, report.Doubt)
		f.how = fmt.Sprintf("found among the schedules of seed %d", seed)
		r.doubt(f, report.Doubt)
		return nil, f
	default:
		return report, nil
	}
}

// doubt adds a likely reason to a failure of liveness, or to the doubt about a store that has asked for a missing
// table, if the store's answers so far show such a reason. Then the store has not been tested yet.
func (r runner) doubt(f *failure, o *kernel.Outcome) {
	switch a := r.answers; {
	case o.Violation == nil && !o.Tableless, o.Violation != nil && !o.Violation.Invariant.OfLiveness():
	case !a.asked && !o.AskedObjects && !engine.Asked(o.Metrics):
		why := unasked
		if a.first != nil {
			why += fmt.Sprintf("; each of its %d answers was an error, such as: %v", a.all, a.first)
		}
		r.untested(f, o, why)
	case r.subject.OfRows() && a.errors == a.all:
		r.untested(f, o, fmt.Sprintf("each of its %d answers was an error, such as: %v", a.all, a.first))
	case a.requests > 0 && a.refused == a.requests:
		r.untested(f, o, fmt.Sprintf("each of its %d requests was an error, such as: %v", a.requests, a.refusal))
	case r.subject.OfRows() && a.fresh == 0:
		f.text += fmt.Sprintf(
			"hint: none of the store's %d answers was fresh: does the adapter set isr.Served.Fresh?\n", a.all,
		)
	}
}

// untested turns a failure of liveness into that of an untested store. The clients' history stays, but not its verdict.
func (r runner) untested(f *failure, o *kernel.Outcome, why string) {
	f.kind, f.replay.Violates = kindVacuous, "" // a replay then has the same doubt
	switch {
	case o.Tableless:
		why += "\n" + o.Why
	case r.answers.refused > 0 && r.subject.keys != "":
		why += "\n" + r.subject.keys
	case len(f.world.Rows.Rows) == 0 && f.world.Rows.Translate == nil && otherKeys(why):
		why += "\nhint: without Check.Rows the table has the string keys pk and sk: if the cache's rows have other " +
			"keys, say what they mean (docs/CHECK.md, Rows of your own)"
	}
	_, seen, _ := strings.Cut(f.text, "\n\n")
	f.text = fmt.Sprintf("vacuous: %s under %s: %s\n\n%s", f.world.Name, r.name, why, seen)
}

// otherKeys reports whether a request was refused because its keys are not those of the table.
func otherKeys(why string) bool {
	for _, part := range []string{
		"key element", "required keys", "Missing the key", "key schema element", "on the keys",
	} {
		if strings.Contains(why, part) {
			return true
		}
	}
	return false
}

// replay runs one recorded schedule and returns its trace. It returns no failure if the run is ok.
func (r runner) replay(s *spec.Scenario, recorded spec.Replay) (trace string, _ *failure) {
	g := r.guard(r.answers)
	var printed bytes.Buffer
	run := r.recordedRun(g, s, &recorded)
	run.Trace = &printed
	o, err := inside(r, run.Do)
	if stuck, ok := errors.AsType[*stuckError](err); ok && stuck.still {
		return "", r.broken(s, g, err) // the run still prints
	}
	if f := r.broken(s, g, err); f != nil {
		return printed.String(), f
	}
	if o.Verdict == invariant.OK {
		return printed.String(), nil
	}
	f := r.outcome(s, o)
	if recorded.Violates == "" {
		// A recorded violation needs no doubt: when it was found, there were answers of more runs.
		r.doubt(f, o)
	}
	return printed.String(), f
}

// outcome is the failure of a run whose verdict is not ok.
func (r runner) outcome(s *spec.Scenario, o *kernel.Outcome) *failure {
	f := &failure{
		kind: o.Verdict.String(), world: s, text: o.Explain(s.Name, r.name),
	}
	f.replay, f.seen = r.recorded(o.Replay()), o
	if o.Violation != nil {
		f.kind += ": " + o.Violation.Invariant.Name
		f.harm = o.Harm
	}
	return f
}

// recordedRun is a recorded run of the store, under a guard.
func (r runner) recordedRun(g *guard, s *spec.Scenario, recorded *spec.Replay) kernel.Run {
	run := kernel.Replay(*recorded, s, g.protocol(r.name, r.newStore))
	of := r.options()
	of.Swarm, of.AllStops = run.Swarm, run.AllStops
	run.Options = of
	return run
}

func (r runner) recorded(run spec.Replay) *spec.Replay {
	run.Goroutines = r.own != nil
	return &run
}

// Kinds of failure that are not verdicts of runs.
const (
	kindVacuous  = "vacuous"
	kindStuck    = "broken: stuck"
	kindRules    = "broken: rules"
	kindPanic    = "broken: panic"
	kindDiverged = "broken: diverged"
	kindUnstable = "broken: unstable"
	kindOther    = "broken"
)

// broken returns the failure of runs without a verdict; nil if they have one.
func (r runner) broken(s *spec.Scenario, g *guard, err error) *failure {
	f := &failure{world: s}
	broken, isBroken := errors.AsType[*kernel.BrokenError](err)
	panicked, isPanic := errors.AsType[*sim.PanicError](err)
	stuck, isStuck := errors.AsType[*stuckError](err)
	_, diverged := errors.AsType[*sim.DivergedError](err)
	stranger, isStranger := errors.AsType[*sim.StrangerError](err)
	shared, isShared := errors.AsType[*sim.SharedError](err)
	unstable, isUnstable := errors.AsType[*kernel.NondeterminismError](err)
	if isBroken {
		f.replay = r.recorded(broken.Replay())
		f.how = fmt.Sprintf("found in the run of seed %d, after %d steps", broken.Result.Seed,
			broken.Result.Steps)
	}
	switch offence := g.offence(); {
	case offence != nil:
		f.kind, f.text = kindRules, fmt.Sprintf("broken: %v\n", offence)
		f.replay = nil // no schedule can repeat the actions of a goroutine outside of it
	case isStuck:
		f.kind, f.text, f.details = kindStuck, fmt.Sprintf("broken: %v\n", stuck), stuck.stacks
	case isPanic:
		f.kind, f.text = kindPanic, fmt.Sprintf("broken: the store under test: %v\n", panicked)
		f.details = string(panicked.Stack)
	case isStranger:
		// A store that outlives its run keeps state from earlier runs, which no schedule repeats.
		f.kind, f.replay = kindRules, nil
		f.text = fmt.Sprintf("broken: the store under test: %v: %s\n", stranger, r.subject.anew)
	case isShared:
		f.kind, f.text = kindRules, fmt.Sprintf("broken: the store under test: %v: %s\n", shared, r.subject.anew)
	case isUnstable:
		// Another run would have yet another result.
		f.kind, f.text, f.replay = kindUnstable, r.unstable(s, unstable), nil
	case diverged:
		f.kind, f.text = kindDiverged, fmt.Sprintf("broken: %v\n", err)
	case err != nil:
		f.kind, f.text = kindOther, fmt.Sprintf("broken: %v\n", err)
	default:
		return nil
	}
	return f
}

// unstable prints the result of a run that had another result when it was repeated, and the difference. A first result
// that is not ok is worth printing, because it did happen.
func (r runner) unstable(s *spec.Scenario, e *kernel.NondeterminismError) string {
	text := fmt.Sprintf("broken: %s under %s: the store under test is %v\n", s.Name, r.name, e)
	if e.Found != nil && e.Found.Verdict != invariant.OK {
		text = fmt.Sprintf("%s\nthat run cannot be repeated: the store under test is %v\n",
			e.Found.Explain(s.Name, r.name), e)
	}
	if r.random.unseeded != "" {
		text += "crypto/rand was not seeded for each run, which takes a test that is not parallel: " +
			r.random.unseeded + "\n"
	}
	return text
}

// inside calls run in a bubble of testing/synctest, which notices when the store waits for something that no step of
// the simulator can cause, or leaves a goroutine behind. Package time stands still in this bubble. With r.own, each run
// has a separate bubble.
func inside[T any](r runner, run func(context.Context) (T, error)) (result T, err error) {
	if r.own != nil {
		return run(r.limit)
	}
	done := make(chan T, 1)
	var w watch
	var gone bool
	bubble := func() (err error) {
		defer func() {
			v := recover()
			switch {
			case gone:
				err = &stuckError{why: exited}
			case v != nil:
				err = &stuckError{why: fmt.Sprintf(" waits for a channel, a WaitGroup or a goroutine that "+
					"never answers, or it has left a goroutine behind: in the simulator a store waits by "+
					"Clock.Sleep only (%v)%s", v, tell(goroutinesOf(w.name())))}
			}
		}()
		synctest.Test(r.t, func(t *testing.T) {
			w.begin()
			r.random.begin(t)
			before := count(w.name())
			var returned bool
			defer endsEarly(t, &returned, &gone)
			var result T
			result, err = run(r.limit)
			if err == nil && moved() {
				err = &stuckError{why: waited}
			}
			synctest.Wait()
			if count(w.name()) == before { // a goroutine that the store has left must not end by itself now
				time.Sleep(timers) //nolint:forbidigo // the bubble's time
			}
			done <- result
			returned = true
		})
		return err
	}
	most := time.Duration(math.MaxInt64) // a campaign has no limit
	if r.limit.began {
		most = r.limit.left()
	}
	err = r.within(most, &w, bubble)
	select {
	case result = <-done:
	default:
	}
	return result, err
}

// timers is how far package time moves on when the runs are over: a function that the store gave to time.AfterFunc then
// runs, and the guard notices its calls. During the runs package time stands still, and no timer fires.
const timers = time.Hour

// waited is the reason why runs have no verdict if package time has moved in them: a wait outside the simulator's steps
// takes no time on the nodes' clocks, and meanwhile no other node moves.
const waited = " waits by package time (time.Sleep, time.After, a timer, or the SDK between two attempts), in which " +
	"no other machine takes a step and the nodes' clocks stand still: wait by Clock.Sleep, or set Goroutines (which " +
	"Prove cannot do)"

// exited is the reason why a run has no verdict if its store called runtime.Goexit.
const exited = " ended the goroutine that it was called in (runtime.Goexit, or Skip or FailNow of a test): a store " +
	"returns an error instead"

// endsEarly ends the test of a bubble normally if the code under test has called runtime.Goexit: otherwise package
// testing would end the process. It sets gone. It must be called by defer.
func endsEarly(t *testing.T, returned, gone *bool) {
	if *returned {
		return
	}
	if v := recover(); v != nil {
		panic(v)
	}
	*gone = true
	t.SkipNow() // it ends the test of the bubble, not the check
}
