package kernel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/livelock"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/trace/describe"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// Run is one run of a scenario, as a value: the same Run gives the same trace, byte for byte, on every machine.
type Run struct {
	Scenario *spec.Scenario
	Protocol isr.Protocol
	Seed     uint64
	// Strategy picks the schedule, and prints its name. Nil is a random walk. Replay returns a run whose strategy
	// repeats recorded choices. The other strategies belong to the scheduler of isr-sim: isr-sim run --help lists their
	// names.
	Strategy fmt.Stringer
	// Steps, if it is not 0, ends the run after this number of steps, and the run is judged by what has happened until
	// then. Liveness, the comparison of lags, and Invariants are not judged, because they need the end of a run.
	Steps int
	// ExpectedSteps is an estimate of the steps, for strategies that need one; at least 1.
	ExpectedSteps int
	// Trace, if set, gets the text of the run, step by step.
	Trace io.Writer
	Options

	stage *stage          // nil means a new one
	lag   *ddbfake.Lag    // nil means the scenario's
	probe *hooks.Probe    // of the context of Do
	round *livelock.Round // of a run that goes round a cycle: see goesRound
}

// Options are the settings of a run, and of every run of a campaign.
type Options struct {
	// With Swarm, the seed draws which of the possible faults ("maybe") are on in a run; the others never strike.
	Swarm bool
	// AllStops makes time stop at more instants: around the end of each time that a lock or an idempotency layer
	// promises; on both sides of the invariants' tolerance, if clocks may differ or rows have times finer than seconds;
	// where a lagging replica hears of a write; and, under compare-lags, where the scenario's own lag ends, in place of
	// the comparison. Proofs have these stops. Other runs do without them, so that schedules recorded earlier still
	// fit.
	AllStops bool
	// SDK gives the nodes a real *dynamodb.Client, for protocols that need one. It is slower; the schedules are the
	// same.
	SDK bool
	// Only is the name of the only invariant that is judged; "" means all invariants. It must not be one that the
	// scenario leaves out.
	Only string
	// Invariants are invariants of the caller's own. They judge after those of package invariant, unless
	// Scenario.Without names them. Only their Name, Statement and Check are used. The check sees the whole run (log and
	// history). It must not change it, and must not use it after it has returned. An exhaustive search does not prove
	// these invariants.
	Invariants []invariant.Invariant
	// Setup is for code under test of the caller.
	Setup Setup
}

// Setup is how the code under test is called, and what its runs need besides.
type Setup struct {
	// Before, if set, is called with the run's seed before anything happens in the run, on the run's own goroutine and
	// in its bubble. It resets everything that the code under test uses outside of its node, such as a global source of
	// randomness. In a search in which code draws random bytes, it is also called before each step of a node's code.
	Before func(seed uint64)
	// Drew, if set, says whether the code under test has used that randomness since Drew or Before was last called.
	Drew func() bool
	// Repeats, if set, reports whether code under test that is run again from the same seed must do the same. A
	// campaign then runs one schedule in a hundred again, whatever its verdict.
	Repeats func() bool
	// Enter, if set, wraps each call of the code under test: it must call its parameter, which makes that call.
	Enter func(call func())
	// Blind does not record the answers of the store, and so leaves out the check for linearizability, which takes
	// longer than all others.
	Blind bool
	// Table, if set, is how the table is created, for code whose rows have other keys than pk and sk. It gets the name
	// hooks.TableName, and TTL by the attribute TTL.
	Table *dynamodb.CreateTableInput
	// TTL is the attribute by which TTL deletes rows of Table, hooks.NoTTL if it has none; default ttl. A scenario with
	// Rows takes the attribute that they name.
	TTL string
	// Bubble lets the code of a run start goroutines: it calls run in a bubble of testing/synctest whose time is
	// fakeclock.Epoch. The error says that a goroutine waits for ever. See sim.Bubble. Nil means no bubble.
	Bubble func(run func(sim.Bubble)) error
	// Beside, if set, lets a search go on as a team although code under test must run in one goroutine, the caller's:
	// it calls work in another goroutine, and each function that work gives to in in the caller's, until work returns.
	Beside func(work func(in func(call func())))
}

// Replay returns the recorded run of a scenario under a protocol, ready to be run again.
func Replay(r spec.Replay, s *spec.Scenario, p isr.Protocol) Run {
	return Run{
		Scenario: s, Protocol: p, Seed: r.Seed, Strategy: strategy.Replay(r.Choices), Steps: r.Steps,
		Options: Options{Swarm: r.Swarm, AllStops: r.AllStops},
	}
}

