package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/concurrent"
	"github.com/isr-sim/isr-sim/internal/explore"
	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/internal/schedules"
	"github.com/isr-sim/isr-sim/internal/selftest"
	"github.com/isr-sim/isr-sim/internal/shell"
	"github.com/isr-sim/isr-sim/internal/verdicts"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/live"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// ofReport is the result of a campaign. name is how the user names its scenario; details is the text for terminals.
func ofReport(r *campaign.Report, name, details string) verdicts.Result {
	result := verdicts.Result{
		Scenario: r.Scenario.Name, Protocol: r.Protocol.Name, Verdict: verdicts.Verdict(r.Verdict.String()), Passed: r.Passed(),
		Details: details, Seed: fmt.Sprint(r.Seed), Schedules: r.Schedules, Steps: r.Steps,
	}
	for _, mark := range r.Reached() {
		result.Reached = append(result.Reached, string(mark))
	}
	result.File, result.Line = inFile(name)
	switch {
	case r.Vacuous():
		result.Verdict = verdicts.Vacuous
		var left []string
		for _, mark := range r.Missing {
			left = append(left, string(mark))
		}
		if left = append(left, schedules.FaultTexts(r.Unmet)...); len(left) > 0 {
			result.Message = fmt.Sprintf("no schedule of %d reached %s", r.Schedules, strings.Join(left, ", "))
		} else {
			result.Message = "no invariant judges"
		}
	case r.Failure != nil:
		v := r.Failure.Violation
		result.Invariant, result.Statement, result.Message = v.Invariant.Name, v.Invariant.Statement, v.Why
		result.Found = []verdicts.Found{{Invariant: v.Invariant.Name, Schedule: r.FailedAt}}
		result.Replay, result.Shrink = command(r.Failure.Replay(), "replay", name), command(r.Failure.Replay(), "shrink", name)
	case r.Verdict == invariant.Unknown:
		result.Message = r.Why
		if r.Doubt != nil {
			result.Replay = command(r.Doubt.Replay(), "replay", name)
		}
	case !r.Passed():
		result.Message = fmt.Sprintf("expected %s: no schedule of %d violates an invariant", r.Scenario.Expect, r.Schedules)
	}
	return result
}

// ofBroken is the result of a scenario whose run broke off.
func ofBroken(err error, s *scenario.Scenario, protocol, name string) verdicts.Result {
	result := verdicts.Result{Scenario: s.Name, Protocol: protocol, Verdict: verdicts.Unknown, Message: err.Error()}
	if protocol == "" {
		result.Protocol = s.Protocol
	}
	result.File, result.Line = inFile(name)
	return result
}

// ofExploration are the results of an exploration: one for each finding.
func ofExploration(x *explore.Exploration, name string) []verdicts.Result {
	whole := verdicts.Result{
		Scenario: x.Scenario, Protocol: x.Protocol, Verdict: verdicts.Verdict(x.Verdict().String()), Passed: x.Passed(),
		Seed: fmt.Sprint(x.Seed), Schedules: x.Ran, Steps: x.Steps,
	}
	whole.File, whole.Line = inFile(name)
	for _, r := range x.Reached {
		whole.Reached = append(whole.Reached, string(r.Mark))
	}
	var results []verdicts.Result
	for _, f := range x.Findings {
		result := whole
		result.Verdict, result.Invariant, result.Statement = verdicts.Violated, f.Name, f.Statement
		if f.Statement == "" { // it broke off
			result.Verdict, result.Invariant = verdicts.Unknown, ""
		}
		result.Message = fmt.Sprintf("%s (in %d of %d schedules)", f.Shortest.Why, f.Count, x.Ran)
		result.Found = []verdicts.Found{{Invariant: f.Name, Schedule: f.Earliest.Schedule, Schedules: f.Count}}
		result.Details = strings.Join(append([]string{f.Shortest.Why, ""}, f.Shortest.Lines...), "\n")
		if choices, err := sim.ParseChoices(f.Shortest.Choices); err == nil {
			again := scenario.Replay{Protocol: x.Protocol, Seed: f.Shortest.Seed, Choices: choices, Swarm: x.Swarm, Digest: f.Shortest.Digest}
			result.Replay, result.Shrink = command(again, "replay", name), command(again, "shrink", name)
		}
		results = append(results, result)
	}
	if len(results) > 0 {
		results[0].Strategies, results[0].Coverage = ofStrategies(x), ofCoverage(x)
		return results
	}
	whole.Strategies, whole.Coverage = ofStrategies(x), ofCoverage(x)
	switch {
	case x.Vacuous():
		whole.Verdict = verdicts.Vacuous
		var left []string
		for _, mark := range x.Missing() {
			left = append(left, string(mark))
		}
		whole.Message = fmt.Sprintf("no schedule of %d reached %s", x.Ran, strings.Join(append(left, x.Unmet...), ", "))
	case x.Doubt != nil:
		whole.Message = x.Doubt.Why
	case !whole.Passed:
		whole.Message = "expected " + x.Expect
	}
	return []verdicts.Result{whole}
}

// ofStrategies is what each strategy of an exploration has found.
func ofStrategies(x *explore.Exploration) []verdicts.Strategy {
	var all []verdicts.Strategy
	for _, t := range x.Strategies {
		s := verdicts.Strategy{Strategy: t.Strategy, Schedules: t.Schedules}
		for _, c := range t.Found {
			s.Found = append(s.Found, verdicts.Found{Invariant: c.Name, Schedules: c.Count})
		}
		all = append(all, s)
	}
	return all
}

