package serve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	engine "github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// AllChecks is the text for all invariants that traffic decides.
const AllChecks = "all"

// ParseChecks returns the invariants whose names, separated by commas, are in a text: all of live.Invariants for
// AllChecks, nil for "". An error may end in a hint.
func ParseChecks(text string) ([]invariant.Invariant, error) {
	all := live.Invariants()
	switch text {
	case "":
		return nil, nil
	case AllChecks:
		return all, nil
	}
	var some []invariant.Invariant
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(all, func(inv invariant.Invariant) bool { return inv.Name == name })
		if i < 0 {
			return nil, unknownCheck(name, all)
		}
		some = append(some, all[i])
	}
	return some, nil
}

// unknownCheck is the error for an unknown name, with the known ones.
func unknownCheck(name string, all []invariant.Invariant) error {
	var names []string
	for _, inv := range all {
		names = append(names, inv.Name)
	}
	hint := ""
	if list.JudgedBy(name) != nil {
		hint = "\nhint: traffic and posted history do not decide " + name
	} else if option, ok := suggest.Nearest(name, names); ok {
		hint = fmt.Sprintf("\nhint: did you mean %q?", option)
	}
	return fmt.Errorf("found %q, expected names of %s%s", name, strings.Join(names, ", "), hint)
}

// findings converts the findings to the form of the control API.
func findings(checker *live.Checker) control.Findings {
	found := checker.Found()
	shown := control.Findings{
		Verdict: found.Verdict().String(),
		Changes: found.Changes, Judged: found.Judged, Excepted: found.Excepted, Violations: found.Violations,
		Doubts: found.Doubts, Unjudged: found.Unjudged,
		Events: found.Events, Untold: found.Untold,
	}
	for _, inv := range checker.Invariants() {
		if slices.ContainsFunc(found.Untold, func(line string) bool { return strings.HasPrefix(line, inv.Name+":") }) {
			continue
		}
		if inv.Watch != nil && found.Judged == 0 {
			shown.Untold = append(shown.Untold, inv.Name+": nothing was judged")
			continue
		}
		shown.Checked = append(shown.Checked, inv.Name)
	}
	if found.Misfit != "" {
		shown.Untold = append(shown.Untold, found.Misfit)
	}
	for _, b := range found.Broken {
		shown.Found = append(shown.Found, control.Finding{
			Verdict: b.Verdict.String(), Invariant: b.Invariant.Name, Statement: b.Invariant.Statement,
			Why: b.Why, Actor: b.Actor, Changes: b.Changes, Events: b.Events,
		})
	}
	return shown
}

// Watched is the name of a run that a server watched.
const Watched = "serve"

// Checks reports whether the server judges its traffic.
func (s *Server) Checks() bool { return s.checker != nil }

// newChecker returns the judge of the traffic, which prints its findings.
func (s *Server) newChecker(invariants []invariant.Invariant) *live.Checker {
	c := &s.settings
	if c.Check == AllChecks {
		invariants = nil // with nil, an invariant that judged nothing is listed but does not fail the check
	}
	promise := invariant.Promise{MaxClockSkew: c.Skew, Revalidate: c.Revalidate, Recipe: c.Recipe}
	return live.New(s.options.DB, live.Options{
		Rows: c.Rows, Invariants: invariants, Clock: s.options.Control.Clock, Promise: promise, Start: s.start,
		Except:   c.Except,
		OnBroken: func(b live.Broken) { fmt.Fprintf(c.Log, "%s\n", b) },
	})
}

// found returns the findings so far.
func (s *Server) found() live.Found {
	s.checker.Look()
	return s.checker.Found()
}

// Judged prints what was judged, and returns the results and the verdict.
func (s *Server) Judged() ([]verdicts.Result, invariant.Verdict) {
	found := s.found()
	log := s.settings.Log
	fmt.Fprintf(log, "changes checked: %d, violations: %d, unknown: %d\n", found.Changes,
		found.Violations, found.Doubts)
	if found.Events > 0 {
		fmt.Fprintf(log, "events posted: %d\n", found.Events)
	}
	left := s.notJudged(found)
	for _, line := range left {
		fmt.Fprintf(log, "%s\n", line)
	}
	return results(found, left), found.Verdict()
}

