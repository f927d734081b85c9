package ddbfake_test

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
)

// Rows are put without a client, and looked at without one, sorted by key.
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

// TTL follows the clock: with a lag of ten minutes, a row is there for ten minutes after its ttl, and no test needs to
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

// Each kind of fault, and what is left of a counter that stood at 5 and was put to 6 before: the caller's error and the
// row's change are two things.
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
			out, err = alice.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"cache": {
				{DeleteRequest: &types.DeleteRequest{Key: key.ToSDK()}},
				{DeleteRequest: &types.DeleteRequest{Key: attr.Item{"pk": attr.S("/home"), "sk": attr.S("LOCK")}.ToSDK()}},
			}}})
			heard = fmt.Sprint(len(out.UnprocessedItems["cache"]), " undone")
		default:
			_, err = alice.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: aws.String("cache"), Key: key.ToSDK(), UpdateExpression: aws.String("ADD n :one"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
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
}