// Recorded returns the run of the scenario's replay entry. The protocol must be one of Protocols.
func Recorded(s *spec.Scenario) (Run, error) {
	if s.Replay == nil {
		return Run{}, fmt.Errorf("scenario %s: the scenario has no replay entry", s.Name)
	}
	p, err := ProtocolNamed(s.Replay.Protocol)
	if err != nil {
		return Run{}, err
	}
	return Replay(*s.Replay, s, p), nil
}

// Protocols returns the protocols that this program can run by name: the references and, in the command isr-sim, also
// the mutants and the policies of expiry. In every program, scenario files may name all of them.
func Protocols() []isr.Protocol {
	return slices.Concat(recipe.References(), protocols.Mutants(), protocols.Policies())
}

// ProtocolNamed finds one of Protocols by its name.
func ProtocolNamed(name string) (isr.Protocol, error) {
	all := Protocols()
	if i := slices.IndexFunc(all, func(p isr.Protocol) bool { return p.Name == name }); i >= 0 {
		return all[i], nil
	}
	if err := protocols.Known(name); err != nil {
		return isr.Protocol{}, err
	}
	return isr.Protocol{}, fmt.Errorf("protocol: the command isr-sim has the code of %s, and this program does not",
		name)
}

// compares says whether states are compared, by their fingerprints.
func (r Run) compares() bool { return r.probe != nil && (r.probe.Search || r.probe.Coverage) }

// Do makes the run. An error is not a verdict: see BrokenError.
func (r Run) Do(ctx context.Context) (*Outcome, error) {
	r.probe = hooks.Of(ctx)
	if pool := hooks.PoolOf(ctx); pool != nil {
		return r.doIn(ctx, pool)
	}
	return r.judged(ctx)
}

func (r Run) judged(ctx context.Context) (*Outcome, error) {
	judges, err := judgesOf(r.Scenario, r.Options, promisesRecipe(r.Scenario, r.Protocol.Name))
	if err != nil {
		return nil, err
	}
	w, o, err := r.perform(ctx)
	if err != nil {
		return nil, err
	}
	var lags []recorder.Lagged
	if w.comparesLags() && o.cut == 0 {
		if lags, err = r.underOtherLags(ctx, o); err != nil {
			return nil, err
		}
	}
	liveness := judges.liveness()
	abandoned, told := o.Result.End == sim.Abandoned, !w.by.Rows
	if abandoned && told { // states cover all the evidence, so only complete runs are judged
		judges.by = nil
	}
	once := w.memory.Search != nil && abandoned && len(judges.own) == 0
	if once && w.isJudged() || abandoned && told && len(judges.own) == 0 {
		o.Verdict, o.out = invariant.OK, judges.out
		if !told {
			w.fit(o) // every run says whether its rows fit, even if its evidence was judged before
		}
	} else {
		evidence := w.judge(o, lags, judges)
		if o.Verdict == invariant.OK && !r.probe.Search { // a search does this once, at its end
			o.Verdict, o.Why = judges.excused(evidence)
		}
		o.Judged = w.judgesSomething(judges, evidence)
		w.noteSubjects(r.probe.Judged, evidence)
		if r.stage == nil { // then no other run uses the memory of this one
			o.seen, o.whole = evidence, true
		}
		if once && o.Verdict == invariant.OK {
			w.judged[w.evidence()] = true
		}
	}
	if liveness != nil && (o.Verdict == invariant.OK || o.Result.End == sim.Cut) {
		if err := r.goesRound(ctx, o, liveness); err != nil {
			return nil, err
		}
	}
	if r.probe.Record {
		r.probe.Shown = w.shown
	}
	if r.probe.Search {
		r.probe.Whole, r.probe.State = func() string { return w.whole(o) }, w.fingerprint
	} else {
		o.AskedObjects = w.askedObjects
		o.Metrics = w.db.Metrics() // this is last, because it may make TTL delete rows
	}
	return o, nil
}

// whole is the text of hooks.Probe.Whole.
func (w *world) whole(o *Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d steps, %d switches, %v, %v, choices %v\nmarks %v, unmet %v, %s\n",
		o.Result.Steps, o.Result.Switches, o.Result.Elapsed, o.Result.Err, o.Result.Choices, o.Marks, o.Unmet,
		o.Misfit)
	for _, m := range w.db.Metrics() { // a search does not add them up
		fmt.Fprintf(&b, "%+v\n", m)
	}
	for _, c := range w.db.Changes() {
		fmt.Fprintf(&b, "%+v\n", c)
	}
	if w.rows != nil {
		for _, c := range w.rows.log {
			fmt.Fprintf(&b, "%+v\n", c)
		}
	}
	for _, e := range w.history.Events() {
		fmt.Fprintf(&b, "%+v\n", e)
		if hold := e.Hold; hold != nil {
			fmt.Fprintf(&b, "%+v\n", *hold) // all fields; the String of a *history.Hold leaves some out
		}
	}
	for _, body := range w.bodyLog {
		fmt.Fprintf(&b, "%+v\n", body)
	}
	fmt.Fprintf(&b, "state %x\n", w.fingerprint())
	return b.String()
}

