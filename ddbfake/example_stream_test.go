package ddbfake_test

import (
	"context"
	"fmt"
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
