package campaign

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
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
bounds: {ticks: 0, schedules: 200}
`

// Marks count even if only the runs under other lags reach them. A probe sees only the schedule's own run.
func TestComparedLagsAreRunsOfTheSameSchedule(t *testing.T) {
	effort.Long(t)
	s := scenariotest.Parsed(t, lagging)
	r := scenariotest.Ran(t, Campaign{Scenario: s, Seed: 1})
	if !r.Passed() {
		t.Errorf("got %s, missing %v, unmet %v", r.Summary(), r.Missing, r.Unmet)
	}
	alone := clone(s)
	alone.CompareLags, alone.Reach = []ddbfake.Lag{ddbfake.LagNever}, nil
	a := scenariotest.Ran(t, Campaign{Scenario: alone, Seed: 1})
	all, one := exchanges(t, s), exchanges(t, alone)
	if a.Steps != r.Steps || one != all {
		t.Errorf("%d steps and %d exchanges with four lags, %d and %d with one", r.Steps, all, a.Steps, one)
	}
}

const ending = `
name: ending
protocol: fence-in-lock-row
cache: {lease: 10s, ttl-buffer: 1m, patience: 1, attempts: 1}
ttl-lag: fixed 10m
compare-lags: [at-once, never]
actors:
  - {name: alice, script: [get /home]}
  - {name: bob, script: [get /home]}
bounds: {ticks: 1}
`

// A search compares no lags. So its time stops where the lag of the scenario ends, as it does without compare-lags, and
// it finds the lock that needs its row. The schedule replays.
func TestASearchGoesToTheEndOfALag(t *testing.T) {
	s := scenariotest.Parsed(t, ending)
	p := scenariotest.Ran(t, Prove{Scenario: s, Protocol: scenariotest.Protocol(t, s.Protocol), Seed: 1})
	if p.Failure == nil || p.Failure.Violation.Invariant.Name != "stale-writer" {
		t.Fatalf("%s, want a violation of stale-writer", p.Summary())
	}
	found := inside.In(p.Failure).Result
	run := scenario.Run{Scenario: s, Protocol: p.Protocol, Seed: 1, Strategy: sim.Replay(found.Choices),
		Options: scenario.Options{AllStops: true}}
	again, err := run.Do(t.Context())
	if err != nil || again.Verdict != p.Verdict || inside.In(again).Result.Steps != found.Steps {
		t.Errorf("the replay is %v (%v), want the violation again", again, err)
	}
}

// exchanges counts the exchanges of one run.
func exchanges(t *testing.T, s *scenario.Scenario) int {
	t.Helper()
	recorded := hooks.Probe{Record: true}
	must.Done(t)(scenario.Run{Scenario: s, Protocol: recipe.Reference(), Seed: 1}.Do(hooks.With(t.Context(),
		&recorded)))
	return len(recorded.Exchanges)
}

// grabbing is a client that takes each lock that it sees. It sees those of which a replica has heard.
type grabbing struct{ isr.Client }

func (g grabbing) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	out, err := g.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: in.TableName, Key: map[string]types.AttributeValue{"pk": in.Item["pk"], "sk": in.Item["sk"]},
	})
	if err != nil {
		return nil, err
	}
	if out.Item != nil {
		in = &dynamodb.PutItemInput{TableName: in.TableName, Item: in.Item}
	}
	return g.Client.PutItem(ctx, in, o...)
}

// Replicas hear of a lock within the last second of its lease. A search goes there.
func TestASearchGoesToWhereReplicasHear(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: hearing
cache: {lease: 2s, patience: 1, attempts: 1}
replica-lag: 1500ms
actors:
  - {name: alice, script: [get /home]}
  - {name: bob, script: [get /home]}
bounds: {ticks: 1}
`)
	grabs := isr.Protocol{Name: "grabs", New: func(cfg isr.Config) (isr.Handler, error) {
		cfg.Client = grabbing{cfg.Client}
		return recipe.New(cfg)
	}}
	p := scenariotest.Ran(t, Prove{Scenario: s, Protocol: grabs, Seed: 1})
	if p.Failure == nil || p.Failure.Violation.Invariant.Name != "lock-theft" {
		t.Errorf("%s, want a violation of lock-theft", p.Summary())
	}
}
