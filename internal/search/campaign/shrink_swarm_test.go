package campaign_test

import (
	"context"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

func TestARunOfASwarmShrinksToOneWithoutIt(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: swarmed
cache: {lease: 10s}
actors:
  - name: alice
    script: [get /home]
    pauses: 1
    pause-for: 15s
  - name: bob
    script: [sleep 11s, get /home]
faults:
  - maybe response-lost op=PutItem
  - maybe error-before op=TransactWriteItems
`)
	p := scenariotest.Protocol(t, "blind-release")
	r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1, Options: scenario.Options{Swarm: true}})
	if r.Verdict != invariant.Violated {
		t.Fatalf("%v, want a violation to shrink", r.Verdict)
	}
	shrunk := shrink(t, campaign.Shrink{Failed: r.Failure.Replay().Run(s, p)})
	if shrunk.Scenario.Replay.Swarm || shrunk.Scenario.Replay.Violates != r.Failure.Violation.Invariant.Name {
		t.Errorf("shrunk to %+v, want no swarm, and the same invariant", shrunk.Scenario.Replay)
	}
	run, err := shrunk.Scenario.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	o, err := run.Do(context.Background())
	if err != nil || o.Verdict != invariant.Violated {
		t.Errorf("the shrunk scenario replays to %+v (%v), want a violation", o, err)
	}
}
