package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func TestThereIsARunForEachPossibleDependencyFault(t *testing.T) {
	faults := "maybe body-put-failed, maybe body-put-lost actor=alice times=2, maybe body-get-failed times=always, " +
		"maybe origin-failed"
	s := scenariotest.Parsed(t, scenariotest.Troubled(faults))
	if got := strings.Join(schedules.FaultTexts(s.Faults), ", "); got != faults {
		t.Errorf("the faults print %q, want %q", got, faults)
	}
	r := scenariotest.Ran(t, Campaign{Scenario: s, Seed: 1})
	if !r.Passed() {
		t.Errorf("got %s, missing %v, unmet %v", r.Summary(), r.Missing, r.Unmet)
	}
	for _, fault := range mark.DependencyFaults() {
		if !slices.Contains(r.Reached(), spec.Mark(fault)) {
			t.Errorf("no schedule met %s", fault)
		}
	}
}

// A fault that strikes the second call makes the order of the calls matter. A search must see that: sleep sets leave
// out no state.
func TestSearchesCountDependencyFaults(t *testing.T) {
	for _, faults := range []string{"maybe origin-failed, maybe body-put-lost",
		"body-put-failed nth=2, throttled op=PutItem nth=2"} {
		s := scenariotest.Parsed(t, strings.Replace(scenariotest.Troubled(faults), "sleep 1s, ", "", 1))
		plain := scenariotest.Ran(t, Prove{Scenario: s, off: sim.SleepSets | sim.PersistentSets})
		reduced := scenariotest.Ran(t, Prove{Scenario: s, off: sim.PersistentSets})
		if !plain.Explored.Complete || !reduced.Explored.Complete || plain.Explored.States != reduced.Explored.States ||
			reduced.Verdict != invariant.OK {
			t.Errorf("%s: %+v without sleep sets, %+v with them", faults, plain.Explored, reduced.Explored)
		}
	}
}

// settled is a cache in which alice changes something other than rows, leaves a note, and is done. One of her requests
// may be lost. If bob finds the note but not the change, he leaves a wrong row behind.
func settled(
	change func(context.Context, doing) error, changed func(context.Context, doing) (bool, error),
) isr.Protocol {
	return does(func(ctx context.Context, h doing, key string) error {
		note := pagecache.Key(isr.PartitionKey("", key), "NOTE")
		noted, err := h.has(ctx, h.cfg.Table, note)
		if h.name() == "alice" {
			if err == nil {
				_ = change(ctx, h)
			}
			return h.put(ctx, h.cfg.Table, note)
		}
		if err != nil || !noted {
			return err
		}
		if is, err := changed(ctx, h); is || err != nil {
			return err
		}
		return h.wrong(ctx, key)
	})
}

// Tables and their settings count after the machine that has changed them is done.
func TestWhatIsNoRowCounts(t *testing.T) {
	world := func(attempts, faults string) *spec.Scenario {
		return scenariotest.Parsed(t, "name: small\n"+
			"cache: {lease: 10s, render: 0s, poll: 11s, patience: 1, attempts: "+attempts+"}\nbounds: {ticks: 0}\n"+
			"faults: ["+faults+"]\nactors:\n"+
			"  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home]}\n")
	}
	type client = *dynamodb.Client
	for name, p := range map[string]isr.Protocol{
		"a table": settled(func(ctx context.Context, h doing) error {
			_, err := h.cfg.Client.(client).CreateTable(ctx, isr.TableInput("own"))
			return err
		}, func(ctx context.Context, h doing) (bool, error) {
			all, err := h.cfg.Client.(client).ListTables(ctx, &dynamodb.ListTablesInput{})
			return err == nil && slices.Contains(all.TableNames, "own"), err
		}),
		"a setting": settled(func(ctx context.Context, h doing) error {
			_, err := h.cfg.Client.(client).UpdateTable(ctx,
				&dynamodb.UpdateTableInput{TableName: &h.cfg.Table, DeletionProtectionEnabled: aws.Bool(true)})
			return err
		}, func(ctx context.Context, h doing) (bool, error) {
			is, err := h.cfg.Client.(client).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &h.cfg.Table})
			return err == nil && aws.ToBool(is.Table.DeletionProtectionEnabled), err
		}),
	} {
		refutes(t, "a schedule in which it is missing: "+name, Prove{
			Scenario: world("3", "maybe request-lost times=always actor=alice"), Protocol: p,
			Options: kernel.Options{SDK: true},
		})
		// Alice is told the same whether the request was lost or its answer.
		refutes(t, "a schedule in which it is missing, and the answer to it may be lost: "+name, Prove{
			Scenario: world("1", "maybe response-lost times=always actor=alice, "+
				"maybe request-lost times=always actor=alice"), Protocol: p, Options: kernel.Options{SDK: true},
		})
	}
}

