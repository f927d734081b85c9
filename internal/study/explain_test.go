package study_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/study/explain"
)

// TestExplainTakesAwayWhatNeedNotHaveHappened: the pause that a stale writer needs is named as needed, and no later
// event is.
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
	report, err := campaign.Campaign{
		Scenario: s, Protocol: scenariotest.Protocol(t, "blind-publish"), Seed: 1,
	}.Run(t.Context())
	if err != nil || report.Failure == nil {
		t.Fatalf("report %+v, error %v; want a violation", report, err)
	}
	run := kernel.Replay(report.Failure.Replay(), s, report.Protocol)
	x := scenariotest.Ran(t, explain.Explain{Failed: run, Tails: 50})
	printed := x.Text(true)
	needed := 0
	for _, e := range x.Events {
		if e.What == "alice pause" {
			if !e.Needed() || e.Violated != 0 || e.Rest {
				t.Errorf("without the pause: %+v\n%s", e, printed)
			}
			needed++
		}
	}
	if !strings.Contains(printed, ", alice pause: without it 0 of 50 (0.0% to 7.1%), with it ") || needed != 1 {
		t.Errorf("the pause is named %d times:\n%s", needed, printed)
	}
	if x.Last < 0 || x.Last > x.Sealed || !strings.Contains(printed,
		fmt.Sprintf("\nlast jump: step %d (", x.Steps[x.Last].N)) {
		t.Errorf("the last jump is at %d, certain from %d on:\n%s", x.Last, x.Sealed, printed)
	}
}

// TestExplainTakesAwayEachKind: faults, deletions, crashes and steps of clocks are tried as events, but steps that must
// happen are not.
func TestExplainTakesAwayEachKind(t *testing.T) {
	effort.Long(t)
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
	for seed := range effort.Fewer[uint64](300, 60) {
		run := kernel.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "blind-release"), Seed: seed}
		var text strings.Builder
		run.Trace = &text
		o, err := run.Do(t.Context())
		if err != nil || o.Verdict != invariant.Violated {
			continue
		}
		run.Trace, run.Strategy = nil, strategy.Replay(o.Result.Choices)
		x := scenariotest.Ran(t, explain.Explain{Failed: run, Tails: 2})
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
			if strings.HasPrefix(e.What, "fault ") || strings.Contains(e.What, " gives way to ") ||
				strings.HasSuffix(e.What, "clock error") {
				kind, _, _ = strings.Cut(kind, " ")
			}
			kind, _, _ = strings.Cut(kind, ": ") // the step of a source says what it did
			kinds[kind] = true
			switch kind {
			case "response-lost", "throttled", "gives", "tick":
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
	for _, kind := range []string{"pause", "crash", "restart", "clock-step", "orphan", "external", "tick",
		"response-lost", "gives"} {
		if !kinds[kind] {
			t.Errorf("no %s was taken away: %v", kind, kinds)
		}
	}
}

func TestThereIsNothingToExplainInARunThatIsOK(t *testing.T) {
	run := kernel.Run{Scenario: scenariotest.Embedded(t, "paused-writer"),
		Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: 1, Strategy: strategy.Replay(nil)}
	_, err := explain.Explain{Failed: run}.Run(t.Context())
	if e, ok := errors.AsType[*campaign.NotViolatedError](err); !ok || e.Verdict != invariant.OK {
		t.Errorf("error %v, want a NotViolatedError of the verdict ok", err)
	}
	run.Strategy = strategy.Replay(sim.Choices{99})
	_, err = explain.Explain{Failed: run}.Run(t.Context())
	if _, ok := errors.AsType[*sim.DivergedError](err); !ok {
		t.Errorf("error %v, want a DivergedError", err)
	}
}

func TestExplainMarksTheStepThatSealedIt(t *testing.T) {
	effort.Long(t)
	s, p := scenariotest.Embedded(t, "two-contenders"), scenariotest.Protocol(t, "acquire-by-get-then-put")
	report := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
	if report.Verdict != invariant.Violated {
		t.Fatalf("%v, want a violation to explain", report.Verdict)
	}
	shrunk := scenariotest.Ran(t, campaign.Shrink{Failed: kernel.Replay(report.Failure.Replay(), s, p)})
	run, err := kernel.Recorded(shrunk.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	run.Steps = 0 // including later steps, which do not matter
	explained := func(processors int) *explain.Explanation {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		x := scenariotest.Ran(t, explain.Explain{Failed: run, Tails: 50})
		return x
	}
	x := explained(1)
	if one, eight := x.Text(true), explained(8).Text(true); one != eight {
		t.Errorf("on 1 and on 8 processors (-1 +8):\n%s", cmp.Diff(one, eight))
	}
	// The second put of the lock takes it away from its holder. The decisive step cannot be later than this put, nor
	// earlier than the step by which both have seen the lock free.
	puts, reads := 0, 0
	for i, s := range x.Steps {
		if s.N != i+1 {
			t.Fatalf("step %d is numbered %d", i+1, s.N)
		}
		if strings.Contains(s.Text, "effect      GetItem LOCK") && i < x.Sealed {
			reads++
		}
		if strings.Contains(s.Text, "effect      PutItem LOCK") && i < x.Sealed {
			puts++
		}
	}
	if reads < 1 || puts > 1 {
		t.Errorf("sealed at step %d, after %d reads and %d puts of the lock:\n%s", x.Sealed+1, reads, puts,
			x.Text(true))
	}
	for _, s := range x.Steps[x.Sealed:] {
		if s.Violated != x.Tails {
			t.Errorf("step %d is after the one that sealed it, and %d of %d tails violate", s.N, s.Violated, x.Tails)
		}
	}
	if x.Sealed > 0 && x.Steps[x.Sealed-1].Violated == x.Tails {
		t.Error("the step before the one that sealed it was certain, too")
	}
	if all, few := strings.Count(x.Text(true), "\n"), strings.Count(x.Text(false), "\n"); few >= all {
		t.Errorf("%d lines of all steps, and %d of those that matter", all, few)
	}
}
