package main

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/control"
	"github.com/isr-sim/isr-sim/internal/serve"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// invariants returns the invariants that --check names; nil without --check.
func (c *serveCommand) invariants() ([]invariant.Invariant, error) {
	if c.skew < 0 {
		return nil, usage(fmt.Errorf("--max-clock-skew: found %v, expected 0s or more", c.skew), "isr-sim serve --help")
	}
	some, err := serve.ParseChecks(c.check)
	if err != nil {
		return nil, usage(fmt.Errorf("--check: %w", err), "")
	}
	return some, nil
}

// checker returns the judge of the traffic, which prints its findings; nil without invariants.
func (c *serveCommand) checker(db *ddbfake.DB, clock control.Clock, invariants []invariant.Invariant) *live.Checker {
	if invariants == nil {
		return nil
	}
	return live.New(db, live.Options{
		Invariants: invariants, Promise: invariant.Promise{MaxClockSkew: c.skew}, Start: clock.Now().Truncate(time.Second),
		OnBroken: func(b live.Broken) { fmt.Fprintf(c.progress, "%s\n", b) },
	})
}

// judged ends the command with the exit code of the findings.
func (c *serveCommand) judged(checker *live.Checker) error {
	if checker == nil {
		return nil
	}
	checker.Look()
	found := checker.Found()
	fmt.Fprintf(c.progress, "changes checked: %d, violations: %d, unknown: %d\n", found.Changes, found.Violations, found.Doubts)
	for _, t := range found.Unjudged {
		fmt.Fprintf(c.progress, "not judged: %s\n", t)
	}
	if found.Judged == 0 {
		fmt.Fprintf(c.progress, "nothing was judged: found no row LOCK, and no page in a table that has one\n")
		fmt.Fprintf(c.progress, "hint: the rows of a cache have the keys pk and sk, and sk is META, LOCK or VER#...\n")
	}
	switch found.Verdict() {
	case invariant.Violated:
		return &exitError{Code: exitViolated}
	case invariant.Unknown:
		return &exitError{Code: exitUnknown}
	default:
		return nil
	}
}
