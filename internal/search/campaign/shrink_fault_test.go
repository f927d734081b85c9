package campaign_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// impatient is a client that, when a put fails by no condition, puts without one.
type impatient struct{ isr.Client }

func (c impatient) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	out, err := c.Client.PutItem(ctx, in, options...)
	if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); err == nil || refused {
		return out, err
	}
	again := *in
	again.ConditionExpression, again.ExpressionAttributeNames, again.ExpressionAttributeValues = nil, nil, nil
	return c.Client.PutItem(ctx, &again, options...)
}

// TestShrinkKeepsTheFaultThatMatters has a protocol that fails under one of many faults only, of an actor that is not
// the first.
func TestShrinkKeepsTheFaultThatMatters(t *testing.T) {
	s, err := scenario.Parse("faults.yaml", []byte(`
name: faults
cache: {lease: 10s, revalidate: 20s, render: 1s, attempts: 1, contention: wait}
actors:
  - {name: zoe, script: [sleep 1h, get /home]}
  - {name: alice, script: [get /home], pauses: 1}
  - {name: bob, script: [get /home, get /home], crashes: 1}
faults:
  - maybe response-lost op=TransactWriteItems
  - maybe error-after op=GetItem actor=zoe times=2
  - request-lost op=DeleteItem
  - maybe throttled op=PutItem key=LOCK actor=bob times=3
  - maybe throttled op=UpdateItem
bounds: {ticks: 2}
`))
	if err != nil {
		t.Fatal(err)
	}
	p := isr.Protocol{Name: "recipe-a", New: func(cfg isr.Config) (isr.Handler, error) {
		cfg.Client = impatient{cfg.Client}
		return pagecache.AsHandler(pagecache.New(cfg))
	}}
	r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
	if r.Verdict != invariant.Violated {
		t.Fatal("nothing is violated")
	}
	run := scenario.Run{Scenario: s, Protocol: p, Seed: r.Failure.Result.Seed, Strategy: sim.Replay(r.Failure.Result.Choices)}
	shrunk := shrink(t, campaign.Shrink{Failed: run})
	got := shrunk.Scenario
	if len(got.Faults) != 1 || got.Faults[0].String() != "maybe throttled op=PutItem key=LOCK actor=bob" {
		t.Errorf("faults %v, want the one that bob's put of the lock is throttled by", got.Faults)
	}
	if shrunk.After.Actors != 2 || shrunk.After.Commands != 2 || got.Cache.Attempts != 1 || got.Cache.Contention != isr.ServeStale {
		t.Errorf("shrunk to %v:\n%s", shrunk.After, yamlOf(t, got))
	}
	for _, a := range got.Actors {
		if a.Pauses+a.Crashes > 0 || a.Name == "zoe" {
			t.Errorf("actor %+v, want nothing to befall alice and bob", a)
		}
	}
}
