package selftest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/show/results"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
)

// Results are the results for machines. The broken protocol must be caught, and the fixed one must not. The parameters
// program and file are the reader's names for isr-sim and the scenario.
func (r *ExhibitResult) Results(program, file string) (broken, fixed verdicts.Result) {
	broken = results.OfReport(r.Broken, program, file, "")
	broken.Passed, broken.Breaks = r.Broken.Verdict == invariant.Violated, r.Bug.Breaks
	if !broken.Passed {
		broken.Message = "the bug was not found: expected a violation of " + r.Bug.Breaks
	}
	return broken, results.OfReport(r.Fixed, program, file, prose.Report(r.Fixed, program, file))
}

// Result is the result for machines: the mutant must be caught by the invariant that it names.
func (c *MutantResult) Result(seed uint64) verdicts.Result {
	first, caught := c.First[c.Mutant.Breaks]
	result := verdicts.Result{Scenario: "mutants", Protocol: c.Mutant.Name, Verdict: verdicts.OK, Passed: caught,
		Seed: fmt.Sprint(seed), Breaks: c.Mutant.Breaks}
	for _, name := range slices.Sorted(maps.Keys(c.First)) {
		result.Found = append(result.Found,
			verdicts.Found{Invariant: name, Scenario: c.First[name].Scenario, Schedule: c.First[name].Schedule})
	}
	if !caught {
		result.Message = "not caught by " + c.Mutant.Breaks + ", the invariant that it names: " + c.Tried()
		return result
	}
	result.Scenario, result.Verdict, result.Invariant, result.Schedules = first.Scenario, verdicts.Violated,
		c.Mutant.Breaks, first.Schedule
	return result
}

// ReferenceResult is the result of a reference protocol in a scenario, for machines: it must violate no invariant, but
// need not reach every mark in its share of the schedules.
func ReferenceResult(r *campaign.Report, program string) verdicts.Result {
	result := results.OfReport(r, program, r.Scenario.Name, "")
	if r.Verdict == invariant.OK {
		result.Verdict, result.Passed, result.Message = verdicts.OK, true, ""
	}
	return result
}
