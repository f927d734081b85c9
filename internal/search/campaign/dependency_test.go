package campaign

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func TestThereIsARunForEachPossibleDependencyFault(t *testing.T) {
	faults := "maybe body-put-failed, maybe body-put-lost actor=alice times=2, maybe body-get-failed times=always, maybe origin-failed"
	s, err := scenario.Parse("f.yaml", []byte(scenariotest.Troubled(faults)))
	must.OK(t, err)
	if got := strings.Join(schedules.FaultTexts(s.Faults), ", "); got != faults {
		t.Errorf("the faults print %q, want %q", got, faults)
	}
	r, err := Campaign{Scenario: s, Seed: 1}.Run(context.Background())
	must.OK(t, err)
	if !r.Passed() {
		t.Errorf("got %s, missing %v, unmet %v", r.Summary(), r.Missing, r.Unmet)
	}
	for _, fault := range mark.DependencyFaults() {
		if !slices.Contains(r.Reached(), scenario.Mark(fault)) {
			t.Errorf("no schedule met %s", fault)
		}
	}
}

// A fault that strikes the second call makes the order of the calls matter. A search must see that: sleep sets leave
// out no state.
func TestSearchesCountDependencyFaults(t *testing.T) {
	for _, faults := range []string{"maybe origin-failed, maybe body-put-lost", "body-put-failed nth=2, throttled op=PutItem nth=2"} {
		s, err := scenario.Parse("f.yaml", []byte(strings.Replace(scenariotest.Troubled(faults), "sleep 1s, ", "", 1)))
		must.OK(t, err)
		plain, err := Prove{Scenario: s, off: sim.SleepSets | sim.PersistentSets}.Run(context.Background())
		must.OK(t, err)
		reduced, err := Prove{Scenario: s, off: sim.PersistentSets}.Run(context.Background())
		must.OK(t, err)
		if !plain.Explored.Complete || !reduced.Explored.Complete || plain.Explored.States != reduced.Explored.States || reduced.Verdict != invariant.OK {
			t.Errorf("%s: %+v without sleep sets, %+v with them", faults, plain.Explored, reduced.Explored)
		}
	}
}

// settled is a cache in which alice changes something else than rows, leaves a note, and is done. A request of hers may
// be lost. If bob finds the note and not the change, he leaves a wrong row behind.
type settled struct {
	cfg     isr.Config
	change  func(context.Context) error
	changed func(context.Context) (bool, error)
}

func (h settled) Get(ctx context.Context, key string) (isr.Served, error) {
	pk, table := isr.PartitionKey("", key), &h.cfg.Table
	note := pagecache.Key(pk, "NOTE")
	out, err := h.cfg.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: note, ConsistentRead: aws.Bool(true)})
	if strings.HasPrefix(h.cfg.Tokens(), "alice") {
		if err == nil {
			_ = h.change(ctx)
		}
		_, err = h.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: note})
		return isr.Served{}, errors.Join(err, errNoPage)
	}
	if err != nil || out.Item == nil {
		return isr.Served{}, errors.Join(err, errNoPage)
	}
	if is, err := h.changed(ctx); is || err != nil {
		return isr.Served{}, errors.Join(err, errNoPage)
	}
	return isr.Served{}, writeLock(ctx, h.cfg, pk, 1)
}

// Tables and their settings count after the machine that has changed them is done.
func TestWhatIsNoRowCounts(t *testing.T) {
	s := scenariotest.Parsed(t, "name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 0}\n"+
		"faults: [maybe request-lost times=always actor=alice]\nactors:\n  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home]}\n")
	type client = *dynamodb.Client
	for name, h := range map[string]func(isr.Config) settled{
		"a table": func(cfg isr.Config) settled {
			return settled{cfg, func(ctx context.Context) error {
				_, err := cfg.Client.(client).CreateTable(ctx, isr.TableInput("own"))
				return err
			}, func(ctx context.Context) (bool, error) {
				all, err := cfg.Client.(client).ListTables(ctx, &dynamodb.ListTablesInput{})
				return err == nil && slices.Contains(all.TableNames, "own"), err
			}}
		},
		"a setting": func(cfg isr.Config) settled {
			return settled{cfg, func(ctx context.Context) error {
				_, err := cfg.Client.(client).UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &cfg.Table, DeletionProtectionEnabled: aws.Bool(true)})
				return err
			}, func(ctx context.Context) (bool, error) {
				is, err := cfg.Client.(client).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &cfg.Table})
				return err == nil && aws.ToBool(is.Table.DeletionProtectionEnabled), err
			}}
		},
	} {
		p := isr.Protocol{Name: "settled", New: func(cfg isr.Config) (isr.Handler, error) { return h(cfg), nil }}
		proof, err := Prove{Scenario: s, Protocol: p, Seed: 1, Options: scenario.Options{SDK: true}}.Run(t.Context())
		if err != nil || proof.Verdict != invariant.Violated {
			t.Errorf("%s: got %v, error %v; want a schedule in which it is missing", name, proof, err)
		}
	}
}

