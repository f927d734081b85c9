package campaign_test

import (
	"fmt"
	"testing"

	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// TestShrinkDropsWhatHappensAtATime: of all that happens at a time, the pause that matters is left, and the file that is
// left can be read and violates the same.
func TestShrinkDropsWhatHappensAtATime(t *testing.T) {
	s, err := scenario.Parse("events.yaml", []byte(`
name: events
max-clock-skew: 1s
cache: {lease: 10s, revalidate: 60s, render: 3s}
actors:
  - {name: alice, script: [get /home], events: [clock +1s at 500ms, pause at 1s for 20s, crash at 40s, restart at 50s]}
  - {name: bob, script: [sleep 13s, change /home, get /home, sleep 40s], events: [pause at 40s for 2s, clock -1s at 45s]}
faults:
  - throttled op=GetItem actor=bob from 13s to 14s times=1
  - cut-off from 41s to 42s
  - latency 20ms-2s op=GetItem
bounds: {ticks: 0}
`))
	if err != nil {
		t.Fatal(err)
	}
	p := scenariotest.Protocol(t, "blind-publish")
	r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
	if r.Verdict != invariant.Violated {
		t.Fatal("nothing is violated")
	}
	run := scenario.Run{Scenario: s, Protocol: p, Seed: r.Failure.Result.Seed, Strategy: sim.Replay(r.Failure.Result.Choices)}
	shrunk := shrink(t, campaign.Shrink{Failed: run})
	text := yamlOf(t, shrunk.Scenario)
	again, err := scenario.Parse("shrunk.yaml", []byte(text))
	if err != nil {
		t.Fatalf("the shrunk file:\n%s\n%v", text, err)
	}
	var left []string
	for _, a := range again.Actors {
		for _, e := range a.Events {
			left = append(left, fmt.Sprint(a.Name, " ", e.Kind))
		}
	}
	if len(left) != 1 || left[0] != "alice pause" || len(again.Faults) > 0 {
		t.Errorf("left are %v and %v, want alice's pause:\n%s", left, again.Faults, text)
	}
	o, err := again.Replay.Run(again, p).Do(t.Context())
	if err != nil || o.Violation == nil || o.Violation.Invariant.Name != r.Failure.Violation.Invariant.Name {
		t.Errorf("the shrunk file replays as %+v, %v", o, err)
	}
}