// perform makes the run, but does not judge it.
func (r Run) perform(ctx context.Context) (*world, *Outcome, error) {
	if r.Setup.Bubble == nil {
		return r.do(ctx, nil)
	}
	return r.inBubble(ctx)
}

func (r Run) inBubble(ctx context.Context) (*world, *Outcome, error) {
	type performed struct {
		w   *world
		o   *Outcome
		err error
	}
	done := make(chan performed, 1) // a run that is stuck may end later, after inBubble has returned
	stuck := r.Setup.Bubble(func(b sim.Bubble) {
		var p performed
		p.w, p.o, p.err = r.do(ctx, b)
		done <- p
	})
	select {
	case p := <-done:
		if p.err == nil && stuck != nil {
			return nil, nil, stuck
		}
		return p.w, p.o, p.err
	default:
		return nil, nil, stuck
	}
}

func (r Run) do(ctx context.Context, bubble sim.Bubble) (*world, *Outcome, error) {
	s := r.Scenario
	cfg := sim.Config{
		Seed: r.Seed, Strategy: sim.StrategyOf(r.Strategy), ExpectedSteps: r.ExpectedSteps,
		MaxSteps: s.Bounds.Steps, Ticks: s.Bounds.Ticks, Bubble: bubble, Memory: r.probe.Memory,
		Left: hooks.Left(ctx), Cycles: s.Settle > 0 && r.round == nil && r.lag == nil && r.Steps == 0,
	}
	if r.round != nil {
		cfg.MaxSteps *= 200 // livelock.Round ends the run before that, unless each round takes hardly any time
	}
	if r.Steps > 0 && (cfg.MaxSteps <= 0 || r.Steps < cfg.MaxSteps) {
		cfg.MaxSteps = r.Steps
	}
	var covered covered
	if r.probe.Coverage {
		cfg.Strategy = covered.by(cfg.Strategy)
	}
	var t *describe.Trace
	var digest hash.Hash
	if r.Trace != nil {
		digest = sha256.New()
		t = &describe.Trace{Out: io.MultiWriter(r.Trace, digest), OnStep: r.probe.OnStep}
		cfg.Trace = t.Step
	}
	w := r.earlier()
	if w == nil {
		if r.Setup.Before != nil {
			r.alone(func() { r.Setup.Before(r.Seed) })
		}
		var err error
		if w, err = newWorld(ctx, r, cfg); err != nil {
			return nil, nil, err
		}
	}
	w.fresh, w.onStale, w.enter = r.probe.Fresh, r.probe.OnStale, r.Setup.Enter
	w.recording, w.sdk, w.observing = r.probe.Record, r.SDK || r.Protocol.SDK, !r.Setup.Blind && !r.compares()
	if t != nil {
		t.Words, t.DB, t.History, t.Operations = w.words(), &w.db, &w.history, &w.operations
		if w.recording {
			t.Call = w.lastCall
		}
	}
	if covered.sim = w.sim; r.round != nil {
		r.round.Rows = w.text
	}
	result := w.sim.Run()
	cut := 0
	if result.End == sim.Cut && result.Steps == r.Steps {
		cut = r.Steps
	}
	if s.Settle > 0 && result.End == sim.Finished && !r.probe.Unvisited {
		result = w.settle(t, result)
	}
	if err := cmp.Or(w.unended, w.endLives(nil)); result.Err == nil && err != nil {
		result.End, result.Err = sim.Broken, err
	}
	if result.Err != nil {
		return nil, nil, &BrokenError{s.Name, r.Protocol.Name, r.Swarm, w.allStops, result}
	}
	if t != nil && t.Err != nil {
		return nil, nil, fmt.Errorf("scenario %s: write the trace: %w", s.Name, t.Err)
	}
	o := &Outcome{Result: result, Unmet: w.unmetFaults(), protocol: r.Protocol.Name,
		swarm: r.Swarm, allStops: w.allStops, cut: cut}
	if t != nil {
		o.Digest = hex.EncodeToString(digest.Sum(nil)[:4])
	}
	o.Marks = w.marks.all()
	if r.probe.Coverage {
		r.probe.Order, r.probe.States = covered.order.Hash(), covered.states
	}
	if r.probe.Record {
		r.probe.Exchanges, r.probe.Rows = w.exchanges, w.db.Items(hooks.TableName)
	}
	return w, o, nil
}

