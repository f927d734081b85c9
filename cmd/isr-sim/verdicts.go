package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/internal/shell"
	"github.com/isr-sim/isr-sim/internal/tally"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// inTurn judges one scenario after the other and prints the sum. judge returns the exit code of the i-th, and no report
// if it broke off; its error ends the command.
func inTurn(ctx context.Context, out io.Writer, scenarios []*scenario.Scenario, judge func(i int) (*campaign.Report, int, error)) error {
	var results tally.Tally
	return eachInTurn(ctx, "scenario", scenarios, func(i int) (int, error) {
		report, code, err := judge(i)
		switch {
		case err != nil:
		case report == nil:
			results.Add(false, invariant.Unknown, false)
		default:
			results.Add(report.Passed(), report.Verdict, report.Vacuous())
		}
		return code, err
	}, func() { fmt.Fprintf(out, "%s\n", &results) })
}

// eachInTurn judges one scenario after the other, and sums up if there are several. noun is the user's word for a
// scenario. judge returns the exit code of the i-th; its error ends the command.
func eachInTurn(ctx context.Context, noun string, scenarios []*scenario.Scenario, judge func(i int) (code int, err error), sumUp func()) error {
	worst := exitOK
	for i, s := range scenarios {
		code, err := judge(i)
		if err != nil {
			return err
		}
		worst = worse(worst, code)
		if ctx.Err() != nil {
			return &exitError{
				Code: worse(worst, exitUnknown),
				Err:  fmt.Errorf("interrupted in %s %d of %d (%s)", noun, i+1, len(scenarios), s.Name),
			}
		}
	}
	if len(scenarios) > 1 {
		sumUp()
	}
	if worst != exitOK {
		return &exitError{Code: worst}
	}
	return nil
}

// codeOf is the exit code of a verdict.
func codeOf(passed bool, verdict invariant.Verdict) int {
	switch {
	case verdict == invariant.Unknown:
		return exitUnknown
	case !passed:
		return exitViolated
	default:
		return exitOK
	}
}

// worse returns the more important of two exit codes: that of a violation, then that of an unknown verdict.
func worse(a, b int) int {
	rank := map[int]int{exitOK: 0, exitUnknown: 1, exitViolated: 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// brokeOff prints the run that broke off, and reports whether the error is of that kind. The other scenarios may still
// have a verdict.
func brokeOff(out io.Writer, err error, name string) bool {
	broken, ok := errors.AsType[*scenario.BrokenError](err)
	if ok {
		fmt.Fprintf(out, "\nbroken: %v\n%s\n", broken, prose.ReplayLine(broken.Replay(), "replay", shell.Program(), shell.Quote(name)))
	}
	return ok
}
