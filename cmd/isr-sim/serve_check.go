package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/control"
	"github.com/isr-sim/isr-sim/internal/record"
	"github.com/isr-sim/isr-sim/internal/serve"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// invariants returns the invariants that --check names; nil without --check.
func (c *serveCommand) invariants() ([]invariant.Invariant, error) {
	if c.skew < 0 {
		return nil, usage(fmt.Errorf("--max-clock-skew: found %v, expected 0s or more", c.skew), "isr-sim serve --help")
	}
	if c.revalidate < 0 {
		return nil, usage(fmt.Errorf("--revalidate: found %v, expected 0s or more", c.revalidate), "isr-sim serve --help")
	}
	if c.keep.wanted() && c.check == "" {
		return nil, usage(errors.New("found --record or --report without --check, which alone needs them"), "isr-sim serve --check --record run.json")
	}
	if err := c.keep.ready(false); err != nil {
		return nil, err
	}
	if len(c.except) > 0 && c.check == "" {
		return nil, usage(errors.New("found --check-except without --check, which alone needs it"), "--check --check-except "+c.except[0])
	}
	if slices.Contains(c.except, "") {
		return nil, usage(errors.New("--check-except: found no name, expected an access key id"), "for example --check-except seed")
	}
	some, err := serve.ParseChecks(c.check)
	if err != nil {
		return nil, usage(fmt.Errorf("--check: %w", err), "")
	}
	return some, nil
}

// schema returns the row mapping that --rows names; the zero Schema without it.
func (c *serveCommand) schema() (isr.Schema, error) {
	if c.rows == "" {
		return isr.Schema{}, nil
	}
	if c.check == "" {
		return isr.Schema{}, usage(errors.New("found --rows without --check, which alone needs it"), "--check --rows "+c.rows)
	}
	ready, err := isr.SchemaNamed(c.rows)
	if err == nil {
		return ready, nil
	}
	s, err := scenario.LoadRows(c.rows)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, usage(fmt.Errorf("--rows: found %q, expected a file, or one of %s", c.rows, strings.Join(schemaNames(), ", ")), "docs/SCENARIOS.md says what is in the file")
	case err != nil:
		return s, usage(fmt.Errorf("--rows: %w", err), "")
	}
	return s, nil
}

func schemaNames() []string {
	var names []string
	for _, s := range isr.Schemas() {
		names = append(names, s.Name)
	}
	return names
}

// checker returns the judge of the traffic, which prints its findings; nil without invariants.
func (c *serveCommand) checker(db *ddbfake.DB, clock control.Clock, invariants []invariant.Invariant, rows isr.Schema) *live.Checker {
	if invariants == nil {
		return nil
	}
	if c.check == serve.AllChecks {
		invariants = nil // then those of which nothing was judged are named, and are no failure
	}
	return live.New(db, live.Options{
		Rows: rows, Invariants: invariants, Clock: clock,
		Promise: invariant.Promise{MaxClockSkew: c.skew, Revalidate: c.revalidate}, Start: clock.Now().Truncate(time.Second),
		Except:   c.except,
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
	if found.Events > 0 {
		fmt.Fprintf(c.progress, "events posted: %d\n", found.Events)
	}
	left := c.notJudged(checker, found)
	for _, line := range left {
		fmt.Fprintf(c.progress, "%s\n", line)
	}
	for _, r := range ofTraffic(found, left) {
		c.forms.add(c.keep.with(r, watched))
	}
	return verdict(found)
}

// notJudged says, in lines, of what there is no verdict, and why.
func (c *serveCommand) notJudged(checker *live.Checker, found live.Found) []string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, line := range untold(found) {
		say("not judged: %s", line)
	}
	if len(c.except) > 0 {
		say("not judged, by %s: %d changes", strings.Join(c.except, ", "), found.Excepted)
	}
	for _, t := range found.Unjudged {
		say("not judged: %s", t)
	}
	if found.Misfit != "" {
		say("%s", found.Misfit)
	}
	rows := slices.ContainsFunc(checker.Invariants(), func(inv invariant.Invariant) bool { return inv.Watch != nil })
	switch {
	case !rows || found.Judged > 0:
	case c.rows != "":
		say("nothing was judged: --rows %s found no page and no lock", c.rows)
	default:
		say("nothing was judged: found no row LOCK, and no page in a table that has one")
		say("hint: the rows of a cache have the keys pk and sk, and sk is META, LOCK or VER#...; others are known by --rows FILE")
	}
	return lines
}

// watched is the name of the run that a server has watched.
const watched = "serve"

// keepSeen writes the record of what was checked: the change log, as far as it is kept, and the first violation.
func (c *serveCommand) keepSeen(db *ddbfake.DB, checker *live.Checker, rows isr.Schema, start time.Time) error {
	if checker == nil {
		return nil
	}
	checker.Look()
	found := checker.Found()
	seen := record.Watched{
		Name: watched, About: "The traffic that isr-sim serve --check has seen.", Protocol: "programs", Seed: c.seed, Start: start,
		Evidence: invariant.Evidence{Changes: db.Changes(), Schema: rows, Revalidate: c.revalidate}, Verdict: found.Verdict(),
	}
	if len(seen.Evidence.Changes) == 0 && c.keep.wanted() {
		fmt.Fprintln(c.progress, "not recorded: no row was changed")
		return nil
	}
	for _, b := range found.Broken {
		if b.Verdict != seen.Verdict {
			continue
		}
		seen.Why = b.Why
		if b.Verdict == invariant.Violated {
			seen.Invariant, seen.Evidence.History = b.Invariant, b.Events
			for _, change := range b.Changes {
				seen.Finding.Changes = append(seen.Finding.Changes, change.Seq)
			}
			for _, e := range b.Events {
				seen.Finding.Events = append(seen.Finding.Events, e.Seq)
			}
			for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n")[3:] { // verdict, statement and reason stand before
				seen.Lines = append(seen.Lines, strings.TrimSpace(line))
			}
		}
		break
	}
	return c.keep.keepWatched(c.progress, seen)
}

// untold are the invariants of which nothing was judged, on one line if they lack the same.
func untold(found live.Found) []string {
	if found.Events > 0 || len(found.Untold) == 0 {
		return found.Untold
	}
	var names []string
	reason := ""
	for _, line := range found.Untold {
		name, why, _ := strings.Cut(line, ": ")
		names, reason = append(names, name), why
	}
	return []string{strings.Join(names, ", ") + ": " + reason}
}

// verdict is the exit code of the findings.
func verdict(found live.Found) error {
	switch found.Verdict() {
	case invariant.Violated:
		return &exitError{Code: exitViolated}
	case invariant.Unknown:
		return &exitError{Code: exitUnknown}
	default:
		return nil
	}
}
