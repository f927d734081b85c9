package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/base/schedule"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Prove runs every schedule that a scenario's bounds admit (ticks, sweeps, steps, each actor's pauses, crashes,
// restarts and clock steps, each possible fault's times), until one violates an invariant or none is left. See
// exhaustive.Exploration for the schedules that need not be run, and for the assumptions of a proof.
//
//	proof, err := campaign.Prove{Scenario: s, Seed: 1}.Run(ctx)
//	fmt.Println(proof.Summary(), proof.Explored.Complete, proof.Explored.States)
//
// # Limits
//
// It holds for the protocol's code as it is, with one seed: lags of TTL and delays of answers that are drawn at random
// are drawn once. Time stops at what rows, timers and the scenario say, and at the ttl of a lock only if code reads it,
// or if no other stop is later. If code compares its clock with an instant that it computed, such as half a minute
// after the end of a lease, the search passes that instant only at the next of these stops. The same holds for the ten
// minutes after which DynamoDB forgets a ClientRequestToken. A search takes 200 to 300 MB of memory, and about
// 50 bytes for each state (with SDK 450). The first 4,096 schedules take one core. The others take up to four cores, if
// the code of nodes is remembered and, with SDK, seldom runs. The result does not depend on the number of cores.
type Prove struct {
	Scenario *spec.Scenario
	// Protocol is the protocol to run; the zero Protocol is the scenario's own.
	Protocol isr.Protocol
	// Seed is the seed of random TTL lags. The schedules need none.
	Seed uint64
	// MaxSchedules and MaxStates, if positive, end the search.
	MaxSchedules, MaxStates int
	// Options are the options of each run. A run with Swarm, or in a bubble, makes no proof. With SDK and without
	// memory (Forgetful), a schedule is run twice, and compared with its repetition and with the schedules that begin
	// with the same steps. The code of a program runs twice for each new history (everything that an incarnation of a
	// node has been told so far), and one schedule in a hundred is run again without remembered answers.
	kernel.Options
	// Certify makes the proof list the states that it has reached. These are all states: persistent sets, which leave
	// some out, are off, and interchangeable actors are told apart. Against makes the search check such a list of
	// states: see Certificate.
	Certify bool
	Against *Certificate
	// From, if set, is an interrupted search of the same scenario, protocol and seed, with the same Options. Run goes
	// on with it, and its schedules and states count. A search that does not fit is an error.
	From *Search
	// Keep, if set, is called after each schedule, and once more with over true if the search ends before it is
	// complete. The function search returns the search so far; nil if its latest schedule was left in its middle, or
	// came to a state that Against lacks: then the search goes on from where it was kept before. An error ends Run.
	Keep func(search func() (*Search, error), over bool) error
	// Progress, if set, is called after each schedule with the progress of the search.
	Progress func(exhaustive.Explored)

	// Forgetful makes each schedule run from the beginning, and the code of nodes with it. The verdict is the same.
	// Without it, the code of nodes in this process runs once for each new history, and a schedule starts at the first
	// step in which it differs from earlier ones. Only then can the search see that code does not read the ttl of
	// locks, so that it needs no tick there. In either case one schedule in a hundred, the first ones (with SDK a
	// hundred), and the one that violates are run once more from the beginning, and compared.
	Forgetful bool

	crew    crew          // in place of usualCrew; for tests
	strict  bool          // each schedule is run once more from its beginning; for tests
	off     sim.Reduction // for tests
	onWorld func(uint64)  // see hooks.Probe; for tests
}