// underOtherLags runs the run's schedule once more under each lag of TTL that the scenario compares, and returns the
// histories. Marks of these runs count as marks of the run.
//
// A deletion never makes time stop, whatever the lag; time stops at each ttl in any case. So runs with the same
// decisions have the same choices. If the schedule no longer fits, some decision was different.
func (r Run) underOtherLags(ctx context.Context, o *Outcome) ([]recorder.Lagged, error) {
	s := r.Scenario
	own := r.stage
	if own == nil {
		own = newStage()
		defer own.Close()
	}
	r.Trace, r.probe, r.Setup.Blind = nil, &hooks.Probe{Memory: r.probe.Memory}, true
	lags := make([]recorder.Lagged, len(s.CompareLags))
	for i, lag := range s.CompareLags {
		r.lag, r.stage, r.Strategy = &lag, own.second(), strategy.Replay(o.Result.Choices)
		w, other, err := r.perform(ctx)
		if err != nil {
			own.dropSecond()
			diverged, ok := errors.AsType[*sim.DivergedError](err)
			if !ok {
				return nil, err
			}
			lags[i] = recorder.Lagged{Lag: lag.String(), Diverged: diverged.Error()}
			continue
		}
		lags[i] = recorder.Lagged{Lag: lag.String(), History: slices.Clone(w.history.Events())}
		o.Marks = union(o.Marks, other.Marks)
	}
	return lags, nil
}

// comparesLags says whether the run is made once more under other lags. A search and the repetition of one of its runs
// do not: there time stops where a lag ends, so other lags would make other schedules.
func (w *world) comparesLags() bool { return len(w.scenario.CompareLags) > 0 && !w.allStops }

// union returns the marks in one of the sets, in the order of Marks.
func union(a, b []spec.Mark) (both []spec.Mark) {
	for _, m := range allMarks {
		if slices.Contains(a, m) || slices.Contains(b, m) {
			both = append(both, m)
		}
	}
	return both
}

// visitor is the name of the node that asks for every page when faults have stopped and the actors are done.
const visitor = "visitor"

// settle is the second phase of a run, which checks liveness. Faults have stopped, the actors are done or dead, and
// their requests in the network are lost. One more node asks for every page that the scenario names. It asks again and
// again, until it finds a fresh page in the cache or the time that the scenario gives is over. The schedule decides
// nothing here, so all choices of the run belong to the first phase.
func (w *world) settle(t *describe.Trace, first sim.Result) sim.Result {
	w.quiet = true
	w.possible, w.certain, w.deadlines.Windows = nil, nil, nil
	w.db.ClearFaults()
	w.stored = w.changed()
	w.Add(history.Event{Time: w.clock.Now(), Actor: visitor, Kind: history.Settled, Change: w.seen})
	cfg := sim.Config{
		Clock: w.clock, Seed: first.Seed, Strategy: strategy.DelayBound(0), MaxSteps: w.scenario.Bounds.Steps,
		Bubble: w.bubble, Context: w.ctx, Memory: w.memory, Left: hooks.Left(w.ctx),
	}
	if t != nil {
		t.Visit = true
		cfg.Trace = func(taken sim.TraceStep) {
			taken.N += first.Steps
			t.Step(taken)
		}
	}
	if w.memory.Search != nil {
		cfg.Pool = &w.visits
	}
	w.newSim(cfg)
	w.sim.Add(sim.Actor{Name: visitor, Run: w.state.Visit})
	second := w.sim.Run()
	first.Steps, first.Err = first.Steps+second.Steps, second.Err
	if second.End == sim.Cut {
		second.End = w.giveUp()
	}
	if second.End != sim.Finished {
		first.End = second.End
	}
	return first
}

// giveUp ends the visit if it still waits for an answer long after the answer should have come.
func (w *world) giveUp() sim.End {
	events := w.history.Events()
	last, waits := w.state.GiveUp(events[len(events)-1])
	settled := slices.IndexFunc(events, func(e history.Event) bool { return e.Kind == history.Settled })
	if !waits || settled < 0 || !w.clock.Now().After(events[settled].Time.Add(w.scenario.Settle)) {
		return sim.Cut
	}
	last.Time, last.Note = w.clock.Now(), "it still waits"
	w.Add(last)
	return sim.Finished
}

// NondeterminismError says that a schedule had another result when it was run again with the same seed and the same
// choices. No verdict ok about such a protocol can be trusted, and none of its runs can be replayed. But if the first
// run has a violation, it did happen.
type NondeterminismError struct {
	Found      *Outcome // of the first run; nil if a search made it
	Difference string   // the difference between two of the runs
}

func (e *NondeterminismError) Error() string {
	return "not deterministic: one schedule, run again with the same seed and the same choices, came to " +
		"something else: " + e.Difference +
		"\nhint: the protocol listens to something that the simulator does not decide: look for time.Now, math/rand " +
		"or a random id (as an SDK draws for the ClientRequestToken of a transaction), goroutines and channels, the " +
		"order of a map, and what is kept from one run to the next, such as a package's variables"
}
