package scenario

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/probe"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

const lagging = `
name: lagging
protocol: recipe-a
cache: {lease: 5s, revalidate: 20s, retention: 5s, ttl-buffer: 4s, render: 1s, contention: wait}
compare-lags: [at-once, 1h, 48h, never]
actors:
  - {name: alice, script: [get /home, sleep 28s, get /home, sleep 50h, get /home], crashes: 1, restarts: 1}
  - {name: bob, script: [sleep 2s, get /home, sleep 7s, get /home, sleep 50h, get /home], pauses: 3, pause-for: 1s}
settle: 30s
reach: [ttl-deletion, expired-row-read]
bounds: {ticks: 6, schedules: 200}
`

// compared runs schedules, and returns how many of them the lags have come to something else, and in how many to
// something that does not fit the schedule.
func compared(t *testing.T, protocol string) (differ, diverged int) {
	t.Helper()
	s, err := Parse("f.yaml", []byte(lagging))
	if err != nil {
		t.Fatal(err)
	}
	p, err := ProtocolNamed(protocol)
	if err != nil {
		t.Fatal(err)
	}
	plan, stage := sim.Only(sim.RandomWalk), newStage()
	defer stage.close()
	for i := range 200 {
		run := Run{Scenario: s, Protocol: p, Seed: sim.Derive(1, i), Strategy: plan.At(i), ExpectedSteps: 60, stage: stage, probe: &probe.Probe{}}
		w, o, err := run.perform(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		mine := decisions(w.history.Events())
		lags, err := run.underOtherLags(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(lags) != len(s.CompareLags) {
			t.Fatalf("%d lags were compared, want %d", len(lags), len(s.CompareLags))
		}
		switch {
		case slices.ContainsFunc(lags, func(l invariant.Lagged) bool { return l.Diverged != "" }):
			diverged++
		case slices.ContainsFunc(lags, func(l invariant.Lagged) bool { return !slices.Equal(decisions(l.History), mine) }):
			differ++
			if protocol == recipe.Reference().Name {
				for _, l := range lags {
					t.Errorf("schedule %d, %s (-own lag +this):\n%s", i, l.Lag, cmp.Diff(mine, decisions(l.History)))
				}
			}
		}
	}
	return differ, diverged
}

// decisions is a history without what deletions by TTL change of it.
func decisions(events []history.Event) []history.Event {
	events = slices.Clone(events)
	for i := range events {
		events[i].Change = 0
	}
	return events
}

func TestTheReferenceDecidesTheSameUnderEveryLag(t *testing.T) {
	if differ, diverged := compared(t, recipe.Reference().Name); differ+diverged > 0 {
		t.Errorf("of 200 schedules, %d come to something else under another lag and %d do not fit", differ, diverged)
	}
}

// A lock that is free only when TTL has deleted it makes a cache wait that would not have to.
func TestAProtocolThatWaitsForTTLIsSeenUnderOtherLags(t *testing.T) {
	if differ, diverged := compared(t, "acquire-waits-for-ttl"); differ == 0 || diverged == 0 {
		t.Errorf("of 200 schedules, %d come to something else under another lag and %d do not fit; want some of both", differ, diverged)
	}
}

func TestComparedLagsAreParsed(t *testing.T) {
	s, err := Parse("f.yaml", []byte(lagging))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(texts(s.CompareLags), ", "), "at-once, fixed 1h0m0s, fixed 48h0m0s, never"; got != want {
		t.Errorf("the lags print %q, want %q", got, want)
	}
	for _, test := range []struct{ old, new, problem, hint string }{
		{"[at-once, 1h, 48h, never]", "[at-once]\nttl-lag: scheduler", "found lags to compare with that of the scheduler", "leave ttl-lag out"},
		{"48h", "manual", `a scenario has no command to sweep`, "such as: [at-once, 1h, 48h, never]"},
		{"48h", "soon", `ttl lag "soon"`, "such as: [at-once, 1h, 48h, never]"},
		{"[at-once, 1h, 48h, never]", "never", "expected a list", ""},
	} {
		_, err := Parse("f.yaml", []byte(strings.Replace(lagging, test.old, test.new, 1)))
		if err == nil || !strings.Contains(err.Error(), test.problem) || !strings.Contains(err.Error(), test.hint) {
			t.Errorf("%s: %v\nwant it to say %q and %q", test.new, err, test.problem, test.hint)
		}
	}
}