// streaming is a cache in which each machine writes its own row, and then reads the stream of the table.
func streaming(ctx context.Context, h doing, key string) error {
	client := h.cfg.Client.(*dynamodb.Client)
	put := func(sk string) error { return h.put(ctx, h.cfg.Table, pagecache.Key(isr.PartitionKey("", key), sk)) }
	read := func() error {
		to := client.Options()
		streams := dynamodbstreams.New(dynamodbstreams.Options{
			Region: to.Region, HTTPClient: to.HTTPClient, Credentials: to.Credentials,
			BaseEndpoint: aws.String("http://dynamodb.invalid"),
		})
		all, err := streams.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{})
		if err != nil || len(all.Streams) == 0 {
			return err
		}
		_, err = streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: all.Streams[0].StreamArn})
		return err
	}
	if h.name() == "alice" {
		_, err := client.UpdateTable(ctx,
			&dynamodb.UpdateTableInput{TableName: &h.cfg.Table, StreamSpecification: &types.StreamSpecification{
				StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly,
			}})
		return errors.Join(err, put("A"), read())
	}
	return errors.Join(put("B"), read())
}

// A stream shows the order of all writes, but a search runs only some of the orders.
func TestNoSearchOfStreamsIsAProof(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 0}\nactors:\n"+
			"  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home]}\n")
	proof, err := Prove{
		Scenario: s, Protocol: does(streaming), Seed: 1, Options: kernel.Options{SDK: true},
	}.Run(t.Context())
	if err != nil || proof.Verdict != invariant.Unknown || !strings.Contains(proof.Why, "stream") {
		t.Errorf("got %v, error %v; want unknown, because of the stream", proof, err)
	}
}

// thrifty is a cache in which alice replaces a row, and is told what that has cost. If it is more than one unit,
// because bob wrote his large row first, she leaves a wrong row behind.
func thrifty(ctx context.Context, h doing, key string) error {
	row := pagecache.Key(isr.PartitionKey("", key), "ROW")
	in := &dynamodb.PutItemInput{
		TableName: &h.cfg.Table, Item: row, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	if h.name() == "bob" {
		row["large"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", 4000)}
		in.ConditionExpression = aws.String("attribute_not_exists(pk)")
		_, err := h.cfg.Client.PutItem(ctx, in)
		return err
	}
	out, err := h.cfg.Client.PutItem(ctx, in)
	if err == nil && aws.ToFloat64(out.ConsumedCapacity.CapacityUnits) > 1 {
		return h.wrong(ctx, key)
	}
	return err
}

// The consumed capacity is a part of an answer.
func TestWhatARequestHasCostCounts(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 0}\nactors:\n"+
			"  - {name: alice, script: [get /home], crashes: 1}\n  - {name: bob, script: [get /home], crashes: 1}\n")
	for _, sdk := range []bool{false, true} {
		refutes(t, fmt.Sprintf("a schedule in which bob is first, sdk %v", sdk),
			Prove{Scenario: s, Protocol: does(thrifty), Options: kernel.Options{SDK: sdk}})
	}
}