// Run searches. A context that is over ends the search between two schedules: the verdict is then unknown, and Why
// names the context's cause. An error is not a verdict; see kernel.Run.Do. If the code behaved differently when a run
// was repeated, the error is a *kernel.BrokenError with a *scenario.NondeterminismError in it. An error of Keep comes
// with the violation that was found.
func (v Prove) Run(ctx context.Context) (*Proof, error) {
	s := v.Scenario
	protocol, err := schedules.ProtocolOf(s, v.Protocol)
	if err != nil {
		return nil, err
	}
	v.Protocol, v.AllStops = protocol, true
	switch {
	case v.Setup.Bubble != nil:
		return nil, errors.New(
			"campaign: Prove: found a bubble, expected none: the states of goroutines are not compared",
		)
	case v.Swarm:
		return nil, errors.New(
			"campaign: Prove.Swarm: found true, expected false: a swarm leaves out faults that the scenario has",
		)
	}
	if v.Against != nil {
		if err := v.Against.Of(s, protocol.Name, v.Seed); err != nil {
			return nil, mistake.New(fmt.Errorf("campaign: Prove.Against: %w", err),
				"a certificate is of one scenario, one protocol and one seed")
		}
	}
	// searches that must agree on their states, and do not begin anew
	ofMany := v.Certify || v.Against != nil
	if ofMany || v.SDK {
		v.off |= sim.InterchangeableActors | sim.UnreadDeadlines
	}
	// Nothing sees whether this code reads hidden values. A program's timers are lanes, which no memory of code has.
	if v.Forgetful || schedules.OfProgram(v.Protocol) {
		v.off |= sim.UnreadDeadlines | sim.RememberedCode
	}
	if ofMany && slices.ContainsFunc(s.Reach, byOrphanedRead) {
		v.off |= sim.OrphanedReads
	}
	if v.From != nil {
		v.off |= v.From.Off & (sim.InterchangeableActors | sim.UnreadDeadlines | sim.OrphanedReads | sim.NoRandomness)
		if v.From.Repeat {
			v.off |= sim.RememberedCode
		}
	}
	for {
		proof, err := v.checked(ctx)
		var wrong sim.Reduction // it was on, and should not have been
		if taken, is := errors.AsType[*sim.TakenError](err); is {
			wrong = taken.Off
		} else if err == nil && slices.ContainsFunc(proof.Missing, byOrphanedRead) {
			wrong = sim.OrphanedReads
		} else if _, is := errors.AsType[*kernel.NondeterminismError](err); is && v.SDK &&
			v.off&sim.RememberedCode == 0 {
			return v.withoutMemory(ctx, err)
		}
		if wrong &^= v.off; wrong == 0 {
			return proof, err
		}
		v.off, v.From = v.off|wrong, nil // what was searched does not count
	}
}

// withoutMemory searches again, without memory, after code had different outputs for the same inputs. If runs now
// differ from their repetitions, the error names the request. Otherwise the machines share some state, and the error
// stays.
func (v Prove) withoutMemory(ctx context.Context, was error) (*Proof, error) {
	const enough = 100 // schedules
	v.off |= sim.RememberedCode
	v.MaxSchedules, v.From, v.Keep, v.Progress = enough, nil, nil, nil
	_, err := v.checked(ctx)
	return nil, cmp.Or(err, was)
}

// checked explores, while other goroutines repeat what new code did.
func (v Prove) checked(ctx context.Context) (*Proof, error) {
	looked := v.probe(sim.Memory{})
	looked.OnWrite = hooks.Of(ctx).OnWrite
	looked.Ends, looked.Judged, looked.OnWorld = hooks.Ends{}, map[string]bool{}, v.onWorld
	var checks errgroup.Group
	var failed atomic.Bool
	type repetition struct {
		again func() error
		of    *sim.Result // the run in which it was done at first, once that is over
	}
	wrong := &sim.Result{} // the run whose repetition failed
	run := &sim.Result{}   // under way
	// Repetitions run in another order than at first: a process may keep state from an earlier incarnation.
	const atOnce = 16
	var one sync.Mutex // one process has as much to do as the search's own
	var owed []repetition
	repeat := func() {
		all := owed
		owed = nil
		checks.Go(func() error {
			one.Lock()
			defer one.Unlock()
			for _, r := range slices.Backward(all) {
				if err := r.again(); err != nil {
					if failed.Swap(true) {
						return nil // another one was the first
					}
					wrong = r.of
					return err
				}
			}
			return nil
		})
	}
	looked.Memory.Check = func(again func() error) { // incarnations of programs end one at a time
		if owed = append(owed, repetition{again, run}); len(owed) == atOnce {
			repeat()
		}
	}
	proof, err := v.explore(ctx, looked, failed.Load, func(r sim.Result) {
		*run = r
		run = &sim.Result{}
	})
	repeat()
	if err := checks.Wait(); errors.Is(err, sim.ErrLeft) {
		if proof != nil && proof.Verdict == invariant.OK {
			proof.Explored.Complete, proof.Verdict, proof.Why = false, invariant.Unknown, v.ended(ctx, proof.Explored)
		}
	} else if err != nil {
		result := *wrong // without choices, if that run broke, too
		result.End, result.Err = sim.Broken, err
		return nil, schedules.Broken(v.Scenario, v.Protocol, v.Options, result)
	}
	return proof, err
}

