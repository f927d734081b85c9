package ddbfake

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go/middleware"
)

// Streams are an API of their own, with an SDK client of its own. This file has their methods of the doors. The HTTP
// door serves both APIs at one address.

// DescribeStream has the signature of *dynamodbstreams.Client's.
func (d *Door) DescribeStream(ctx context.Context, in *dynamodbstreams.DescribeStreamInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	return through[dynamodbstreams.DescribeStreamOutput](ctx, d, in)
}

// GetRecords has the signature of *dynamodbstreams.Client's.
func (d *Door) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	return through[dynamodbstreams.GetRecordsOutput](ctx, d, in)
}

// GetShardIterator has the signature of *dynamodbstreams.Client's.
func (d *Door) GetShardIterator(ctx context.Context, in *dynamodbstreams.GetShardIteratorInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	return through[dynamodbstreams.GetShardIteratorOutput](ctx, d, in)
}

// ListStreams has the signature of *dynamodbstreams.Client's.
func (d *Door) ListStreams(ctx context.Context, in *dynamodbstreams.ListStreamsInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.ListStreamsOutput, error) {
	return through[dynamodbstreams.ListStreamsOutput](ctx, d, in)
}

// StreamsClient returns a real client of the SDK for DynamoDB Streams whose wire ends in this DB, as Client does for
// DynamoDB. The access key id of its Credentials names the actor; without Credentials the actor is "".
func (db *DB) StreamsClient(optFns ...func(*dynamodbstreams.Options)) *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		Region:       DefaultRegion,
		BaseEndpoint: aws.String("https://streams.dynamodb." + DefaultRegion + ".isr-sim.invalid"),
		HTTPClient:   &transport{do: db.doForWire},
		HTTPSignerV4: nameSigner{},
		Credentials:  aws.AnonymousCredentials{},
		Retryer:      Retryer(retry.DefaultMaxAttempts),
		APIOptions: []func(*middleware.Stack) error{
			v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware, countInvocations(db.clients.Add(1)),
		},
	}, optFns...)
}
