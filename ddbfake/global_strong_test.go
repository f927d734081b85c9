package ddbfake_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// strong makes the table "cache" strongly consistent in three regions.
func strong(t *testing.T, db *ddbfake.DB) error {
	t.Helper()
	create := func(region string) types.ReplicationGroupUpdate {
		return types.ReplicationGroupUpdate{Create: &types.CreateReplicationGroupMemberAction{RegionName: &region}}
	}
	_, err := db.Client().UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName: aws.String("cache"), ReplicaUpdates: []types.ReplicationGroupUpdate{create(ireland), create(tokyo)},
		MultiRegionConsistency: types.MultiRegionConsistencyStrong,
	})
	return err
}

// No lag holds back a write of a strongly consistent table, and the log shows the write in its own region first.
func TestStrongWritesAreEverywhere(t *testing.T) {
	db, _ := global(t, ddbfake.Options{})
	db.SetRegionLag(ddbfake.LagNever)
	must.OK(t, strong(t, db))
	write(t, db, ireland, "1", "x")
	for _, region := range []string{home, ireland, tokyo} {
		wantRows(t, db, "at once", region, "1=x")
	}
	if first := db.Changes()[0]; first.Region != ireland || first.Cause != ddbfake.CauseClient {
		t.Errorf("the first change is %+v", first)
	}
}

// Such a table has no transactions, so a conflict is one with a write in another region.
func TestStrongConflict(t *testing.T) {
	db, _ := global(t, ddbfake.Options{})
	must.OK(t, strong(t, db))
	put := &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "1"},
	}}
	_, err := db.Do(t.Context(),
		ddbfake.Call{Region: ireland, Input: put, Fault: &ddbfake.Fault{Kind: ddbfake.FaultConflict}})
	if _, ok := errors.AsType[*types.ReplicatedWriteConflictException](err); !ok {
		t.Errorf("got %v, want a ReplicatedWriteConflictException", err)
	}
	batch := &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{"cache": {{PutRequest: &types.PutRequest{Item: put.Item}}}},
	}
	_, err = db.Do(t.Context(),
		ddbfake.Call{Region: ireland, Input: batch, Fault: &ddbfake.Fault{Kind: ddbfake.FaultConflict}})
	if _, ok := errors.AsType[*types.ReplicatedWriteConflictException](err); !ok {
		t.Errorf("a batch: got %v, want a ReplicatedWriteConflictException", err)
	}
	wantRows(t, db, "after the conflict", home, "")
}

// Features that such a table cannot have are refused, when the table is made and later.
func TestStrongTablesHaveLimits(t *testing.T) {
	db, _ := global(t, ddbfake.Options{})
	write(t, db, home, "1", "x")
	refused := func(what string, err error) {
		t.Helper()
		if got := fmt.Sprint(err); !strings.Contains(got, "ValidationException") ||
			!strings.Contains(got, "MultiRegionConsistency set to STRONG") {
			t.Errorf("%s: got %s, want that it is refused", what, got)
		}
	}
	ttl := func() error {
		_, err := db.As("a").UpdateTimeToLive(t.Context(), ttlOn("cache"))
		return err
	}
	refused("a table with rows", strong(t, db))
	write(t, db, home, "1", "")
	must.OK(t, strong(t, db))
	refused("TTL", ttl())
	put := types.TransactWriteItem{Put: &types.Put{TableName: aws.String("cache"), Item: key("a", "1")}}
	_, err := db.As("a").In(tokyo).TransactWriteItems(t.Context(),
		&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put}})
	refused("a transaction", err)
	get := types.TransactGetItem{Get: &types.Get{TableName: aws.String("cache"), Key: key("a", "1")}}
	_, err = db.As("a").TransactGetItems(t.Context(),
		&dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{get}})
	refused("a transaction that reads", err)
	_, err = db.As("a").ExecuteTransaction(t.Context(),
		&dynamodb.ExecuteTransactionInput{TransactStatements: []types.ParameterizedStatement{
			{Statement: aws.String(`INSERT INTO "cache" VALUE {'pk': 'a', 'sk': '1'}`)},
		}})
	refused("a transaction of statements", err)

	other, _ := global(t, ddbfake.Options{})
	db = other
	must.OK(t, ttl())
	refused("a table with TTL", strong(t, db))
}

// A request for strong consistency without ReplicaUpdates is refused, also if the request has another change.
func TestStrongConsistencyIsNotLeftOut(t *testing.T) {
	for name, in := range map[string]dynamodb.UpdateTableInput{
		"MultiRegionConsistency": {MultiRegionConsistency: types.MultiRegionConsistencyStrong},
		"GlobalTableWitnessUpdates": {GlobalTableWitnessUpdates: []types.GlobalTableWitnessGroupUpdate{
			{Create: &types.CreateGlobalTableWitnessGroupMemberAction{RegionName: aws.String("us-west-2")}},
		}},
	} {
		db, _ := global(t, ddbfake.Options{})
		in.TableName, in.DeletionProtectionEnabled = aws.String("cache"), aws.Bool(true)
		_, err := db.As("a").UpdateTable(t.Context(), &in)
		var refused *ddbfake.UnsupportedError
		if !errors.As(err, &refused) || refused.Parameter != name {
			t.Errorf("%s: got %v, want that it is not supported", name, err)
		}
	}
}
