package campaign_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/internal/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// TestExplainTakesAwayWhatNeedNotHaveHappened holds that the pause which a stale writer needs is named as such, and nothing
// that came after it.
func TestExplainTakesAwayWhatNeedNotHaveHappened(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: one-pause
actors:
  - name: alice
    script: [get /home]
    pauses: 1
    pause-for: 11s
  - name: bob
    script: [get /home, get /home]
bounds: {ticks: 0}
`)
	report, err := campaign.Campaign{Scenario: s, Protocol: scenariotest.Protocol(t, "blind-publish"), Seed: 1}.Run(t.Context())
	if err != nil || report.Failure == nil {
		t.Fatalf("report %+v, error %v; want a violation", report, err)
	}
	run := report.Failure.Replay().Run(s, report.Protocol)
	x, err := campaign.Explain{Failed: run, Tails: 50}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	printed := prose.Explanation(x, true)
	needed := 0
	for _, e := range x.Events {
		if e.What == "alice pause" {
			if !e.Needed() || e.Violated != 0 || e.Rest {
				t.Errorf("without the pause: %+v\n%s", e, printed)
			}
			needed++
		}
	}
	if needed != 1 || !strings.Contains(printed, ", alice pause: 0 of 50, and not by the same schedule: needed\n") {
		t.Errorf("the pause is named %d times:\n%s", needed, printed)
	}
	if x.Last < 0 || x.Last > x.Sealed || !strings.Contains(printed, fmt.Sprintf("\nlast jump: step %d (", x.Steps[x.Last].N)) {
		t.Errorf("the last jump is at %d, certain from %d on:\n%s", x.Last, x.Sealed, printed)
	}
}

// TestExplainTakesAwayEachKind takes away faults, deletions, crashes and steps of clocks, and leaves out what must happen.
func TestExplainTakesAwayEachKind(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: all-kinds
actors:
  - name: alice
    script: [get /home, sleep 2s, get /home]
    crashes: 1
    restarts: 1
    clock: {steps: [1s]}
  - name: bob
    script: [get /home]
    pauses: 1
faults: [throttled op=Scan, maybe response-lost op=PutItem]
cache: {lease: 1s, revalidate: 1s, retention: 1s, ttl-buffer: 1s}
ttl-lag: scheduler
bounds: {ticks: 6}
max-clock-skew: 1s
`)
	kinds := map[string]bool{}
	for seed := range race.Fewer[uint64](300, 60) {
		run := scenario.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "blind-release"), Seed: seed}
		var text strings.Builder
		run.Trace = &text
		o, err := run.Do(t.Context())
		if err != nil || o.Verdict != invariant.Violated {
			continue
		}
		run.Trace, run.Strategy = nil, sim.Replay(o.Result.Choices)
		x, err := campaign.Explain{Failed: run, Tails: 2}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		optional := 0
		for _, step := range x.Steps {
			words := strings.Fields(step.Text)
			switch words[3] {
			case "pause", "crash", "restart", "clock-step", "orphan", "external":
				optional++
			}
		}
		for _, e := range x.Events {
			_, kind, _ := strings.Cut(e.What, " ")
			kinds[kind] = true
			switch kind {
			case "response-lost", "tick":
			default:
				optional--
			}
			if kind == "tick" && !x.Steps[e.Step].Chosen {
				t.Errorf("seed %d: time is said to have moved early at %q", seed, x.Steps[e.Step].Text)
			}
		}
		if optional != 0 {
			t.Errorf("seed %d: %d optional steps are missing among %+v\n%s", seed, optional, x.Events, text.String())
		}
	}
	for _, kind := range []string{"pause", "crash", "restart", "clock-step", "orphan", "external", "tick", "response-lost"} {
		if !kinds[kind] {
			t.Errorf("no %s was taken away: %v", kind, kinds)
		}
	}
}
