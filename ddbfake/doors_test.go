package ddbfake

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake/internal/sdktest"
	"github.com/isr-sim/isr-sim/fakeclock"
)

// failure is the part of an error that a caller can see.
type failure struct {
	Type, Code, Message string
	Item                map[string]types.AttributeValue
	Reasons             []types.CancellationReason
}

func describe(err error) failure {
	var f failure
	if err == nil {
		return f
	}
	f.Message = err.Error()
	var api smithy.APIError
	var condition *types.ConditionalCheckFailedException
	var cancelled *types.TransactionCanceledException
	var network *NetworkError
	switch {
	case errors.As(err, &api):
		f.Type, f.Code, f.Message = fmt.Sprintf("%T", api), api.ErrorCode(), api.ErrorMessage()
	case errors.As(err, &network):
		f.Type, f.Code, f.Message = fmt.Sprintf("%T", network), "network", network.Error()
	}
	if errors.As(err, &condition) {
		f.Item = condition.Item
	}
	if errors.As(err, &cancelled) {
		f.Reasons = cancelled.CancellationReasons
	}
	return f
}

// doorCall is a call for each of the doors; code is the error it must give.
type doorCall struct {
	name string
	in   any
	code string
}

// doorCalls is a story in which every operation succeeds and fails.
func doorCalls() []doorCall {
	type item = map[string]types.AttributeValue
	s := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	n := func(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
	key := func(sk string) item { return item{"pk": s("a"), "sk": s(sk)} }
	with := func(it item, more item) item {
		for name, v := range more {
			it[name] = v
		}
		return it
	}
	cache, missing := aws.String("cache"), aws.String("missing")
	arn := aws.String(tableARN(DefaultRegion, "cache"))
	streamARN := aws.String(*arn + "/stream/2040-01-01T00:00:00.000")
	shard := aws.String("shardId-00000002208988800000-c3bc1db4")
	iterator := func(position int, issued time.Time) *string {
		return aws.String(shardIterator{*streamARN, *shard, position, issued}.String())
	}
	allOld := types.ReturnValuesOnConditionCheckFailureAllOld
	total := types.ReturnConsumedCapacityTotal
	everything := with(key("ALL"), sdktest.Value(2).(*types.AttributeValueMemberM).Value)
	delete(everything, "")

	return []doorCall{
		{"create", createInput("cache"), ""},
		{"create again", createInput("cache"), "ResourceInUseException"},
		{"describe", &dynamodb.DescribeTableInput{TableName: cache}, ""},
		{"describe a missing table", &dynamodb.DescribeTableInput{TableName: missing}, "ResourceNotFoundException"},
		{"list", &dynamodb.ListTablesInput{Limit: aws.Int32(1)}, ""},
		{"list no tables", &dynamodb.ListTablesInput{ExclusiveStartTableName: aws.String("zzz")}, ""},
		{"list with a bad limit", &dynamodb.ListTablesInput{Limit: aws.Int32(0)}, "ValidationException"},
		{"describe ttl", &dynamodb.DescribeTimeToLiveInput{TableName: cache}, ""},
		{"enable ttl", &dynamodb.UpdateTimeToLiveInput{TableName: cache, TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("ttl"), Enabled: aws.Bool(true),
		}}, ""},
		{"enable ttl again", &dynamodb.UpdateTimeToLiveInput{TableName: cache, TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("ttl"), Enabled: aws.Bool(true),
		}}, "ValidationException"},

		{"tag", &dynamodb.TagResourceInput{ResourceArn: arn, Tags: []types.Tag{{Key: aws.String("env"), Value: aws.String("")}, {Key: aws.String("a b"), Value: aws.String("é")}}}, ""},
		{"tag a missing table", &dynamodb.TagResourceInput{ResourceArn: aws.String(*arn + "x"), Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}}},
			"ResourceNotFoundException"},
		{"tag what is no table", &dynamodb.TagResourceInput{ResourceArn: aws.String("arn:aws:s3:::bucket"), Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}}},
			"AccessDeniedException"},
		{"list tags", &dynamodb.ListTagsOfResourceInput{ResourceArn: arn}, ""},
		{"list tags of a name", &dynamodb.ListTagsOfResourceInput{ResourceArn: cache}, "ValidationException"},
		{"untag", &dynamodb.UntagResourceInput{ResourceArn: arn, TagKeys: []string{"env", "a b"}}, ""},
		{"untag nothing", &dynamodb.UntagResourceInput{ResourceArn: arn, TagKeys: []string{}}, "ValidationException"},
		{"list no tags", &dynamodb.ListTagsOfResourceInput{ResourceArn: arn}, ""},
		{"describe limits", &dynamodb.DescribeLimitsInput{}, ""},
		{"describe endpoints", &dynamodb.DescribeEndpointsInput{}, ""},
		{"describe backups", &dynamodb.DescribeContinuousBackupsInput{TableName: cache}, ""},
		{"turn recovery on", &dynamodb.UpdateContinuousBackupsInput{TableName: cache, PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)}}, ""},
		{"describe recovery", &dynamodb.DescribeContinuousBackupsInput{TableName: cache}, ""},
		{"recovery of nothing", &dynamodb.UpdateContinuousBackupsInput{TableName: cache}, "ValidationException"},
		{"describe insights", &dynamodb.DescribeContributorInsightsInput{TableName: cache}, ""},
		{"describe insights of a missing table", &dynamodb.DescribeContributorInsightsInput{TableName: missing}, "ResourceNotFoundException"},
		{"describe streaming", &dynamodb.DescribeKinesisStreamingDestinationInput{TableName: cache}, ""},
		{"describe streaming of a missing table", &dynamodb.DescribeKinesisStreamingDestinationInput{TableName: missing}, "ResourceNotFoundException"},
		{"list backups", &dynamodb.ListBackupsInput{}, ""},
		{"list exports", &dynamodb.ListExportsInput{}, ""},
		{"list global tables", &dynamodb.ListGlobalTablesInput{}, ""},
		{"list imports", &dynamodb.ListImportsInput{}, ""},
		{"describe backups of a missing table", &dynamodb.DescribeContinuousBackupsInput{TableName: missing}, "TableNotFoundException"},

		{"put", &dynamodb.PutItemInput{TableName: cache, Item: with(key("META"), item{"v": n("1")})}, ""},
		{"put every type", &dynamodb.PutItemInput{TableName: cache, Item: everything, ReturnConsumedCapacity: total}, ""},
		{"put over it", &dynamodb.PutItemInput{TableName: cache, Item: with(key("META"), item{"v": n("2.50")}), ReturnValues: types.ReturnValueAllOld}, ""},
		{"put on a false condition", &dynamodb.PutItemInput{TableName: cache, Item: key("META"), ConditionExpression: aws.String("attribute_not_exists(pk)")},
			"ConditionalCheckFailedException"},
		{"put on a false condition, with the item", &dynamodb.PutItemInput{TableName: cache, Item: key("META"),
			ConditionExpression: aws.String("attribute_not_exists(pk)"), ReturnValuesOnConditionCheckFailure: allOld}, "ConditionalCheckFailedException"},
		{"put without a key", &dynamodb.PutItemInput{TableName: cache, Item: item{"pk": s("a")}}, "ValidationException"},
		{"put with an unused value", &dynamodb.PutItemInput{TableName: cache, Item: key("META"), ConditionExpression: aws.String("attribute_exists(pk)"),
			ExpressionAttributeValues: item{":x": n("1")}}, "ValidationException"},
		{"put with a bad number", &dynamodb.PutItemInput{TableName: cache, Item: with(key("META"), item{"v": n("x")})}, "ValidationException"},
		{"put into a missing table", &dynamodb.PutItemInput{TableName: missing, Item: key("META")}, "ResourceNotFoundException"},

		{"get", &dynamodb.GetItemInput{TableName: cache, Key: key("META"), ConsistentRead: aws.Bool(true)}, ""},
		{"get every type", &dynamodb.GetItemInput{TableName: cache, Key: key("ALL"), ReturnConsumedCapacity: total}, ""},
		{"get nothing", &dynamodb.GetItemInput{TableName: cache, Key: key("NONE")}, ""},
		{"get a part", &dynamodb.GetItemInput{TableName: cache, Key: key("ALL"), ProjectionExpression: aws.String("L[0].#s, M"),
			ExpressionAttributeNames: map[string]string{"#s": "S"}}, ""},
		{"get by half a key", &dynamodb.GetItemInput{TableName: cache, Key: item{"pk": s("a")}}, "ValidationException"},

		{"update", &dynamodb.UpdateItemInput{TableName: cache, Key: key("META"), UpdateExpression: aws.String("SET v = v + :one, w = :w"),
			ExpressionAttributeValues: item{":one": n("1"), ":w": s("")}, ReturnValues: types.ReturnValueAllNew}, ""},
		{"update, what changed", &dynamodb.UpdateItemInput{TableName: cache, Key: key("META"), UpdateExpression: aws.String("REMOVE w"),
			ReturnValues: types.ReturnValueUpdatedOld}, ""},
		{"update on a false condition", &dynamodb.UpdateItemInput{TableName: cache, Key: key("META"), UpdateExpression: aws.String("REMOVE w"),
			ConditionExpression: aws.String("v < :v"), ExpressionAttributeValues: item{":v": n("0")}, ReturnValuesOnConditionCheckFailure: allOld},
			"ConditionalCheckFailedException"},
		{"update that is no expression", &dynamodb.UpdateItemInput{TableName: cache, Key: key("META"), UpdateExpression: aws.String("SET")}, "ValidationException"},

		{"query", &dynamodb.QueryInput{TableName: cache, KeyConditionExpression: aws.String("pk = :pk"), ExpressionAttributeValues: item{":pk": s("a")},
			ReturnConsumedCapacity: total}, ""},
		{"query a page", &dynamodb.QueryInput{TableName: cache, KeyConditionExpression: aws.String("pk = :pk"), ExpressionAttributeValues: item{":pk": s("a")},
			Limit: aws.Int32(1), ScanIndexForward: aws.Bool(false)}, ""},
		{"query nothing", &dynamodb.QueryInput{TableName: cache, KeyConditionExpression: aws.String("pk = :pk"), ExpressionAttributeValues: item{":pk": s("z")}}, ""},
		{"query a count", &dynamodb.QueryInput{TableName: cache, KeyConditionExpression: aws.String("pk = :pk"), ExpressionAttributeValues: item{":pk": s("a")},
			Select: types.SelectCount}, ""},
		{"query without a key condition", &dynamodb.QueryInput{TableName: cache}, "ValidationException"},

		{"scan", &dynamodb.ScanInput{TableName: cache, ReturnConsumedCapacity: total}, ""},
		{"scan a page of a segment", &dynamodb.ScanInput{TableName: cache, Limit: aws.Int32(1), Segment: aws.Int32(0), TotalSegments: aws.Int32(1),
			FilterExpression: aws.String("attribute_exists(v)"), ProjectionExpression: aws.String("v")}, ""},
		{"scan a count", &dynamodb.ScanInput{TableName: cache, Select: types.SelectCount, FilterExpression: aws.String("attribute_exists(nope)")}, ""},
		{"scan half a segment", &dynamodb.ScanInput{TableName: cache, Segment: aws.Int32(0)}, "ValidationException"},
		{"scan a missing table", &dynamodb.ScanInput{TableName: missing}, "ResourceNotFoundException"},

		{"transact", &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("t1"), ReturnConsumedCapacity: total, TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: cache, Item: key("LOCK")}},
			{Update: &types.Update{TableName: cache, Key: key("META"), UpdateExpression: aws.String("SET v = :v"), ExpressionAttributeValues: item{":v": n("9")}}},
			{ConditionCheck: &types.ConditionCheck{TableName: cache, Key: key("ALL"), ConditionExpression: aws.String("attribute_exists(pk)")}},
			{Delete: &types.Delete{TableName: cache, Key: key("NONE")}},
		}}, ""},
		{"transact with the token of another", &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("t1"), TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: cache, Item: key("OTHER")}},
		}}, "IdempotentParameterMismatchException"},
		{"transact on false conditions", &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("t2"), TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: cache, Item: key("NEW")}},
			{Put: &types.Put{TableName: cache, Item: key("META"), ConditionExpression: aws.String("attribute_not_exists(pk)"), ReturnValuesOnConditionCheckFailure: allOld}},
			{Delete: &types.Delete{TableName: cache, Key: key("LOCK"), ConditionExpression: aws.String("attribute_exists(nope)")}},
		}}, "TransactionCanceledException"},
		{"transact twice on one row", &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("t3"), TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: cache, Item: key("NEW")}},
			{Delete: &types.Delete{TableName: cache, Key: key("NEW")}},
		}}, "ValidationException"},
		{"transact get", &dynamodb.TransactGetItemsInput{ReturnConsumedCapacity: total, TransactItems: []types.TransactGetItem{
			{Get: &types.Get{TableName: cache, Key: key("META")}},
			{Get: &types.Get{TableName: cache, Key: key("NONE")}},
		}}, ""},
		{"transact get from a missing table", &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
			{Get: &types.Get{TableName: missing, Key: key("META")}},
		}}, "ResourceNotFoundException"},

		{"batch write", &dynamodb.BatchWriteItemInput{ReturnConsumedCapacity: total, RequestItems: map[string][]types.WriteRequest{"cache": {
			{PutRequest: &types.PutRequest{Item: with(key("B1"), item{"v": n("1")})}}, {PutRequest: &types.PutRequest{Item: key("B2")}},
			{DeleteRequest: &types.DeleteRequest{Key: key("NONE")}},
		}}}, ""},
		{"batch write twice on one row", &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"cache": {
			{PutRequest: &types.PutRequest{Item: key("B1")}}, {DeleteRequest: &types.DeleteRequest{Key: key("B1")}},
		}}}, "ValidationException"},
		{"batch get", &dynamodb.BatchGetItemInput{ReturnConsumedCapacity: total, RequestItems: map[string]types.KeysAndAttributes{"cache": {
			Keys: []item{key("B2"), key("NONE"), key("B1")}, ProjectionExpression: aws.String("sk, v"), ConsistentRead: aws.Bool(true),
		}}}, ""},
		{"batch get nothing", &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"cache": {Keys: []item{key("NONE")}}}}, ""},
		{"batch get from a table with a bad name", &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			"bad name": {Keys: []item{key("B1")}},
		}}, "ValidationException"},

		{"delete", &dynamodb.DeleteItemInput{TableName: cache, Key: key("META"), ReturnValues: types.ReturnValueAllOld, ReturnConsumedCapacity: total}, ""},
		{"delete nothing", &dynamodb.DeleteItemInput{TableName: cache, Key: key("META"), ReturnValues: types.ReturnValueAllOld}, ""},
		{"delete on a false condition", &dynamodb.DeleteItemInput{TableName: cache, Key: key("LOCK"), ConditionExpression: aws.String("attribute_not_exists(sk)"),
			ReturnValuesOnConditionCheckFailure: allOld}, "ConditionalCheckFailedException"},

		{"disable ttl", &dynamodb.UpdateTimeToLiveInput{TableName: cache, TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("other"), Enabled: aws.Bool(false),
		}}, "ValidationException"},
		{"describe ttl of a missing table", &dynamodb.DescribeTimeToLiveInput{TableName: missing}, "ResourceNotFoundException"},
		{"add an index", &dynamodb.UpdateTableInput{
			TableName:            cache,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("v"), AttributeType: "N"}, {AttributeName: aws.String("sk"), AttributeType: "S"}},
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
				IndexName:  aws.String("byV"),
				KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("v"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"}},
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"w"}},
			}}},
		}, ""},
		{"put into the index", &dynamodb.PutItemInput{TableName: cache, Item: item{"pk": s("i"), "sk": s("1"), "v": n("7"), "w": s("x")},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes}, ""},
		{"transact into the index", &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes, ClientRequestToken: aws.String("t9"), TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: cache, Item: item{"pk": s("i"), "sk": s("2"), "v": n("7")}}},
		}}, ""},
		{"query the index", &dynamodb.QueryInput{TableName: cache, IndexName: aws.String("byV"), KeyConditionExpression: aws.String("v = :v"),
			ExpressionAttributeValues: item{":v": n("7")}, Limit: aws.Int32(1), ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes}, ""},
		{"describe with an index", &dynamodb.DescribeTableInput{TableName: cache}, ""},
		{"update nothing", &dynamodb.UpdateTableInput{TableName: cache}, "ValidationException"},

		{"enable a stream", &dynamodb.UpdateTableInput{TableName: cache, StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		}}, ""},
		{"describe with a stream", &dynamodb.DescribeTableInput{TableName: cache}, ""},
		{"put into the stream", &dynamodb.PutItemInput{TableName: cache, Item: with(everything, item{"more": s("")})}, ""},
		{"delete into the stream", &dynamodb.DeleteItemInput{TableName: cache, Key: key("B2")}, ""},
		{"list streams", &dynamodbstreams.ListStreamsInput{TableName: cache, Limit: aws.Int32(1)}, ""},
		{"list no streams", &dynamodbstreams.ListStreamsInput{TableName: missing}, ""},
		{"list streams with a bad limit", &dynamodbstreams.ListStreamsInput{Limit: aws.Int32(0)}, "ValidationException"},
		{"describe stream", &dynamodbstreams.DescribeStreamInput{StreamArn: streamARN}, ""},
		{"describe no shards", &dynamodbstreams.DescribeStreamInput{StreamArn: streamARN, ShardFilter: &streamtypes.ShardFilter{
			Type: streamtypes.ShardFilterTypeChildShards, ShardId: shard,
		}}, ""},
		{"describe a missing stream", &dynamodbstreams.DescribeStreamInput{StreamArn: aws.String(*streamARN + "1")}, "ResourceNotFoundException"},
		{"get an iterator", &dynamodbstreams.GetShardIteratorInput{StreamArn: streamARN, ShardId: shard, ShardIteratorType: "LATEST"}, ""},
		{"get an iterator at a time", &dynamodbstreams.GetShardIteratorInput{StreamArn: streamARN, ShardId: shard, ShardIteratorType: "AT_TIMESTAMP",
			Timestamp: aws.Time(fakeclock.Epoch)}, ""},
		{"get an iterator of a missing shard", &dynamodbstreams.GetShardIteratorInput{StreamArn: streamARN, ShardId: aws.String(*shard + "0"),
			ShardIteratorType: "LATEST"}, "ResourceNotFoundException"},
		{"get records", &dynamodbstreams.GetRecordsInput{ShardIterator: iterator(0, fakeclock.Epoch)}, ""},
		{"get no records", &dynamodbstreams.GetRecordsInput{ShardIterator: iterator(1000, fakeclock.Epoch), Limit: aws.Int32(1)}, ""},
		{"get records too late", &dynamodbstreams.GetRecordsInput{ShardIterator: iterator(0, fakeclock.Epoch.Add(-time.Hour))}, "ExpiredIteratorException"},
		{"drop", &dynamodb.DeleteTableInput{TableName: cache}, ""},
		{"get the last records", &dynamodbstreams.GetRecordsInput{ShardIterator: iterator(0, fakeclock.Epoch)}, ""},
		{"drop a missing table", &dynamodb.DeleteTableInput{TableName: missing}, "ResourceNotFoundException"},
	}
}

