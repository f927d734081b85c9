package conformance

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go/middleware"
)

// Names of stores, by which a case finds the expected deviations.
const (
	// Fake is this module's own fake, through any of its doors.
	Fake = "ddbfake"
	// Local is DynamoDB Local in the version that fixtures/ddblocal pins.
	Local = "dynamodb-local"
	// AWS is the service.
	AWS = "aws"
)

// Store is the DynamoDB on which the cases run.
type Store struct {
	// Name says which deviations are expected: Fake, Local, AWS, or any other name, for which no deviations are
	// expected.
	Name string
	// Client sends the requests: a *dynamodb.Client, or something with the methods of one. It should not retry.
	Client Client
	// Streams sends the requests about streams: a *dynamodbstreams.Client, or something with the methods of one. It
	// should not retry. Nil skips the cases that need it.
	Streams StreamsClient
	// In sends requests to another region of the store. Nil skips the cases that need it.
	In func(region string) (Client, StreamsClient)
	// Clock is the store's clock if it can be moved. The cases on the passing of time need it; nil skips them.
	Clock Clock
	// Sweep, if the store has it, makes TTL delete everything that it may delete now. Nil skips the cases that need it.
	Sweep func()
	// State returns a text of everything in the store, which a refused request must not change. Nil leaves that
	// unchecked. Run does not call State, since other cases change the store meanwhile.
	State func() string
}

func (s Store) state() string {
	if s.State == nil {
		return ""
	}
	return s.State()
}

// Clock is a clock that can be moved. *fakeclock.Clock is one.
type Clock interface {
	Now() time.Time
	Advance(d time.Duration)
}

// Client is the part of *dynamodb.Client that every case needs. Cases send any other request by the method of its name:
// implement that by embedding a *dynamodb.Client.
type Client interface {
	dynamodb.DescribeTableAPIClient
	CreateTable(
		context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options),
	) (*dynamodb.CreateTableOutput, error)
	DeleteTable(
		context.Context, *dynamodb.DeleteTableInput, ...func(*dynamodb.Options),
	) (*dynamodb.DeleteTableOutput, error)
}

// StreamsClient is the part of *dynamodbstreams.Client that every case about streams needs.
type StreamsClient interface {
	DescribeStream(
		context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options),
	) (*dynamodbstreams.DescribeStreamOutput, error)
	GetRecords(
		context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options),
	) (*dynamodbstreams.GetRecordsOutput, error)
	GetShardIterator(
		context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options),
	) (*dynamodbstreams.GetShardIteratorOutput, error)
}

// send sends one of the SDK's inputs by the method for it, which has the input's name: PutItem takes a PutItemInput.
// A refused request has no answer.
func send(ctx context.Context, s Store, in any) (any, error) {
	var client, options any = s.Client, unchecked
	switch in := in.(type) {
	case elsewhere:
		s.Client, s.Streams = s.In(in.region)
		return send(ctx, s, in.in)
	case *wholeStream:
		return in.read(ctx, s.Streams)
	case *recoveryWindow:
		return in.read(ctx, s)
	case *dynamodbstreams.DescribeStreamInput, *dynamodbstreams.GetRecordsInput,
		*dynamodbstreams.GetShardIteratorInput, *dynamodbstreams.ListStreamsInput:
		client, options = s.Streams, uncheckedStreams
	}
	_, name, _ := strings.Cut(fmt.Sprintf("%T", in), ".")
	method := reflect.ValueOf(client).MethodByName(strings.TrimSuffix(name, "Input"))
	if !method.IsValid() {
		return nil, fmt.Errorf("conformance: the client has no method for a %T", in)
	}
	answer := method.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(in), reflect.ValueOf(options)})
	if err, failed := answer[1].Interface().(error); failed {
		return nil, err
	}
	return answer[0].Interface(), nil
}

// unchecked removes the parts of the SDK that would answer instead of the service: the check for required members, and
// retries.
func unchecked(o *dynamodb.Options) {
	o.Retryer = aws.NopRetryer{}
	o.APIOptions = append(o.APIOptions[:len(o.APIOptions):len(o.APIOptions)], withoutCheck)
}

func uncheckedStreams(o *dynamodbstreams.Options) {
	o.Retryer = aws.NopRetryer{}
	o.APIOptions = append(o.APIOptions[:len(o.APIOptions):len(o.APIOptions)], withoutCheck)
}

func withoutCheck(s *middleware.Stack) error {
	// An operation without required members has no check to remove.
	_, _ = s.Initialize.Remove("OperationInputValidation")
	return nil
}
