package audit_test

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/audit"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func everything() ([]*kernel.Scenario, error) {
	return catalog.LoadAll(append(fixtures.Names(), fixtures.Museum()...))
}

// recordOf is the record that a stream has of a change.
func recordOf(c ddbfake.Change) evidence.Record {
	return evidence.Record{
		Table: c.Table, Region: c.Region, Key: c.Key, Before: c.Before, After: c.After, Images: true,
		Time: c.Time.Truncate(time.Second), Unit: time.Second, Sequence: evidence.Sequence(fmt.Sprint(c.Seq)),
		ID: fmt.Sprintf("event-%d", c.Seq), TTL: c.Cause == ddbfake.CauseTTL, Place: evidence.Place{File: "stream", Line: c.Seq},
	}
}

func audited(t *testing.T, s *kernel.Scenario, changes []ddbfake.Change) audit.Result {
	j, err := audit.New(audit.Options{Rows: s.Rows,
		Promise: invariant.Promise{MaxClockSkew: s.Skew, Revalidate: s.Cache.Revalidate, Recipe: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		r := recordOf(c)
		j.Take(&r)
	}
	j.End()
	return j.Result()
}

func TestExplore(t *testing.T) {
	all, err := everything()
	if err != nil {
		t.Fatal(err)
	}
	stat := map[string]int{}
	for _, m := range mutant.All() {
		for _, s := range all {
			if s.Broken != m.Name && !slices.Contains(s.Catches, m.Name) {
				continue
			}
			explore(t, s, m, stat)
		}
	}
	for _, s := range all {
		p, err := kernel.ProtocolNamed(s.Protocol)
		if err != nil {
			t.Fatal(err)
		}
		explore(t, s, p, stat)
	}
	var keys []string
	for k := range stat {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Println(stat[k], k)
	}
}

func explore(t *testing.T, s *kernel.Scenario, p isr.Protocol, stat map[string]int) {
	var logs [][]ddbfake.Change
	_ = logs
	var changes []ddbfake.Change
	run := kernel.Run{Scenario: s, Protocol: p, Seed: 1}
	run.Invariants = []invariant.Invariant{{Name: "log", Statement: "is kept", Check: func(ev invariant.Evidence) invariant.Finding {
		changes = ev.Changes
		return invariant.Finding{Verdict: invariant.OK}
	}}}
	set, err := schedules.New(run, strategy.Plan{}, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	set.All(context.Background(), func(a schedules.Attempt) bool {
		if a.Err != nil {
			t.Fatal(a.Err)
		}
		res := audited(t, s, changes)
		for _, o := range res.Outcomes {
			inRun := slices.Contains(a.Outcome.Broken, o.Invariant)
			switch {
			case o.Verdict == invariant.Violated && !inRun:
				stat[fmt.Sprintf("FALSE %s %s %s", o.Invariant, s.Name, p.Name)]++
				if stat[fmt.Sprintf("FALSE %s %s %s", o.Invariant, s.Name, p.Name)] == 1 {
					for _, f := range res.Findings {
						if f.Invariant == o.Invariant && f.Verdict == invariant.Violated {
							fmt.Println(s.Name, p.Name, f.Invariant, f.Why, a.Outcome.Verdict, a.Outcome.Broken)
							for _, st := range f.Steps {
								fmt.Println("    ", st)
							}
							break
						}
					}
				}
			case o.Verdict != invariant.Violated && inRun:
				stat[fmt.Sprintf("missed %s %s %s", o.Invariant, s.Name, p.Name)]++
			case inRun:
				stat["same "+o.Invariant]++
			}
			if o.Doubts > 0 {
				stat[fmt.Sprintf("doubt %s %s %s", o.Invariant, s.Name, p.Name)]++
			}
		}
		if res.Misfit != "" {
			stat["misfit "+s.Name+" "+strings.Split(res.Misfit, "\n")[0]]++
		}
		for _, f := range res.Findings {
			if f.Invariant == "the history" {
				stat["gap "+s.Name+" "+p.Name]++
			}
		}
		return true
	})
}