// explore runs the schedules one after the other, until one of them ends the search, or failed reports true. It calls
// ran after each.
func (v Prove) explore(
	ctx context.Context, looked *hooks.Probe, failed func() bool, ran func(sim.Result),
) (*Proof, error) {
	s := v.Scenario
	proof := &Proof{judged: looked.Judged, Report: Report{
		Scenario: s, Protocol: v.Protocol, Seed: v.Seed, Verdict: invariant.OK,
		unjudged: judgesNothing(s, v.Options), only: v.Only,
	}}
	remembers := v.off&sim.RememberedCode == 0
	x := exhaustive.Exploration{MaxSchedules: v.MaxSchedules, MaxStates: v.MaxStates, Off: v.off &^ sim.RememberedCode,
		Repeat: v.SDK && !remembers}
	check := checker{certificate: v.Against}
	switch {
	case v.Against != nil:
		x.Off, x.Backwards, x.Visit = sim.SleepSets|sim.PersistentSets|v.off&sim.OrphanedReads, true, check.visit
	case v.Certify:
		x.Off |= sim.PersistentSets
	}
	if schedules.OfProgram(v.Protocol) { // a program's code runs twice for each new history
		x.Spare = func(schedule int) bool { return !schedules.Sampled(v.Seed, schedule) }
	}
	audited := !schedules.OfProgram(v.Protocol) && !x.Repeat
	if remembers {
		looked.Memory.Search = &x
		defer x.Close()
	}
	left := false // the latest schedule was left in its middle
	keep := func(bool) error { return nil }
	if v.Keep != nil || v.From != nil {
		code, err := build()
		if err == nil && v.From != nil {
			if err = v.resume(ctx, &x, proof, looked.Ends, code); err != nil {
				err = mistake.New(fmt.Errorf("campaign: Prove.From: %w", err),
					"without the file the search begins anew")
			}
		}
		if err != nil {
			return nil, err
		}
		if v.Keep != nil {
			keep = func(over bool) error {
				return v.Keep(func() (*Search, error) {
					if left || check.strange { // the strange state would count as known
						return nil, nil
					}
					return v.search(&x, proof, looked.Ends, code)
				}, over)
			}
		}
	}
	if proof.Verdict == invariant.Violated { // v.From
		proof.Explored = x.Explored()
		return proof, nil
	}
	one := &searcher{Prove: v, x: &x, looked: looked, audits: audited, sample: v.Seed}
	defer one.close()
	for ctx.Err() == nil && !failed() && !v.divides(&x) && x.Next() {
		o, err := one.run(ctx)
		if left = errors.Is(err, sim.ErrLeft); left {
			break
		}
		if err != nil {
			return nil, err
		}
		if o == nil {
			continue // it was a repetition
		}
		ran(o.Result)
		check.last = o.Result.Choices
		if v.Keep != nil && schedules.OfProgram(v.Protocol) && proof.witnesses.due(x.Schedules()) {
			w, err := v.witnessed(ctx, o)
			if err != nil {
				return nil, v.unrepeatable(err)
			}
			proof.witnesses.Runs = append(proof.witnesses.Runs, w)
		}
		if err := v.take(ctx, proof, o); err != nil {
			return nil, err
		}
		explored := x.Explored()
		if v.Progress != nil {
			v.Progress(explored)
		}
		if proof.Failure != nil {
			proof.Explored = explored
			return proof, nil
		}
		if err := keep(false); err != nil {
			return nil, err
		}
	}
	if v.divides(&x) {
		if err := v.together(ctx, one, proof, failed, keep); err != nil {
			return nil, err
		}
		if proof.Failure != nil {
			proof.Explored = x.Explored()
			return proof, nil
		}
	}
	proof.Explored = x.Explored()
	looked.Ends.Share(looked.Symmetric)
	proof.Deadlines = deadlines(looked.Ends)
	if proof.Explored.Complete {
		proof.Missing = schedules.Missing(s.Subject(), s.Reach, proof.total.Marks.Has)
		proof.idle = len(proof.Proved()) == 0
		if v.Certify {
			proof.States = x.States()
		}
		why := check.incomplete(proof.Explored.States)
		if proof.judged[hooks.SeesPasts] {
			why = cmp.Or(why,
				"a machine read a stream, or restored a table: it saw an order of writes, of which the search "+
					"runs only some")
		}
		if names, excused := proof.Excused(); len(names) > 0 {
			why = cmp.Or(why, fmt.Sprintf("%s, so nothing is proved of %s (a smaller one, or without: [%s])", excused,
				strings.Join(names, ", "), strings.Join(names, ", ")))
		}
		if why != "" && proof.Verdict == invariant.OK {
			proof.Verdict, proof.Why = invariant.Unknown, why
		}
		return proof, nil
	}
	if err := keep(true); err != nil {
		return nil, err
	}
	proof.Missing, proof.Unmet = nil, nil // schedules that were not run may reach them
	if proof.Verdict == invariant.OK {
		proof.Verdict, proof.Why = invariant.Unknown, cmp.Or(check.stranger(proof), v.ended(ctx, proof.Explored))
	}
	return proof, nil
}

