package campaign

import (
	"context"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Campaign runs a scenario under many schedules, until one violates an invariant or all have been run. Schedule i uses
// the i-th seed that is derived from Seed. The schedules use the strategies of isr-sim run in turn.
type Campaign struct {
	Scenario *scenario.Scenario
	// Protocol is the protocol to run; the zero Protocol is the scenario's own.
	Protocol isr.Protocol
	Seed     uint64
	// Schedules is the number of schedules; 0 is the scenario's own number.
	Schedules int
	// Workers is the number of schedules that run at the same time; 0 is one for each processor that Go may use. The
	// result does not depend on it. The workers call the protocol's New, and the code that New returns, at the same
	// time.
	Workers int
	scenario.Options
}

// Run runs the campaign. A cancelled context ends the campaign. The report is then about the schedules that were run,
// and its verdict is unknown unless one of them was violated. An error is not a verdict; see scenario.Run.Do. Runs that
// are not ok are run again. If the protocol then does something else, the error is a *scenario.BrokenError with a
// *scenario.NondeterminismError in it.
func (c Campaign) Run(ctx context.Context) (*Report, error) {
	r, err := campaign.Campaign{
		Scenario: c.Scenario, Protocol: c.Protocol, Seed: c.Seed, Schedules: c.Schedules,
		Workers: c.Workers, Options: c.Options,
	}.Run(ctx)
	if err != nil {
		return nil, err
	}
	return reportOf(r), nil
}

// Report is the result of a campaign.
type Report struct {
	Protocol  isr.Protocol
	Schedules int             // that were run
	Missing   []scenario.Mark // marks that the scenario declares and no schedule reached
	// Unmet are the declared faults that could never strike: no call of any schedule fits them.
	Unmet   []scenario.Fault
	Verdict invariant.Verdict
	Why     string // for the verdict unknown
	// Metrics are the sums of the stores' metrics over all schedules that were run: they tell whether an alarm would
	// have rung.
	Metrics []ddbfake.Metrics
	// Failure is the violated run, which stopped the campaign; FailedAt is its place among the schedules, from 1.
	Failure  *scenario.Outcome
	FailedAt int

	whole *campaign.Report
}

func reportOf(r *campaign.Report) *Report {
	return &Report{
		Protocol: r.Protocol, Schedules: r.Schedules, Missing: r.Missing, Unmet: r.Unmet, Verdict: r.Verdict,
		Why: r.Why, Metrics: r.Metrics, Failure: r.Failure, FailedAt: r.FailedAt, whole: r,
	}
}

// Vacuous says that nothing was violated, but too little was tested: no schedule reached a declared mark, a declared
// fault could never strike, no invariant judged anything (or a proof proved none), or a proof did not reach the end of
// a lease.
func (r *Report) Vacuous() bool { return r.whole.Vacuous() }

// Passed says whether the campaign has the verdict that its scenario expects, and reached the marks that it declares.
// If the protocol is not the scenario's own, the expected verdict is ok.
func (r *Report) Passed() bool { return r.whole.Passed() }

// Summary is the verdict in a few words.
func (r *Report) Summary() string { return r.whole.Summary() }

// Prove runs every schedule that a scenario's bounds admit (ticks, sweeps, steps, each actor's pauses, crashes,
// restarts and clock steps, each possible fault's times), until one violates an invariant or none is left.
//
//	proof, err := campaign.Prove{Scenario: s, Seed: 1}.Run(ctx)
//	fmt.Println(proof.Summary(), proof.Complete, proof.States)
//
// # Limits
//
// It holds for the protocol's code as it is, with one seed: lags of TTL and delays of answers that are drawn at random
// are drawn once. It takes some 150 bytes of memory for each state. The first 32,768 schedules take one core. The
// others take all cores, up to eight, if the code of nodes is remembered. The result does not depend on how many there
// are.
type Prove struct {
	Scenario *scenario.Scenario
	// Protocol is the protocol to run; the zero Protocol is the scenario's own.
	Protocol isr.Protocol
	// Seed is the seed of random TTL lags. The schedules need none.
	Seed uint64
	// MaxSchedules and MaxStates, if positive, end the search.
	MaxSchedules, MaxStates int
	// Options are the options of each run. Swarm makes no proof.
	scenario.Options
}

// Proof is the result of a search. Its verdict is ok only if the search is complete.
type Proof struct {
	Report
	// Complete says that nothing is left to search.
	Complete bool
	// States is the number of distinct states.
	States int
	// Proved are the invariants that had something to judge, by name; none if the verdict is not ok, or the proof is
	// vacuous.
	Proved []string
}

// Run searches. A context that is over ends the search between two schedules: the verdict is then unknown, and Why
// names the context's cause. An error is not a verdict; see scenario.Run.Do. If the code did something else when a run
// was repeated, it is a *scenario.BrokenError with a *scenario.NondeterminismError in it.
func (v Prove) Run(ctx context.Context) (*Proof, error) {
	p, err := campaign.Prove{
		Scenario: v.Scenario, Protocol: v.Protocol, Seed: v.Seed, MaxSchedules: v.MaxSchedules,
		MaxStates: v.MaxStates, Options: v.Options,
	}.Run(ctx)
	if err != nil {
		return nil, err
	}
	proof := &Proof{Report: *reportOf(&p.Report), Complete: p.Explored.Complete, States: p.Explored.States}
	if proof.Verdict == invariant.OK && !proof.Vacuous() {
		proof.Proved = p.Proved()
	}
	return proof, nil
}

// Shrink makes a violated run small: it looks for a run that violates the same invariant with fewer context switches,
// then fewer steps, then in less time, and then with fewer faults, actors, commands and settings.
//
//	shrunk, err := campaign.Shrink(ctx, failed)
//
// An Outcome gives the failed run: outcome.Replay().Run(s, p). If the run violates no invariant, that is an error;
// other errors come from scenario.Run.Do. A cancelled context ends it with the smallest run so far.
//
// Shrink tries simpler schedules and simpler scenarios, keeps those that still violate the invariant, and ends when
// nothing simpler does. It is deterministic, and shrinking its result changes nothing.
//
// # Limits
//
// It is greedy: there may be a smaller run that needs several changes at once. It keeps a scenario's promises:
// max-clock-skew is made smaller only if all clocks are exact.
func Shrink(ctx context.Context, failed scenario.Run) (*Shrunk, error) {
	s, err := campaign.Shrink{Failed: failed}.Run(ctx)
	if err != nil {
		return nil, err
	}
	return &Shrunk{Scenario: s.Scenario, Outcome: s.Outcome, Before: s.Before.String(), After: s.After.String()}, nil
}

// Shrunk is the result of a Shrink.
type Shrunk struct {
	// The replay entry of Scenario is the run, and Scenario.About names the violation. The scenario declares no marks
	// and no mutants.
	Scenario *scenario.Scenario
	Outcome  *scenario.Outcome // the outcome of the replay entry, with its Digest
	// Before and After say how much of a run there is to understand: context switches, steps, faults, actors, commands.
	Before, After string
}
