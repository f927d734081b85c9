package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go/middleware"
)

// StreamsClient returns a real client of the SDK for DynamoDB Streams whose wire ends in this DB, as Client does for
// DynamoDB. Streams are an API of their own; the HTTP door serves both at one address. The access key id of the
// client's Credentials names the actor; without Credentials the actor is "".
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
