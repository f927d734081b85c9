package ddbfake_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
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
		TableName:               aws.String("cache"),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
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

// TTL deletes when its lag says so; by hand, with the zero Lag.
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

// A response that is lost after the commit: the caller meets its own lock.
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
