package scenario

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/describe"
	"github.com/isr-sim/isr-sim/internal/probe"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Run is one run of a scenario, as a value: the same Run gives the same trace, byte for byte, on every machine.
type Run struct {
	Scenario *Scenario
	Protocol isr.Protocol
	Seed     uint64
	// Strategy picks the schedule; to run a recorded one again, it is sim.Replay of its choices. The zero Strategy walks
	// at random.
	Strategy sim.Strategy
	// ExpectedSteps is an estimate of the steps, for strategies that need one; at least 1.
	ExpectedSteps int
	// Trace, if set, is where the run is printed, step by step.
	Trace io.Writer
	Options

	stage *stage       // nil is a new one
	lag   *ddbfake.Lag // nil is the scenario's
	probe *probe.Probe // that of the context; Do sets it
}

// Options are how to make a run, and every run of a campaign.
type Options struct {
	// Swarm has the seed draw which of the possible faults ("maybe") are on in a run; the others never strike.
	Swarm bool
	// SDK gives the nodes a real *dynamodb.Client, for protocols that need one. It is slower; the schedules are the same.
	SDK bool
	// Blind does not record the answers of the store, and so leaves out the check for linearizability, which takes longer
	// than all others.
	Blind bool
	// Only is the one invariant that is judged, by name; "" is all of them.
	Only string
	// Invariants are the caller's own. They judge after those of package invariant, unless Scenario.Without names them.
	// Of each, Name, Statement and Check are used: the check sees the whole run (log, history, operations, bodies), which it
	// may read only, and only until it returns. An exhaustive search does not prove them.
	Invariants []invariant.Invariant
	// Bubble, if set, has the protocol's code run with goroutines of its own: it calls run in a bubble of testing/synctest
	// whose time is fakeclock.Epoch. The error says that a goroutine waits for ever. See sim.Bubble.
	Bubble func(run func(sim.Bubble)) error
	// Before, if set, is called with the run's seed before anything of the run happens, on the run's own goroutine and in
	// its bubble. It is for things that the code under test takes from outside of its node, such as a global source of
	// randomness.
	Before func(seed uint64)
	// Table, if set, is how the table is created, for code whose rows have other keys than pk and sk. It gets the name
	// TableName, and TTL by the attribute ttl.
	Table *dynamodb.CreateTableInput
}

// compares says whether states are compared, by their fingerprints.
func (r Run) compares() bool { return r.probe != nil && (r.probe.Search || r.probe.Coverage) }

// Do runs. An error is not a verdict: see BrokenError.
func (r Run) Do(ctx context.Context) (*Outcome, error) {
	r.probe = probe.Of(ctx)
	judges, err := judgesOf(r.Scenario, r.Options)
	if err != nil {
		return nil, err
	}
	w, o, err := r.perform(ctx)
	if err != nil {
		return nil, err
	}
	var lags []invariant.Lagged
	if len(r.Scenario.CompareLags) > 0 {
		if lags, err = r.underOtherLags(ctx, o); err != nil {
			return nil, err
		}
	}
	evidence := w.judge(o, lags, judges)
	if r.probe.Record {
		r.probe.Shown = w.shown
	}
	if r.stage == nil { // whose memory no other run takes
		o.seen, o.whole = evidence, true
	}
	o.Metrics = w.db.Metrics() // last, because it may find rows that TTL has deleted since
	return o, nil
}

