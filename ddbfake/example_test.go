package ddbfake_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
)

// newCache returns a DB with the table "cache" (pk S, sk S), TTL on "ttl".
func newCache(o ddbfake.Options) *ddbfake.DB {
	db := ddbfake.New(o)
	c := db.As("setup")
	ctx := context.Background()
	if _, err := c.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String("cache"),
		BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
	}); err != nil {
		panic(err)
	}
	if _, err := c.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String("cache"),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("ttl"), Enabled: aws.Bool(true),
		},
	}); err != nil {
		panic(err)
	}
	return db
}

// acquire puts a lock row if there is none.
func acquire(ctx context.Context, c *ddbfake.Door, token string, ttl time.Time) error {
	_, err := c.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("cache"),
		Item: map[string]types.AttributeValue{
			"pk":          &types.AttributeValueMemberS{Value: "CACHE#1"},
			"sk":          &types.AttributeValueMemberS{Value: "LOCK"},
			"lease_token": &types.AttributeValueMemberS{Value: token},
			"ttl":         &types.AttributeValueMemberN{Value: fmt.Sprint(ttl.Unix())},
		},
		ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return err
}

// The Go door: methods of *dynamodb.Client without the wire.
func ExampleDB_As() {
	db := newCache(ddbfake.Options{})
	ctx := context.Background()
	fmt.Println(acquire(ctx, db.As("alice"), "a1", fakeclock.Epoch))

	err := acquire(ctx, db.As("bob"), "b1", fakeclock.Epoch)
	var failed *types.ConditionalCheckFailedException
	fmt.Println(errors.As(err, &failed), failed.Item["lease_token"].(*types.AttributeValueMemberS).Value)
	// Output:
	// <nil>
	// true a1
}

// TTL deletes when its lag has ended or, with the zero Lag, by hand.
func ExampleDB_Sweep() {
	clock := fakeclock.New(fakeclock.Epoch)
	db := newCache(ddbfake.Options{Clock: clock})
	ctx := context.Background()
	if err := acquire(ctx, db.As("alice"), "a1", clock.Now().Add(time.Minute)); err != nil {
		fmt.Println(err)
	}

	clock.Advance(time.Hour)
	fmt.Println("expired:", len(db.Expired()), "still there:", len(db.Items("cache")))
	for _, row := range db.Expired() {
		fmt.Println("swept:", row.Key, db.Sweep(row))
	}
	fmt.Println("left:", len(db.Items("cache")))
	// Output:
	// expired: 1 still there: 1
	// swept: {pk: "CACHE#1", sk: "LOCK"} true
	// left: 0
}

// A response is lost after the commit: the caller finds its own lock.
func ExampleDB_Inject() {
	db := newCache(ddbfake.Options{})
	ctx := context.Background()
	fault, err := ddbfake.ParseFault("response-lost op=PutItem key=LOCK actor=alice")
	if err != nil {
		fmt.Println(err)
	}
	db.Inject(fault)

	fmt.Println(acquire(ctx, db.As("alice"), "a1", fakeclock.Epoch))
	fmt.Println(acquire(ctx, db.As("alice"), "a1", fakeclock.Epoch))
	// Output:
	// ddbfake: PutItem: the connection was lost before a response was read
	// ConditionalCheckFailedException: The conditional request failed
}

// Every change of a row leaves an entry, with its author and its cause.
func ExampleDB_Changes() {
	clock := fakeclock.New(fakeclock.Epoch)
	db := newCache(ddbfake.Options{Clock: clock})
	if err := acquire(context.Background(), db.As("alice"), "a1", clock.Now()); err != nil {
		fmt.Println(err)
	}
	clock.Advance(time.Second)
	db.SweepExpired()
	for _, c := range db.Changes() {
		fmt.Println(c.Seq, c.Time.Format(time.TimeOnly), c.Cause, c.Actor, c.Key, "gone:", c.After == nil)
	}
	// Output:
	// 1 00:00:00 client alice {pk: "CACHE#1", sk: "LOCK"} gone: false
	// 2 00:00:01 ttl  {pk: "CACHE#1", sk: "LOCK"} gone: true
}

// One state, two futures.
func ExampleDB_Snapshot() {
	db := newCache(ddbfake.Options{})
	ctx := context.Background()
	start := db.Snapshot()
	for _, actor := range []string{"alice", "bob"} {
		db.Restore(start)
		err := acquire(ctx, db.As(actor), actor, fakeclock.Epoch)
		token, _ := db.Items("cache")[0].Str("lease_token")
		fmt.Println(err, token)
	}
	// Output:
	// <nil> alice
	// <nil> bob
}