// ofCoverage is the coverage of an exploration; none without schedules.
func ofCoverage(x *explore.Exploration) *verdicts.Coverage {
	if x.Orders.Schedules == 0 {
		return nil
	}
	c := &verdicts.Coverage{
		Orders: x.Orders.Distinct, States: x.States.Distinct, About: x.Orders.About || x.States.About, NextIsNew: x.Orders.NextIsNew(),
	}
	for i, g := range x.Orders.Growth {
		if i < len(x.States.Growth) {
			c.Growth = append(c.Growth, verdicts.Growth{Schedule: g.Schedule, Orders: g.Distinct, States: x.States.Growth[i].Distinct})
		}
	}
	return c
}

// ofExhibit are the results of an exhibit: the broken protocol must be caught, and the other one not.
func ofExhibit(shown *selftest.ExhibitResult, name string) []verdicts.Result {
	broken := ofReport(shown.Broken, name, "")
	broken.Passed, broken.Breaks = shown.Broken.Verdict == invariant.Violated, shown.Bug.Breaks
	if !broken.Passed {
		broken.Message = "the bug was not found: expected a violation of " + shown.Bug.Breaks
	}
	return []verdicts.Result{broken, ofReport(shown.Fixed, name, prose.Report(shown.Fixed, shell.Program(), shell.Quote(name)))}
}

// ofMutant is the result of a broken protocol, which must be caught by the invariant that it names.
func ofMutant(m *selftest.MutantResult, seed uint64) verdicts.Result {
	first, caught := m.First[m.Mutant.Breaks]
	result := verdicts.Result{Scenario: "mutants", Protocol: m.Mutant.Name, Verdict: verdicts.OK, Passed: caught, Seed: fmt.Sprint(seed), Breaks: m.Mutant.Breaks}
	for _, name := range slices.Sorted(maps.Keys(m.First)) {
		result.Found = append(result.Found, verdicts.Found{Invariant: name, Scenario: m.First[name].Scenario, Schedule: m.First[name].Schedule})
	}
	if !caught {
		result.Message = "not caught by " + m.Mutant.Breaks + ", the invariant that it names: " + m.Tried()
		return result
	}
	result.Scenario, result.Verdict, result.Invariant, result.Schedules = first.Scenario, verdicts.Violated, m.Mutant.Breaks, first.Schedule
	return result
}

// ofReference is the result of a reference protocol in a scenario: it must violate no invariant, and need not reach
// every mark in its share of the schedules.
func ofReference(r *campaign.Report) verdicts.Result {
	result := ofReport(r, r.Scenario.Name, "")
	if r.Verdict == invariant.OK {
		result.Verdict, result.Passed, result.Message = verdicts.OK, true, ""
	}
	return result
}

// ofOutcome is the result of one run.
func ofOutcome(run recorded, o *scenario.Outcome, name string) verdicts.Result {
	result := verdicts.Result{
		Scenario: run.Scenario.Name, Protocol: run.Protocol.Name, Verdict: verdicts.Verdict(o.Verdict.String()), Passed: o.Verdict == invariant.OK,
		Message: o.Why, Details: o.Explain(run.Scenario.Name, run.Protocol.Name), Seed: fmt.Sprint(run.Seed), Schedules: 1, Steps: o.Result.Steps,
	}
	result.File, result.Line = inFile(name)
	for _, mark := range o.Marks {
		result.Reached = append(result.Reached, string(mark))
	}
	if v := o.Violation; v != nil {
		result.Invariant, result.Statement, result.Message = v.Invariant.Name, v.Invariant.Statement, v.Why
		result.Replay, result.Shrink = command(o.Replay(), "replay", name), command(o.Replay(), "shrink", name)
	}
	return result
}

// ofConcurrent is the result of nodes in real parallel.
func ofConcurrent(o *concurrent.Outcome, protocol string, seed uint64) verdicts.Result {
	return verdicts.Result{
		Scenario: "concurrent", Protocol: protocol, Verdict: verdicts.Verdict(o.Verdict.String()), Passed: o.Verdict == invariant.OK,
		Invariant: o.Violated.Name, Statement: o.Violated.Statement, Message: o.Why, Details: strings.Join(o.Lines, "\n"), Seed: fmt.Sprint(seed),
	}
}

// ofTraffic are the results of a server's check: one for each finding, or one for all of what was judged.
func ofTraffic(found live.Found, told []string) []verdicts.Result {
	var results []verdicts.Result
	for _, b := range found.Broken {
		r := verdicts.Result{Scenario: watched, Verdict: verdicts.Verdict(b.Verdict.String()), Message: b.Why, Details: b.String()}
		if r.Verdict == verdicts.Violated {
			r.Invariant, r.Statement = b.Invariant.Name, b.Invariant.Statement
		}
		results = append(results, r)
	}
	if len(results) > 0 {
		return results
	}
	return []verdicts.Result{{
		Scenario: watched, Verdict: verdicts.Verdict(found.Verdict().String()), Passed: found.Verdict() == invariant.OK,
		Message: strings.Join(told, "\n"),
	}}
}

// command is a command about a recorded schedule.
func command(r scenario.Replay, what, name string) string {
	_, text, _ := strings.Cut(prose.ReplayLine(r, what, shell.Program(), shell.Quote(name)), ": ")
	return strings.TrimSpace(text)
}
