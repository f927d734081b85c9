package explore

import (
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/internal/show/results"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
)

// Results are the results of an exploration, for machines: one for each finding, and one for each other thing without a
// verdict. program is the reader's name for isr-sim.
func (x *Exploration) Results(program string) []verdicts.Result {
	all := x.findings(program)
	for _, line := range x.Doubts(program) {
		all = append(all, verdicts.Result{Scenario: x.Scenario, Protocol: x.Protocol, Verdict: verdicts.Unknown,
			Message: line, Seed: fmt.Sprint(x.Seed)})
	}
	return all
}

func (x *Exploration) findings(program string) []verdicts.Result {
	whole := verdicts.Result{
		Scenario: x.Scenario, Protocol: x.Protocol, Verdict: verdicts.Verdict(x.Verdict().String()), Passed: x.Passed(),
		Seed: fmt.Sprint(x.Seed), Schedules: x.Ran, Steps: x.Steps, NotSimulated: x.NotSimulated,
	}
	for _, r := range x.Reached {
		whole.Reached = append(whole.Reached, string(r.Mark))
	}
	var all []verdicts.Result
	for _, f := range x.Findings {
		result := whole
		result.Verdict, result.Invariant, result.Statement = verdicts.Violated, f.Name, f.Statement
		if f.Statement == "" { // the run broke off
			result.Verdict, result.Invariant = verdicts.Unknown, ""
		}
		result.Message = fmt.Sprintf("%s (in %d of %d schedules)", f.Shortest.Why, f.Count, x.Ran)
		result.Found = []verdicts.Found{{Invariant: f.Name, Schedule: f.Earliest.Schedule, Schedules: f.Count}}
		result.Details = strings.Join(append([]string{f.Shortest.Why, ""}, f.Shortest.Lines...), "\n")
		if again, err := x.Recorded(&f.Shortest); err == nil {
			results.Commands(&result, again, program, x.File)
		}
		all = append(all, result)
	}
	if len(all) > 0 {
		all[0].Strategies, all[0].Coverage = x.strategies(), x.coverage()
		return all
	}
	whole.Strategies, whole.Coverage = x.strategies(), x.coverage()
	switch {
	case x.Vacuous():
		whole.Verdict = verdicts.Vacuous
		var left []string
		for _, mark := range x.Missing() {
			left = append(left, string(mark))
		}
		if x.Unjudged {
			left = append(left, "anything to judge")
		}
		whole.Message = fmt.Sprintf("no schedule of %d reached %s", x.Ran, strings.Join(append(left, x.Unmet...), ", "))
	case x.Doubt != nil:
		whole.Message = x.Doubt.Why
	case len(x.CorpusLines(program)) > 0:
		whole.Message = strings.Join(x.CorpusLines(program), "\n")
	case !whole.Passed:
		whole.Message = "expected " + x.Expect
	case x.Shard.partial():
		whole.Message = fmt.Sprintf("shard %s: the shards are judged together: isr-sim merge", x.Shard)
	}
	return []verdicts.Result{whole}
}

func (x *Exploration) strategies() []verdicts.Strategy {
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

// coverage returns the coverage, for machines, or nil if there were no schedules.
func (x *Exploration) coverage() *verdicts.Coverage {
	if x.Orders.Schedules == 0 {
		return nil
	}
	c := &verdicts.Coverage{
		Orders: x.Orders.Distinct, States: x.States.Distinct, About: x.Orders.About || x.States.About,
		NextIsNew: x.Orders.NextIsNew(),
	}
	for i, g := range x.Orders.Growth {
		if i < len(x.States.Growth) {
			c.Growth = append(c.Growth,
				verdicts.Growth{Schedule: g.Schedule, Orders: g.Distinct, States: x.States.Growth[i].Distinct})
		}
	}
	return c
}
