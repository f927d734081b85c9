package campaign

import (
	"context"
	"errors"
	"fmt"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Campaign runs a scenario under many schedules, until one violates an invariant or all have been run. Schedule i uses
// the i-th seed derived from Seed, and the strategy that the plan has for it.
type Campaign struct {
	Scenario *spec.Scenario
	// Protocol is the protocol to run; the zero Protocol is the scenario's own.
	Protocol isr.Protocol
	Seed     uint64
	// Plan names the strategies that pick the schedules; the zero Plan is strategy.Portfolio.
	Plan strategy.Plan
	// Schedules is the number of schedules; 0 means the scenario's own number.
	Schedules int
	// Workers is the number of schedules that run at the same time; 0 means one for each processor that Go may use. The
	// result does not depend on it. All workers call the protocol's New, and with it all code under test.
	Workers int
	kernel.Options
	// Progress, if set, is called with the number of schedules done so far, from one goroutine and in order.
	Progress func(done, of int)
}

// Report is the result of a campaign.
type Report struct {
	Scenario  *spec.Scenario
	Protocol  isr.Protocol
	Seed      uint64
	Schedules int         // how many were run
	Steps     int         // in all of them
	Missing   []spec.Mark // marks that the scenario declares and no schedule reached
	// Unmet are the declared faults that could never strike: no call of any schedule fits them.
	Unmet []spec.Fault
	// Deadlines are the ends of leases and of freshness in rows. Each says whether a proof sent requests before, at and
	// after it. A campaign has none.
	Deadlines []Deadline
	Verdict   invariant.Verdict
	Why       string // for the verdict unknown
	// Doubt is the first run whose verdict is unknown, if there is one.
	Doubt *kernel.Outcome
	// Misfit says why Scenario.Rows does not fit the rows of some run (Outcome.Misfit), "" if there is no such run.
	Misfit string
	// Pageless is set if no row of some run was a page. It names that run's rows, and the reason (Outcome.Pageless).
	Pageless string
	// Metrics are the sums of the stores' metrics over all schedules that were run: they tell whether an alarm would
	// have rung.
	Metrics []ddbfake.Metrics
	// AskedObjects says that in some schedule a request reached the bodies' store through a client of S3.
	AskedObjects bool
	// Failure is the violated run, which stopped the campaign; FailedAt is its place among the schedules, from 1.
	Failure         *kernel.Outcome
	FailedAt        int
	FailureStrategy string

	total    schedules.Total
	unjudged bool   // the scenario leaves out all invariants
	only     string // see kernel.Options
	idle     bool   // no invariant that judges had anything to judge
}

// judgesNothing reports whether no invariant judges.
func judgesNothing(s *spec.Scenario, o kernel.Options) bool {
	return o.Invariants == nil && len(kernel.NotJudged(s)) == len(s.Subject().All)
}

// Run runs the campaign. A cancelled context ends it: the report then covers the schedules that were run, and its
// verdict is unknown unless one was violated. An error is not a verdict; see kernel.Run.Do. Runs that are not ok are
// run again. If the protocol then behaves differently, the error is a *kernel.BrokenError with a
// *kernel.NondeterminismError in it.
func (c Campaign) Run(ctx context.Context) (*Report, error) {
	run := kernel.Run{Scenario: c.Scenario, Protocol: c.Protocol, Seed: c.Seed, Options: c.Options}
	set, err := schedules.New(run, c.Plan, c.Schedules, c.Workers)
	if err != nil {
		return nil, err
	}
	r := &Report{Scenario: set.Scenario, Protocol: set.Protocol, Seed: set.Seed, Verdict: invariant.OK,
		unjudged: judgesNothing(c.Scenario, c.Options), only: c.Only}
	var broken error
	set.All(ctx, func(a schedules.Attempt) bool {
		if broken = a.Err; broken != nil {
			return false
		}
		o := a.Outcome
		if o.Verdict == invariant.Violated || o.Verdict == invariant.Unknown && r.Doubt == nil ||
			set.Suspect(a) {
			if broken = set.Confirm(ctx, o); broken != nil {
				return false
			}
		}
		r.add(o)
		r.Metrics = schedules.AddMetrics(r.Metrics, o.Metrics)
		r.AskedObjects = r.AskedObjects || o.AskedObjects
		if c.Progress != nil {
			c.Progress(r.Schedules, set.Schedules)
		}
		if o.Verdict == invariant.Violated {
			r.Failure, r.FailedAt, r.FailureStrategy = o, a.Index+1, a.Strategy
			return false
		}
		return true
	})
	switch {
	case broken != nil && !errors.Is(broken, sim.ErrLeft):
		return nil, broken
	case r.Failure != nil:
	case r.Schedules < set.Schedules:
		r.Verdict, r.Why = invariant.Unknown, fmt.Sprintf("interrupted after %d of %d schedules",
			r.Schedules, set.Schedules)
	default:
		r.Missing = schedules.Missing(c.Scenario.Subject(), c.Scenario.Reach, r.total.Marks.Has)
		r.idle = !r.total.Judged
	}
	return r, nil
}

// add counts one run. A violation outweighs unknown, and unknown outweighs ok.
func (r *Report) add(o *kernel.Outcome) {
	r.total.Add(o)
	if r.Misfit == "" {
		r.Misfit = o.Misfit
	}
	if r.Pageless == "" {
		r.Pageless = o.Pageless
	}
	r.sum()
	switch o.Verdict {
	case invariant.Violated:
		r.Verdict, r.Why = invariant.Violated, ""
	case invariant.Unknown:
		if r.Doubt == nil {
			r.Doubt = o
		}
		if r.Verdict == invariant.OK {
			r.Verdict, r.Why = invariant.Unknown, o.Why
		}
	case invariant.OK:
	}
}

// sum copies the total to the fields of the report.
func (r *Report) sum() {
	r.Schedules, r.Steps, r.Unmet = r.total.Schedules, r.total.Steps, r.total.Unmet
}

// Reached returns the marks that some schedule reached, in the order of Marks.
func (r *Report) Reached() []spec.Mark { return r.total.Marks.Reached() }

// Has says whether some schedule reached the mark.
func (r *Report) Has(m spec.Mark) bool { return r.total.Marks.Has(m) }
