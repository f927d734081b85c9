package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/control"
	"github.com/isr-sim/isr-sim/internal/suggest"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// checkAll is --check without names.
const checkAll = "all"

// invariants returns those that --check names; nil without --check.
func (c *serveCommand) invariants() ([]invariant.Invariant, error) {
	if c.skew < 0 {
		return nil, usage(fmt.Errorf("--max-clock-skew: found %v, expected 0s or more", c.skew), "isr-sim serve --help")
	}
	all := live.Invariants()
	switch c.check {
	case "":
		return nil, nil
	case checkAll:
		return all, nil
	}
	var some []invariant.Invariant
	for name := range strings.SplitSeq(c.check, ",") {
		i := slices.IndexFunc(all, func(inv invariant.Invariant) bool { return inv.Name == name })
		if i < 0 {
			return nil, unknownCheck(name, all)
		}
		some = append(some, all[i])
	}
	return some, nil
}

// unknownCheck says what can be checked.
func unknownCheck(name string, all []invariant.Invariant) error {
	var names []string
	for _, inv := range all {
		names = append(names, inv.Name)
	}
	hint := ""
	if slices.ContainsFunc(invariant.All(), func(inv invariant.Invariant) bool { return inv.Name == name }) {
		hint = "traffic does not decide " + name + ": it needs to be known what clients asked for"
	} else if option, ok := suggest.Nearest(name, names); ok {
		hint = fmt.Sprintf("did you mean %q?", option)
	}
	return usage(fmt.Errorf("--check: found %q, expected names of %s", name, strings.Join(names, ", ")), hint)
}

// checker returns what judges the traffic, and tells on the console of what it
// finds; nil if there is nothing to judge by.
func (c *serveCommand) checker(db *ddbfake.DB, clock control.Clock, invariants []invariant.Invariant) *live.Checker {
	if invariants == nil {
		return nil
	}
	return live.New(db, live.Options{
		Invariants: invariants, Promise: invariant.Promise{MaxClockSkew: c.skew}, Start: clock.Now().Truncate(time.Second),
		Told: func(b live.Broken) { fmt.Fprintf(c.progress, "%s\n", b) },
	})
}

// judged ends the command by what was found.
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
		return &exitError{code: exitViolated}
	case invariant.Unknown:
		return &exitError{code: exitUnknown}
	default:
		return nil
	}
}
