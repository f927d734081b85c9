// Package selftest tests the tester. It runs every mutant in the scenarios that are known to catch it, and the
// reference protocols in all scenarios that they understand. TestTheTesterIsTested checks the results.
package selftest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/show/results"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// Run is one test of the tester.
type Run struct {
	Scenarios []*spec.Scenario
	Seed      uint64
	Workers   int // see campaign.Campaign
}

// Mutants runs all mutants, and calls the function each with every result. An error comes from a run, or names the
// mutant at which ctx ended.
func (r Run) Mutants(ctx context.Context, each func(*MutantResult)) (all []*MutantResult, err error) {
	for _, p := range mutant.All() {
		result, err := Mutation{Mutant: p, Scenarios: r.Scenarios, Seed: r.Seed, Workers: r.Workers}.Run(ctx)
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("interrupted at mutant %s", p.Name)
		}
		all = append(all, result)
		each(result)
	}
	return all, nil
}

// Reference is the result of a reference protocol.
type Reference struct {
	Protocol  isr.Protocol
	Reports   []*campaign.Report // the reports of the scenarios that it understands
	Schedules int
	Verdict   invariant.Verdict // ok if all are ok; otherwise the last one that is not ok
}

// References runs the reference protocols, with the given number of schedules in all, and calls the function each with
// the result of every protocol. An error comes from a run, or names the protocol at which ctx ended.
func (r Run) References(ctx context.Context, schedules int, each func(Reference)) error {
	references := recipe.References()
	for _, p := range references {
		reports, err := runReference(ctx, p, r.Scenarios, r.Seed,
			(schedules+len(references)-1)/len(references), r.Workers)
		if err != nil {
			return err
		}
		ref := Reference{Protocol: p, Reports: reports, Verdict: invariant.OK}
		for _, report := range reports {
			ref.Schedules += report.Schedules
			if report.Verdict != invariant.OK {
				ref.Verdict = report.Verdict
			}
		}
		each(ref)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted at reference %s", p.Name)
		}
	}
	return nil
}

// Header is the head of the table of mutants.
func Header() string {
	return fmt.Sprintf("%-30s  %-25s  %9s  %-28s  %s", "mutant", "names", "found in", "scenario", "others")
}

// Row is a line of the table of mutants: the mutant, the invariant that it names, the scenario and the first schedule
// that caught it by that invariant, and the other invariants that caught it.
func Row(c *MutantResult) string {
	found, where := "not found", ""
	var others []string
	for _, inv := range list.JudgedBy(c.Mutant.Breaks).All {
		catch, is := c.First[inv.Name]
		switch {
		case is && inv.Name == c.Mutant.Breaks:
			found, where = fmt.Sprint(catch.Schedule), catch.Scenario
		case is:
			others = append(others, inv.Name)
		}
	}
	return strings.TrimRight(fmt.Sprintf("%-30s  %-25s  %9s  %-28s  %s", c.Mutant.Name, c.Mutant.Breaks, found, where,
		strings.Join(others, ", ")), " ")
}

// Page is a table of mutants and invariants in Markdown, with a text that explains it.
func Page(seed uint64, all []*MutantResult) string {
	return fmt.Sprintf(page, seed, len(all), MutationTable(all))
}

const page = `# Mutants

The tester is tested: every mutant is a protocol with one bug, and names the invariant that must catch it. A cell is the
first schedule of the default strategy in which an invariant caught the mutant, in the scenarios that are known to catch
it (seed %d, up to 10,000 schedules). Bold is the invariant that the mutant names. The others are judged for 200 schedules
and more. There are %d mutants.

%s`

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