// take adds an outcome to the proof. A violation ends the proof.
func (v Prove) take(ctx context.Context, proof *Proof, o *kernel.Outcome) (err error) {
	if o.Verdict != invariant.OK && (proof.Doubt == nil || o.Verdict == invariant.Violated) {
		if o, err = v.again(ctx, o); err != nil {
			return err
		}
	}
	if proof.add(o); o.Verdict == invariant.Violated {
		proof.Failure, proof.FailedAt, proof.FailureStrategy = o, proof.Schedules, exhaustive.Name
	}
	return nil
}

// probe returns a probe of a run of this search.
func (v Prove) probe(m sim.Memory) *hooks.Probe {
	return &hooks.Probe{Search: true, Off: v.off, Memory: m}
}

func (v Prove) schedule(strategy sim.Strategy) kernel.Run {
	return kernel.Run{
		Scenario: v.Scenario, Protocol: v.Protocol, Seed: v.Seed, Strategy: strategy, Options: v.Options,
	}
}

// replay runs a schedule from its beginning to its end, with a trace.
func (v Prove) replay(ctx context.Context, choices schedule.Choices) (*kernel.Outcome, error) {
	run := v.schedule(strategy.Replay(choices))
	run.Trace = io.Discard
	return run.Do(hooks.Afresh(ctx))
}

// ended names the reason why the search ended before it was complete.
func (v Prove) ended(ctx context.Context, e exhaustive.Explored) string {
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return "interrupted"
	case ctx.Err() != nil:
		return context.Cause(ctx).Error()
	case v.MaxSchedules > 0 && e.Schedules >= v.MaxSchedules:
		return fmt.Sprintf("the bound of %d schedules was met", v.MaxSchedules)
	case e.Open == 0 && e.TooLong > 0:
		return fmt.Sprintf("the bound of %d steps was met", v.Scenario.Bounds.Steps)
	default:
		return fmt.Sprintf("the bound of %d states was met", v.MaxStates)
	}
}