// The log shows the requests of the code under test, and their outcomes.
func ExampleDB_Requests() {
	db := newCache(ddbfake.Options{LogRequests: 2})
	if err := db.Put("cache",
		attr.Item{"pk": attr.S("CACHE#1"), "sk": attr.S("LOCK"), "lease_token": attr.S("bob-1")}); err != nil {
		panic(err)
	}
	_, _ = db.As("alice").PutItem(context.Background(), &dynamodb.PutItemInput{
		TableName: aws.String("cache"), Item: attr.Item{"pk": attr.S("CACHE#1"), "sk": attr.S("LOCK")}.ToSDK(),
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	for _, r := range db.Requests() {
		fmt.Println(r)
	}
	// Output:
	// 3 PutItem cache{pk: "CACHE#1", sk: "LOCK"}: ok
	// 4 alice PutItem cache{pk: "CACHE#1", sk: "LOCK"}: ConditionalCheckFailedException: The conditional request failed
}

// Start makes a DB for a test, and shows the requests if the test fails.
func ExampleStart() {
	t := &fakeTest{failed: true} // in a test, the *testing.T
	db := ddbfake.Start(t, ddbfake.Options{})
	_, _ = db.Client(ddbfake.WithActor("alice")).ListTables(context.Background(), &dynamodb.ListTablesInput{})
	for _, line := range t.end() {
		fmt.Println(line)
	}
	// Output:
	// ddbfake: request 1 alice ListTables: ok
}

// Rows can be put and read without a client. They are sorted by key.
func ExampleDB_Put() {
	db := newCache(ddbfake.Options{})
	err := db.Put("cache",
		attr.Item{"pk": attr.S("/home"), "sk": attr.S("META"), "body": attr.S("pages/1")},
		attr.Item{"pk": attr.S("/home"), "sk": attr.S("LOCK"), "lease_token": attr.S("alice-1")},
		attr.Item{"pk": attr.S("/about"), "sk": attr.S("META"), "tags": attr.SS{"b", "a"}},
	)
	if err != nil {
		panic(err)
	}
	for _, item := range db.Items("cache") {
		fmt.Println(item)
	}
	fmt.Println(db.Put("cache", attr.Item{"pk": attr.S("/home")}))
	// Output:
	// {pk: "/about", sk: "META", tags: <<"a", "b">>}
	// {lease_token: "alice-1", pk: "/home", sk: "LOCK"}
	// {body: "pages/1", pk: "/home", sk: "META"}
	// ddbfake: put item 1 of 1 into cache: api error ValidationException: One or more parameter values were invalid: Missing the key sk in the item
}

// TTL follows the clock: with a lag of ten minutes, a row stays for ten minutes after its ttl, and no test needs to
// sweep.
func ExampleLagFixed() {
	clock := fakeclock.New(fakeclock.Epoch)
	db := newCache(ddbfake.Options{Clock: clock, Lag: ddbfake.LagFixed(10 * time.Minute)})
	if err := acquire(context.Background(), db.As("alice"), "alice-1", clock.Now().Add(time.Minute)); err != nil {
		panic(err)
	}
	for range 3 {
		clock.Advance(5 * time.Minute)
		fmt.Println(clock.Now().Format(time.TimeOnly), "rows:", len(db.Items("cache")), "expired:", len(db.Expired()))
	}
	// Output:
	// 00:05:00 rows: 1 expired: 1
	// 00:10:00 rows: 1 expired: 1
	// 00:15:00 rows: 0 expired: 0
}

// Each kind of fault hits an update of a counter that was 5 and then 6. The caller's error does not tell whether the
// row has changed.
func ExampleFaultKinds() {
	key := attr.Item{"pk": attr.S("/home"), "sk": attr.S("META")}
	for _, kind := range ddbfake.FaultKinds() {
		db := newCache(ddbfake.Options{})
		alice, ctx := db.As("alice"), context.Background()
		for _, n := range []int64{5, 6} {
			if err := db.Put("cache", attr.Item{"pk": key["pk"], "sk": key["sk"], "n": attr.Int(n)}); err != nil {
				panic(err)
			}
		}

		db.Inject(ddbfake.Fault{Kind: kind, Actor: "alice", Key: "META"})
		var heard any
		var err error
		switch kind {
		case ddbfake.FaultStaleRead:
			var out *dynamodb.GetItemOutput
			out, err = alice.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key.ToSDK()})
			read, _ := attr.ItemFromSDK(out.Item)
			heard = read["n"]
		case ddbfake.FaultUnprocessed:
			var out *dynamodb.BatchWriteItemOutput
			out, err = alice.BatchWriteItem(ctx,
				&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"cache": {
					{DeleteRequest: &types.DeleteRequest{Key: key.ToSDK()}},
					{DeleteRequest: &types.DeleteRequest{
						Key: attr.Item{"pk": attr.S("/home"), "sk": attr.S("LOCK")}.ToSDK(),
					}},
				}}})
			heard = fmt.Sprint(len(out.UnprocessedItems["cache"]), " undone")
		case ddbfake.FaultShortPage:
			if err := db.Put("cache", attr.Item{"pk": key["pk"], "sk": attr.S("NEXT")}); err != nil {
				panic(err)
			}
			db.ClearFaults() // of the key META, which a Query of the whole partition does not name
			db.Inject(ddbfake.Fault{Kind: kind, Actor: "alice", Key: "/home"})
			var out *dynamodb.QueryOutput
			out, err = alice.Query(ctx, &dynamodb.QueryInput{
				TableName: aws.String("cache"), KeyConditionExpression: aws.String("pk = :pk"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":pk": attr.ToSDK(key["pk"])},
			})
			heard = fmt.Sprint(out.Count, " of 2")
		default:
			_, err = alice.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: aws.String("cache"), Key: key.ToSDK(), UpdateExpression: aws.String("ADD n :one"),
				ExpressionAttributeValues: map[string]types.AttributeValue{
					":one": &types.AttributeValueMemberN{Value: "1"},
				},
			})
		}
		if err != nil {
			heard = err
		} else if heard == nil {
			heard = "ok"
		}
		fmt.Printf("%s: %v; n is %v\n", kind, heard, db.Items("cache")[0]["n"])
	}
	// Output:
	// throttled: ThrottlingException: Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html; n is 6
	// request-lost: ddbfake: UpdateItem: the connection was lost before a response was read; n is 6
	// response-lost: ddbfake: UpdateItem: the connection was lost before a response was read; n is 7
	// error-before: InternalServerError: The request could not be completed because of an internal failure; n is 6
	// error-after: InternalServerError: The request could not be completed because of an internal failure; n is 7
	// conflict: TransactionConflictException: Transaction is ongoing for the item; n is 6
	// duplicate: ok; n is 8
	// stale-read: 5; n is 6
	// unprocessed: 1 undone; n is 6
	// short-page: 1 of 2; n is 6
}

