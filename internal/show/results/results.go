// Package results converts reports of campaigns, proofs and runs to results for machines.
package results

import (
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
)

// OfReport is the result of a campaign. The parameters program and file are those of prose.Report; details is the text
// for terminals.
func OfReport(r *campaign.Report, program, file, details string) verdicts.Result {
	result := verdicts.Result{
		Scenario: r.Scenario.Name, Protocol: r.Protocol.Name, Verdict: verdicts.Verdict(r.Verdict.String()),
		Passed: r.Passed(), Details: details, Seed: fmt.Sprint(r.Seed), Schedules: r.Schedules, Steps: r.Steps,
		Reached: prose.Names(r.Reached()),
	}
	switch {
	case r.Vacuous():
		result.Verdict = verdicts.Vacuous
		left := append(prose.Names(r.Missing), schedules.FaultTexts(r.Unmet)...)
		for _, d := range r.Unreached() {
			left = append(left, d.Of+" on all sides")
		}
		if len(left) > 0 {
			result.Message = fmt.Sprintf("no schedule of %d reached %s", r.Schedules, strings.Join(left, ", "))
		} else {
			result.Message = "no invariant judges"
		}
	case r.Failure != nil:
		v := r.Failure.Violation
		result.Invariant, result.Statement, result.Message = v.Invariant.Name, v.Invariant.Statement, v.Why
		result.Found = []verdicts.Found{{Invariant: v.Invariant.Name, Schedule: r.FailedAt}}
		Commands(&result, r.Failure.Replay(), program, file)
	case r.Verdict == invariant.Unknown:
		result.Message = r.Why
		if r.Doubt != nil {
			result.Replay = prose.ReplayCommand(r.Doubt.Replay(), "replay", program, file)
		}
	case !r.Passed():
		result.Message = fmt.Sprintf("expected %s: no schedule of %d violates an invariant",
			r.Scenario.Expect, r.Schedules)
	}
	return result
}

// OfProof is the result of a proof.
func OfProof(p *campaign.Proof, program, file, details string) verdicts.Result {
	result := OfReport(&p.Report, program, file, details)
	if p.Explored.Complete && p.Failure == nil {
		result.NothingToJudge, result.NotProved = p.NothingToJudge(), prose.NotProved(p)
		if p.Verdict == invariant.OK {
			result.Proved = p.Proved()
		}
	}
	for _, d := range p.Deadlines {
		result.Deadlines = append(result.Deadlines,
			verdicts.Deadline{Of: d.Of, Before: d.Before, At: d.At, After: d.After})
	}
	return result
}

// OfOutcome is the result of one run.
func OfOutcome(run kernel.Run, o *kernel.Outcome, program, file string) verdicts.Result {
	result := verdicts.Result{
		Scenario: run.Scenario.Name, Protocol: run.Protocol.Name, Verdict: verdicts.Verdict(o.Verdict.String()),
		Passed: o.Verdict == invariant.OK, Message: o.Why,
		Details: prose.Outcome(o, run.Scenario.Name, run.Protocol.Name), Seed: fmt.Sprint(run.Seed), Schedules: 1,
		Steps: o.Result.Steps, Reached: prose.Names(o.Marks),
	}
	if v := o.Violation; v != nil {
		result.Invariant, result.Statement, result.Message = v.Invariant.Name, v.Invariant.Statement, v.Why
		Commands(&result, o.Replay(), program, file)
	}
	return result
}

// Commands adds to a result the commands for its schedule.
func Commands(result *verdicts.Result, r spec.Replay, program, file string) {
	result.Replay, result.Shrink = prose.ReplayCommand(r, "replay", program, file), prose.ReplayCommand(r,
		"shrink", program, file)
}