// perform makes the run, and does not judge it.
func (r Run) perform(ctx context.Context) (*world, *Outcome, error) {
	if r.Bubble == nil {
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
	stuck := r.Bubble(func(b sim.Bubble) {
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
	if r.Before != nil {
		r.Before(r.Seed)
	}
	cfg := sim.Config{
		Seed: r.Seed, Strategy: r.Strategy, ExpectedSteps: r.ExpectedSteps,
		MaxSteps: s.Bounds.Steps, Ticks: s.Bounds.Ticks, Bubble: bubble,
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
	w, err := newWorld(ctx, r, cfg)
	if err != nil {
		return nil, nil, err
	}
	w.only = r.Only
	w.recording, w.sdk, w.observing = r.probe.Record, r.SDK || r.Protocol.SDK, !r.Blind && !r.compares()
	if t != nil {
		t.Words, t.DB, t.History, t.Operations = w.words(), &w.db, &w.history, &w.operations
		if w.recording {
			t.Call = w.lastCall
		}
	}
	covered.sim = w.sim
	result := w.sim.Run()
	if s.Settle > 0 && result.End == sim.Finished {
		result = w.settle(t, result)
	}
	if err := cmp.Or(w.unended, w.endLives(nil)); result.Err == nil && err != nil {
		result.End, result.Err = sim.Broken, err
	}
	if result.Err != nil {
		return nil, nil, &BrokenError{Scenario: s.Name, Protocol: r.Protocol.Name, Swarm: r.Swarm, Result: result}
	}
	if t != nil && t.Err != nil {
		return nil, nil, fmt.Errorf("scenario %s: write the trace: %w", s.Name, t.Err)
	}
	o := &Outcome{Result: result, Unmet: w.unmetFaults(), protocol: r.Protocol.Name, swarm: r.Swarm}
	if t != nil {
		o.Digest = hex.EncodeToString(digest.Sum(nil)[:4])
	}
	for _, mark := range allMarks {
		if len(o.Marks) == len(w.marks) {
			break
		}
		if w.marks[mark] {
			o.Marks = append(o.Marks, mark)
		}
	}
	if r.probe.Coverage {
		r.probe.Order, r.probe.States = covered.order.Hash(), covered.states
	}
	if r.probe.Record {
		r.probe.Exchanges, r.probe.Rows = w.exchanges, w.db.Items(TableName)
	}
	return w, o, nil
}

// judge sets the run's verdict, and returns what the run saw. lags are the histories under other lags.
func (w *world) judge(o *Outcome, lags []invariant.Lagged, judges judges) (shown invariant.Evidence) {
	o.Verdict, o.out = invariant.OK, judges.out
	evidence := invariant.Evidence{
		Changes: w.changes(), History: w.history.Events(), Operations: w.operations.All(), Bodies: w.bodyLog, Lags: lags,
		MaxClockSkew: w.scenario.Skew, Revalidate: w.scenario.Cache.Revalidate, Settle: w.scenario.Settle,
		TTLBuffer: w.scenario.Cache.TTLBuffer, AcrossNodes: w.scenario.Promise.AcrossNodes, MaxAge: w.scenario.Promise.MaxAge,
	}
	o.seen = invariant.Evidence{Operations: evidence.Operations, MaxClockSkew: evidence.MaxClockSkew}
	if w.ofLocks {
		evidence.Lease, evidence.Lock = w.scenario.Cache.Lease, w.locks.terms
	}
	shown = evidence // the changes of the caches' own rows
	shown.Changes, shown.Schema = w.db.Changes(), w.scenario.Rows
	if judges.none() {
		o.Verdict, o.Why = invariant.Unknown, judgesNothing
		return shown
	}
	reporter := func(say func(string) string) func(invariant.Invariant, invariant.Finding) {
		return func(inv invariant.Invariant, f invariant.Finding) {
			switch {
			case w.only != "" && inv.Name != w.only:
			case f.Verdict == invariant.Unknown && o.Verdict == invariant.OK:
				o.Verdict, o.Why = invariant.Unknown, inv.Name+": "+say(f.Why)
			case f.Verdict == invariant.Violated:
				o.Broken = append(o.Broken, inv.Name)
				if o.Violation == nil {
					o.Verdict, o.Why = invariant.Violated, ""
					inv.Statement = say(inv.Statement)
					w.shown = probe.Shown{Changes: f.Changes, Events: f.Events, Operations: f.Operations}
					o.Violation = &Violation{Invariant: inv, Why: say(f.Why), Lines: describe.Finding(w.words(), shown, f)}
				}
			}
		}
	}
	if !judges.chosen || len(judges.by) > 0 {
		invariant.Judge(evidence, reporter(w.rows.say), judges.by...)
	}
	if len(judges.own) > 0 {
		invariant.Judge(shown, reporter(func(text string) string { return text }), judges.own...)
	}
	w.rows.fit(o)
	if o.Verdict == invariant.OK && o.Result.End == sim.Cut {
		o.Verdict = invariant.Unknown
		o.Why = fmt.Sprintf("the run was cut after %d steps, the scenario's bound", o.Result.Steps)
	}
	return shown
}
