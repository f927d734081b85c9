package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
)

// InTurn judges the scenarios one after another and prints the sum. judge returns the exit code of the i-th, and no
// report if it broke off; its error ends the command.
func InTurn(ctx context.Context, out io.Writer, scenarios []*spec.Scenario,
	judge func(i int) (*campaign.Report, int, error)) error {
	var results Tally
	return EachInTurn(ctx, "scenario", scenarios, func(i int) (int, error) {
		report, code, err := judge(i)
		switch {
		case err != nil:
		case report == nil:
			results.Add(false, invariant.Unknown, false)
		case code == ExitUnknown: // including those of the corpus, or of another backend
			results.Add(false, invariant.Unknown, false)
		case code == ExitViolated && report.Passed():
			results.Add(false, invariant.Violated, false)
		default:
			results.Add(report.Passed(), report.Verdict, report.Vacuous())
		}
		return code, err
	}, func() { fmt.Fprintf(out, "%s\n", &results) })
}

// EachInTurn judges the scenarios one after another, and calls sumUp if there are several. noun is the user's word for
// a scenario. judge returns the exit code of the i-th; its error ends the command.
func EachInTurn(ctx context.Context, noun string, scenarios []*spec.Scenario,
	judge func(i int) (code int, err error), sumUp func()) error {
	worst := ExitOK
	for i, s := range scenarios {
		code, err := judge(i)
		if err != nil && worst == ExitViolated {
			return And(&Error{Code: worst}, err) // what was found stays found
		}
		if err != nil {
			return err
		}
		worst = Worse(worst, code)
		if ctx.Err() != nil {
			return &Error{
				Code: Worse(worst, ExitUnknown),
				Err:  fmt.Errorf("interrupted in %s %d of %d (%s)", noun, i+1, len(scenarios), s.Name),
			}
		}
	}
	if len(scenarios) > 1 {
		sumUp()
	}
	if worst != ExitOK {
		return &Error{Code: worst}
	}
	return nil
}

// CodeOf returns the exit code of a verdict.
func CodeOf(passed bool, verdict invariant.Verdict) int {
	switch {
	case verdict == invariant.Unknown:
		return ExitUnknown
	case !passed:
		return ExitViolated
	default:
		return ExitOK
	}
}

// AtLeast gives the result of a command another exit code if it is ok.
func AtLeast(code int, err error) error {
	if err == nil && code != ExitOK {
		return &Error{Code: code}
	}
	return err
}

// Worse returns the more important of two exit codes: a violation, then an unknown verdict, then ok.
func Worse(a, b int) int {
	rank := map[int]int{ExitOK: 0, ExitUnknown: 1, ExitViolated: 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}
