package scenario

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Campaign runs a scenario under many schedules, until one violates an invariant
// or all have been run. Schedule i uses the i-th seed derived from Seed, and the
// strategy that the plan has for it.
type Campaign struct {
	Scenario *Scenario
	// Protocol is what runs; the zero Protocol is the scenario's own.
	Protocol isr.Protocol
	Seed     uint64
	// Plan says which strategies pick the schedules; the zero Plan is sim.Portfolio.
	Plan sim.Plan
	// Schedules is how many to run; 0 is what the scenario says.
	Schedules int
	// SDK is as in Run.
	SDK bool
	// Record, if positive, keeps the outcomes of that many first runs, and of a violated one, with what went over the
	// wire.
	Record int
	// Progress, if set, hears how many schedules are done.
	Progress func(done, of int)
}

// Report is what a campaign came to.
type Report struct {
	Scenario  *Scenario
	Protocol  isr.Protocol
	Seed      uint64
	Schedules int // that were run
	Steps     int // in all of them
	Marks     markSet
	Missing   []Mark // what the scenario declares and no schedule reached
	// Unmet are the declared faults that could never strike: no call of any schedule fits them.
	Unmet   []Fault
	Verdict invariant.Verdict
	Why     string // for the verdict unknown
	// Doubt is the first run whose verdict is unknown, if there is one.
	Doubt *Outcome
	// Failure is the violated run, which stopped the campaign; FailedAt is its place among the schedules, from 1.
	Failure         *Outcome
	FailedAt        int
	FailureStrategy string
	Recorded        []*Outcome
}

// Run runs the campaign. A cancelled context ends it between two schedules: the
// report is then about those that were run, and its verdict unknown unless one
// was violated. An error is not a verdict; see Run.Do.
func (c Campaign) Run(ctx context.Context) (*Report, error) {
	s := c.Scenario
	if c.Protocol.New == nil {
		p, err := ProtocolNamed(s.Protocol)
		if err != nil {
			return nil, err
		}
		c.Protocol = p
	}
	if c.Schedules <= 0 {
		c.Schedules = s.Bounds.Schedules
	}
	r := &Report{Scenario: s, Protocol: c.Protocol, Seed: c.Seed, Marks: markSet{}, Verdict: invariant.OK}
	if c.Plan.At == nil {
		c.Plan = sim.Portfolio()
	}
	expected := 1
	for i := range c.Schedules {
		select {
		case <-ctx.Done():
			r.Verdict, r.Why = invariant.Unknown, fmt.Sprintf("interrupted after %d of %d schedules", i, c.Schedules)
			return r, nil
		default:
		}
		strategy := c.Plan.At(i)
		o, err := Run{
			Scenario: s, Protocol: c.Protocol, Seed: sim.Derive(c.Seed, i), Strategy: strategy, ExpectedSteps: expected,
			Record: c.Record > 0, SDK: c.SDK,
		}.Do(ctx)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			expected = max(len(o.Result.Choices), 1)
		}
		if o.Verdict != invariant.OK && (r.Doubt == nil || o.Verdict == invariant.Violated) {
			o.Digest = c.digest(ctx, o.Result)
		}
		r.add(o)
		if len(r.Recorded) < c.Record || c.Record > 0 && o.Verdict == invariant.Violated {
			r.Recorded = append(r.Recorded, o)
		}
		if c.Progress != nil {
			c.Progress(i+1, c.Schedules)
		}
		if o.Verdict == invariant.Violated {
			r.Failure, r.FailedAt, r.FailureStrategy = o, i+1, strategy.Name
			return r, nil
		}
	}
	r.Missing = r.Marks.missing(s.Reach)
	return r, nil
}

// digest runs a schedule again and returns its trace's digest; "" if it does not
// run again, which is for whoever replays it to find out.
func (c Campaign) digest(ctx context.Context, result sim.Result) string {
	o, err := Run{
		Scenario: c.Scenario, Protocol: c.Protocol, Seed: result.Seed, Strategy: sim.Replay(result.Choices), SDK: c.SDK,
		Trace: io.Discard,
	}.Do(ctx)
	if err != nil {
		return ""
	}
	return o.Digest
}

// add counts one run. A violation outweighs unknown, and unknown outweighs ok.
func (r *Report) add(o *Outcome) {
	r.Schedules++
	r.Steps += o.Result.Steps
	for _, mark := range o.Marks {
		r.Marks[mark]++
	}
	if r.Schedules == 1 {
		r.Unmet = slices.Clone(o.unmet)
	}
	r.Unmet = slices.DeleteFunc(r.Unmet, func(f Fault) bool { return !slices.Contains(o.unmet, f) })
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

// Reached returns the marks that some schedule reached, in the order of Marks.
func (r *Report) Reached() []Mark { return r.Marks.reached() }