// streaming is a cache in which each machine writes a row of its own and then reads the stream of the table.
type streaming struct{ cfg isr.Config }

func (h streaming) Get(ctx context.Context, key string) (isr.Served, error) {
	client := h.cfg.Client.(*dynamodb.Client)
	put := func(sk string) error {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &h.cfg.Table, Item: pagecache.Key(isr.PartitionKey("", key), sk)})
		return err
	}
	read := func() error {
		to := client.Options()
		streams := dynamodbstreams.New(dynamodbstreams.Options{
			Region: to.Region, HTTPClient: to.HTTPClient, Credentials: to.Credentials, BaseEndpoint: aws.String("http://dynamodb.invalid"),
		})
		all, err := streams.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{})
		if err != nil || len(all.Streams) == 0 {
			return err
		}
		_, err = streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: all.Streams[0].StreamArn})
		return err
	}
	if strings.HasPrefix(h.cfg.Tokens(), "alice") {
		_, err := client.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &h.cfg.Table, StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly,
		}})
		return isr.Served{}, errors.Join(err, put("A"), read(), errNoPage)
	}
	return isr.Served{}, errors.Join(put("B"), read(), errNoPage)
}

// A stream shows the order of all writes, and a search runs some of the orders.
func TestNoSearchOfStreamsIsAProof(t *testing.T) {
	s := scenariotest.Parsed(t, "name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 0}\nactors:\n"+
		"  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home]}\n")
	p := isr.Protocol{Name: "streaming", New: func(cfg isr.Config) (isr.Handler, error) { return streaming{cfg}, nil }}
	proof, err := Prove{Scenario: s, Protocol: p, Seed: 1, Options: scenario.Options{SDK: true}}.Run(t.Context())
	if err != nil || proof.Verdict != invariant.Unknown || !strings.Contains(proof.Why, "stream") {
		t.Errorf("got %v, error %v; want unknown, because of the stream", proof, err)
	}
}

// thrifty is a cache in which alice replaces a row, and is told what that has cost: more than one unit if bob wrote his
// large row first. Then she leaves a wrong row behind.
type thrifty struct{ cfg isr.Config }

func (h thrifty) Get(ctx context.Context, key string) (isr.Served, error) {
	pk := isr.PartitionKey("", key)
	row := pagecache.Key(pk, "ROW")
	in := &dynamodb.PutItemInput{TableName: &h.cfg.Table, Item: row, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
	if strings.HasPrefix(h.cfg.Tokens(), "bob") {
		row["large"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", 4000)}
		in.ConditionExpression = aws.String("attribute_not_exists(pk)")
		_, err := h.cfg.Client.PutItem(ctx, in)
		return isr.Served{}, errors.Join(err, errNoPage)
	}
	out, err := h.cfg.Client.PutItem(ctx, in)
	if err == nil && aws.ToFloat64(out.ConsumedCapacity.CapacityUnits) > 1 {
		return isr.Served{}, writeLock(ctx, h.cfg, pk, 1)
	}
	return isr.Served{}, errors.Join(err, errNoPage)
}

// What an answer says about capacity is a part of it.
func TestWhatARequestHasCostCounts(t *testing.T) {
	s := scenariotest.Parsed(t, "name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 0}\nactors:\n"+
		"  - {name: alice, script: [get /home], crashes: 1}\n  - {name: bob, script: [get /home], crashes: 1}\n")
	p := isr.Protocol{Name: "thrifty", New: func(cfg isr.Config) (isr.Handler, error) { return thrifty{cfg}, nil }}
	for _, sdk := range []bool{false, true} {
		proof, err := Prove{Scenario: s, Protocol: p, Seed: 1, Options: scenario.Options{SDK: sdk}}.Run(t.Context())
		if err != nil || proof.Verdict != invariant.Violated {
			t.Errorf("sdk %v: got %v, error %v; want a schedule in which bob is first", sdk, proof, err)
		}
	}
}