// A condition fails for a real client of the SDK. The error has the row that was there.
func ExampleDB_Client() {
	ctx := context.Background()
	db := ddbfake.New(ddbfake.Options{})
	client := db.Client(ddbfake.WithActor("alice"))

	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String("locks"),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"),
			AttributeType: types.ScalarAttributeTypeS}},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	acquire := func(owner string) error {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("locks"),
			Item: map[string]types.AttributeValue{
				"pk":         &types.AttributeValueMemberS{Value: "job"},
				"lock_owner": &types.AttributeValueMemberS{Value: owner},
			},
			ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	}
	fmt.Println(acquire("alice"))
	var held *types.ConditionalCheckFailedException
	if errors.As(acquire("bob"), &held) {
		fmt.Println(held.ErrorMessage(), "held by", held.Item["lock_owner"].(*types.AttributeValueMemberS).Value)
	}
	// Output:
	// <nil>
	// The conditional request failed held by alice
}

// Any client of any language can use the fake over HTTP.
func ExampleDB_Handler() {
	db := ddbfake.New(ddbfake.Options{})
	server := httptest.NewServer(db.Handler())
	defer server.Close()

	request := func(target, body string) {
		r, err := http.NewRequest(http.MethodPost, server.URL, strings.NewReader(body))
		if err != nil {
			fmt.Println(err)
			return
		}
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+target)
		r.Header.Set("Authorization",
			"AWS4-HMAC-SHA256 Credential=alice/20400101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, "+
				"Signature=any")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(response.StatusCode, string(answer))
	}
	request("ListTables", `{}`)
	request("GetItem", `{"TableName":"cache","Key":{"pk":{"S":"a"},"sk":{"S":"META"}}}`)
	request("GetItem", `{"TableName":1}`)
	// Output:
	// 200 {"TableNames":[]}
	// 400 {"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found"}
	// 400 {"__type":"com.amazon.coral.service#SerializationException","Message":"NUMBER_VALUE cannot be converted to String"}
}

// A stream is read by a real client of the SDK. A deletion by TTL arrives as the service's own deletion.
func ExampleDB_StreamsClient() {
	ctx := context.Background()
	clock := fakeclock.New(fakeclock.Epoch)
	db := newCache(ddbfake.Options{Clock: clock}) // its rows expire by their ttl
	enabled, err := db.Client().UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName: aws.String("cache"),
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeOldImage,
		},
	})
	if err != nil {
		panic(err)
	}
	arn := enabled.TableDescription.LatestStreamArn

	lock := attr.Item{
		"pk": attr.S("CACHE#1"), "sk": attr.S("LOCK"), "ttl": attr.Int(clock.Now().Add(time.Minute).Unix()),
	}
	if err := db.Put("cache", lock, attr.Item{"pk": attr.S("CACHE#1"), "sk": attr.S("META")}); err != nil {
		panic(err)
	}
	clock.Advance(time.Hour)
	db.SweepExpired()

	streams := db.StreamsClient()
	described, err := streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		panic(err)
	}
	start, err := streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: described.StreamDescription.Shards[0].ShardId, // there is only one
		ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	})
	if err != nil {
		panic(err)
	}
	page, err := streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: start.ShardIterator})
	if err != nil {
		panic(err)
	}
	for _, r := range page.Records {
		fmt.Print(r.EventName, " ", r.Dynamodb.Keys["sk"].(*streamtypes.AttributeValueMemberS).Value)
		if r.UserIdentity != nil {
			fmt.Print(" by ", *r.UserIdentity.PrincipalId)
		}
		fmt.Println()
	}
	fmt.Println("more to come:", page.NextShardIterator != nil)
	// Output:
	// INSERT LOCK
	// INSERT META
	// REMOVE LOCK by dynamodb.amazonaws.com
	// more to come: true
}