// notJudged returns lines that say where there is no verdict, and why.
func (s *Server) notJudged(found live.Found) []string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, line := range untold(found) {
		say("not judged: %s", line)
	}
	if len(s.settings.Except) > 0 {
		say("not judged, by %s: %d changes", strings.Join(s.settings.Except, ", "), found.Excepted)
	}
	for _, t := range found.Unjudged {
		say("not judged: %s", t)
	}
	if found.Misfit != "" {
		say("%s", found.Misfit)
	}
	if writers := s.writers(); len(writers) == 1 && found.Judged > 0 {
		say("not judged: what one writer does to another, for all changes are signed %q; if others write, too, each "+
			"needs an access key id of its own", writers[0])
	}
	rows := slices.ContainsFunc(s.checker.Invariants(), func(inv invariant.Invariant) bool { return inv.Watch != nil })
	known := found.Judged > 0 || slices.ContainsFunc(found.Broken,
		func(b live.Broken) bool { return len(b.Changes) > 0 })
	switch {
	case found.Judged > 0 && found.Broken == nil && found.Verdict() == invariant.Unknown:
		say("too little was judged: see above")
	case !rows || known:
	case s.settings.RowsName != "":
		say("nothing was judged: --rows %s found no page and no lock", s.settings.RowsName)
	default:
		say("nothing was judged: found no row LOCK, and no page in a table that has one")
		say("hint: the rows of a cache have the keys pk and sk, and sk is META, LOCK or VER#...; others are known " +
			"by --rows FILE")
	}
	return lines
}

// writers returns the access key ids of the changes that are still kept, without --check-except and loads.
func (s *Server) writers() (all []string) {
	for _, c := range s.options.DB.Changes() {
		if c.Cause == ddbfake.CauseClient && !s.options.DB.Loaded(c.Request) &&
			!slices.Contains(all, c.Actor) && !slices.Contains(s.settings.Except, c.Actor) {
			all = append(all, c.Actor)
		}
	}
	return all
}

// Seen returns the part of the checked change log that is still kept, and the first violation. The result any reports
// whether some row was changed.
func (s *Server) Seen() (seen record.Watched, any bool) {
	found := s.found()
	seen = record.Watched{
		Name: Watched, About: "The traffic that isr-sim serve --check has seen.", Protocol: "programs",
		Seed: s.settings.Seed, Start: s.start, Evidence: engine.Evidence{Record: engine.Record{
			Changes: s.options.DB.Changes(), Schema: s.settings.Rows, Revalidate: s.settings.Revalidate,
		}}, Verdict: found.Verdict(),
	}
	for _, b := range found.Broken {
		if b.Verdict != seen.Verdict {
			continue
		}
		seen.Why = b.Why
		if b.Verdict == invariant.Violated {
			seen.Invariant = engine.Invariant{Name: b.Invariant.Name, Statement: b.Invariant.Statement}
			seen.Evidence.History = b.Events
			for _, change := range b.Changes {
				seen.Finding.Changes = append(seen.Finding.Changes, change.Seq)
			}
			for _, e := range b.Events {
				seen.Finding.Events = append(seen.Finding.Events, e.Seq)
			}
			// verdict, statement and reason come before
			for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n")[3:] {
				seen.Lines = append(seen.Lines, strings.TrimSpace(line))
			}
		}
		break
	}
	return seen, len(seen.Evidence.Changes) > 0
}

// untold lists the invariants that judged nothing. Invariants that lack the same facts share a line.
func untold(found live.Found) []string {
	var reasons []string
	of := map[string][]string{}
	for _, line := range found.Untold {
		name, why, _ := strings.Cut(line, ": ")
		if of[why] == nil {
			reasons = append(reasons, why)
		}
		of[why] = append(of[why], name)
	}
	for i, why := range reasons {
		reasons[i] = strings.Join(of[why], ", ") + ": " + why
	}
	return reasons
}

// results returns the machine-readable results: one per finding. Without findings there is one result for everything
// judged, with the lines that the server has printed about it.
func results(found live.Found, told []string) []verdicts.Result {
	var all []verdicts.Result
	for _, b := range found.Broken {
		r := verdicts.Result{
			Scenario: Watched, Verdict: verdicts.Verdict(b.Verdict.String()), Message: b.Why, Details: b.String(),
		}
		if r.Verdict == verdicts.Violated {
			r.Invariant, r.Statement = b.Invariant.Name, b.Invariant.Statement
		}
		all = append(all, r)
	}
	if len(all) > 0 {
		return all
	}
	return []verdicts.Result{{
		Scenario: Watched, Verdict: verdicts.Verdict(found.Verdict().String()), Passed: found.Verdict() == invariant.OK,
		Message: strings.Join(told, "\n"),
	}}
}
