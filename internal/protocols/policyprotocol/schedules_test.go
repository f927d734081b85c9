package policyprotocol_test

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/policyprotocol"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// steadyReads is the scenario in which policies differ.
func steadyReads(t *testing.T) *spec.Scenario {
	t.Helper()
	data, err := fixtures.Read("steady-reads")
	must.OK(t, err)
	s, err := spec.Parse("steady-reads.yaml", data)
	must.OK(t, err)
	return s
}

// TestPoliciesKeepTheInvariantsOrNameTheOneThatTheyBreak also replays each violation from its seed and choices.
func TestPoliciesKeepTheInvariantsOrNameTheOneThatTheyBreak(t *testing.T) {
	s := steadyReads(t)
	schedules := effort.Fewer(1000, 300)
	for _, p := range policyprotocol.All() {
		t.Run(p.Name, func(t *testing.T) {
			r, err := campaign.Campaign{
				Scenario: s, Protocol: p, Seed: 1, Schedules: schedules, Options: kernel.Options{Only: p.Breaks},
			}.Run(t.Context())
			switch {
			case err != nil:
				t.Fatal(err)
			case p.Breaks == "" && r.Verdict != invariant.OK:
				t.Error(prose.Report(r, "isr-sim", s.Name))
			case p.Breaks == "":
				return
			case r.Verdict != invariant.Violated:
				t.Fatalf("verdict %v after %d schedules, want %s violated", r.Verdict, r.Schedules, p.Breaks)
			}
			again, err := kernel.Replay(r.Failure.Replay(), s, p).Do(t.Context())
			must.OK(t, err)
			if again.Violation == nil || again.Verdict != invariant.Violated {
				t.Errorf("the replay comes to %v, want a violation", again.Verdict)
			}
		})
	}
}

// TestABugInAnEarlyRefreshIsFound: the rows hold the time from which on a page may be made again, so a page that is
// made twice can be seen.
func TestABugInAnEarlyRefreshIsFound(t *testing.T) {
	r := scenariotest.Ran(t, campaign.Campaign{
		Scenario: steadyReads(t), Protocol: policyprotocol.Hasty(), Seed: 1, Options: kernel.Options{
			Only: "single-flight",
		},
	})
	if r.Verdict != invariant.Violated {
		t.Errorf("%v after %d schedules, want single-flight violated", r.Verdict, r.Schedules)
	}
}

// replaced is the line of a trace that shows a page being replaced.
var replaced = regexp.MustCompile(`META of /home: body \S+ generated \+(\S+) .* => body \S+ generated \+(\S+) `)

// refreshes counts the pages in a run that were made again before the end of their window, and those made after it.
func refreshes(t *testing.T, s *spec.Scenario, p isr.Protocol, seed uint64) (early, late int) {
	t.Helper()
	var b bytes.Buffer
	must.Done(t)(kernel.Run{
		Scenario: s, Protocol: p, Seed: seed, Strategy: strategy.POS, ExpectedSteps: 120, Trace: &b,
	}.Do(t.Context()))
	for _, times := range replaced.FindAllStringSubmatch(b.String(), -1) {
		from, err1 := time.ParseDuration(times[1])
		to, err2 := time.ParseDuration(times[2])
		switch {
		case err1 != nil || err2 != nil:
			t.Fatalf("found %q", times[0])
		case from == to: // only the window has become longer
		case to-from < s.Cache.Revalidate:
			early++
		default:
			late++
		}
	}
	return early, late
}

// TestPagesAreMadeAgainEarly: a campaign in which no page is made again early has tested no early refresh. Under
// xfetch, some runs must have an early one, and some a late one.
func TestPagesAreMadeAgainEarly(t *testing.T) {
	const runs = 60
	s := steadyReads(t)
	for policy, want := range map[string]struct{ early, late int }{ // the least number of runs with each
		"policy-absolute":      {0, runs / 2},
		"policy-swr":           {0, runs / 2},
		"policy-refresh-ahead": {runs / 2, 0},
		"policy-xfetch":        {runs / 10, runs / 10},
	} {
		p := scenariotest.Protocol(t, policy)
		inEarly, inLate := 0, 0
		for seed := range uint64(runs) {
			early, late := refreshes(t, s, p, seed)
			inEarly += min(early, 1)
			inLate += min(late, 1)
		}
		if inEarly < want.early || inLate < want.late || want.early == 0 && inEarly > 0 {
			t.Errorf("%s: a page is made again early in %d of %d runs, and late in %d; want %d and %d", policy, inEarly,
				runs, inLate, want.early, want.late)
		}
	}
}