// One story through three doors, each on a DB of its own: equal outputs, equal errors, equal change logs.
func TestDoorsAgree(t *testing.T) {
	const actor = "alice"
	direct, inProcess, served := New(Options{}), New(Options{}), New(Options{})
	server := httptest.NewServer(served.Handler())
	defer server.Close()
	named := func(o *dynamodbstreams.Options) { o.Credentials = actorCredentials(actor) }
	doors := []struct {
		name   string
		db     *DB
		client any
	}{
		{"Go", direct, direct.As(actor)},
		{"SDK", inProcess, bothClients{inProcess.Client(WithActor(actor)), streamsClient{inProcess.StreamsClient(named)}}},
		{"HTTP", served, bothClients{clientOver(server.URL, actor, 3), streamsClient{streamsClientOver(server.URL, actor)}}},
	}
	seen := map[string]map[bool]bool{}
	for _, c := range doorCalls() {
		t.Run(c.name, func(t *testing.T) {
			op := inputName(c.in)
			if seen[op] == nil {
				seen[op] = map[bool]bool{}
			}
			seen[op][c.code == ""] = true
			var wantOut any
			var want failure
			for i, door := range doors {
				out, err := invoke(door.client, op, c.in)
				got := describe(err)
				if got.Code != c.code {
					t.Errorf("%s door: got error %v, want code %q", door.name, err, c.code)
				}
				if i == 0 {
					wantOut, want = out, got
					continue
				}
				if diff := cmp.Diff(want, got, sdktest.Equal); diff != "" {
					t.Errorf("error of the %s door (-%s +%s):\n%s", door.name, doors[0].name, door.name, diff)
				}
				if err != nil {
					continue
				}
				if diff := cmp.Diff(wantOut, out, sdktest.Equal); diff != "" {
					t.Errorf("output of the %s door (-%s +%s):\n%s", door.name, doors[0].name, door.name, diff)
				}
			}
		})
	}
	for _, op := range operations {
		fails := op.name != "DescribeLimits" && op.name != "DescribeEndpoints" // they take no parameters
		if !seen[op.name][true] || fails && !seen[op.name][false] {
			t.Errorf("%s: got succeeded, failed %v, want both", op.name, seen[op.name])
		}
	}
	want := fmt.Sprint(direct.Changes())
	for _, door := range doors[1:] {
		if got := fmt.Sprint(door.db.Changes()); got != want {
			t.Errorf("change log of the %s door:\ngot  %s\nwant %s", door.name, got, want)
		}
	}
}
