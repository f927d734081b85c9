package audit_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/audit"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/audit/evidence/evidencetest"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// recordOf is a change's record in a file with the whole stream. Package evidence tests that the stream has it.
func recordOf(c ddbfake.Change) evidence.Record {
	r := evidencetest.Of(&c)
	r.Place = evidence.Place{File: "stream", Line: c.Seq}
	return r
}

func recordsOf(changes []ddbfake.Change) (all []evidence.Record) {
	for _, c := range changes {
		all = append(all, recordOf(c))
	}
	return all
}

// exported are the records of an incremental export: the first and the last image of each row.
func exported(changes []ddbfake.Change) (all []evidence.Record) {
	at := map[string]int{}
	for _, c := range changes {
		key := c.Region + c.Table + c.Key.String()
		i, known := at[key]
		if !known {
			i, at[key] = len(all), len(all)
			all = append(all, recordOf(c))
			all[i].Net, all[i].Sequence, all[i].ID = true, "", ""
		}
		all[i].After, all[i].Time = c.After, c.Time.Truncate(time.Second)
	}
	return all
}

// options are those with which an audit of a scenario's table is asked for.
func options(s *spec.Scenario) audit.Options {
	return audit.Options{Rows: s.Rows,
		Promise: invariant.Promise{MaxClockSkew: s.Skew, Revalidate: s.Cache.Revalidate, Recipe: true}}
}

func audited(t *testing.T, o audit.Options, records []evidence.Record) audit.Result {
	t.Helper()
	j, err := audit.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		j.Take(&records[i])
	}
	j.End()
	return j.Result()
}

// scenarios are all embedded ones.
func scenarios(t *testing.T) []*spec.Scenario {
	t.Helper()
	all, err := catalog.LoadAll(slices.Concat(fixtures.Names(), fixtures.Museum()))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// shown are the mutants in which an audit finds, from the stream alone, the invariant that the mutant names. The others
// break what rows do not show (audit.Result.NotJudged, audit.Outcome.Hidden).
const shown = `
acquire-a-second-early lock-theft
acquire-by-get-then-put lock-theft
heartbeat-after-release lock-theft
lease-in-milliseconds lock-theft
lock-ttl-in-milliseconds ttl-well-formed
lock-ttl-too-short ttl-well-formed
meta-ttl-too-short ttl-well-formed
old-stock-published monotonic-publication
version-ttl-too-short no-dangling-pointer
`

// A stream shows a violation only where the run has one, and the mutants that it shows are known.
func TestStreamsTellWhatRunsTell(t *testing.T) {
	effort.Long(t)
	found := map[string]bool{}
	times := effort.Fewer(20, 8)
	exports, made := 0, 0
	judge := func(s *spec.Scenario, p isr.Protocol) {
		scenariotest.Logs(t, s, p, times, func(changes []ddbfake.Change, run *kernel.Outcome) bool {
			result := audited(t, options(s), recordsOf(changes))
			for _, o := range result.Outcomes {
				broken := slices.Contains(run.Broken, o.Invariant)
				if o.Verdict == invariant.Violated && !broken {
					t.Errorf("%s of %s: the audit finds %s violated, and the run does not: %v", p.Name, s.Name,
						o.Invariant, result.Findings)
				}
				if o.Verdict == invariant.Violated && p.Breaks == o.Invariant {
					found[p.Name+" "+o.Invariant] = true
				}
			}
			if o := result.NotJudged["stale-writer"]; o == "" {
				t.Errorf("a stream does not say who published, and the audit does not say so")
			}
			for _, f := range result.Findings {
				if f.Invariant == "the history" {
					t.Errorf("%s of %s: the whole stream has a gap: %v", p.Name, s.Name, f)
				}
			}
			if made++; made%10 != 1 { // files take a while
				return true
			}
			for _, o := range audited(t, options(s), read(t, export(t, exported(changes)))).Outcomes {
				switch judged := o.Invariant == "ttl-well-formed"; {
				case o.Verdict == invariant.Violated && !slices.Contains(run.Broken, o.Invariant),
					o.Verdict == invariant.OK && !judged:
					t.Errorf("%s of %s: by an export, %s is %v", p.Name, s.Name, o.Invariant, o.Verdict)
				case o.Verdict == invariant.Violated:
					exports++
				}
			}
			return true
		})
	}
	for _, s := range scenarios(t) {
		own, err := kernel.ProtocolNamed(s.Protocol)
		if err != nil {
			t.Fatal(err)
		}
		judge(s, own)
		for _, m := range mutant.All() {
			if s.Broken == m.Name || slices.Contains(s.Catches, m.Name) {
				judge(s, m)
			}
		}
	}
	if exports == 0 {
		t.Error("no export has shown a violation")
	}
	for line := range strings.Lines(strings.TrimSpace(shown)) {
		if line = strings.TrimSpace(line); !found[line] {
			t.Errorf("the audit does not find %s", line)
		}
		delete(found, line)
	}
	for line := range found {
		t.Errorf("the audit finds %s, which is not listed", line)
	}
}
