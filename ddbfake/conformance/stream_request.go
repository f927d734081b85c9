package conformance

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// streamsSeen is what a case has learnt about streams from the answers that it
// got: no name of a stream, a shard or a position is known before.
type streamsSeen struct {
	streams  []string // ARNs, in the order in which they began
	shard    string
	iterator string
	sequence []string // the sequence numbers of the records read last
}

// note learns from an answer.
func (w *world) note(out any) {
	began := func(d *types.TableDescription) {
		if arn := aws.ToString(d.LatestStreamArn); arn != "" && !slices.Contains(w.seen.streams, arn) {
			w.seen.streams = append(w.seen.streams, arn)
		}
	}
	switch out := out.(type) {
	case *dynamodb.CreateTableOutput:
		if out != nil {
			began(out.TableDescription)
		}
	case *dynamodb.UpdateTableOutput:
		if out != nil {
			began(out.TableDescription)
		}
	case *dynamodbstreams.DescribeStreamOutput:
		if out != nil && len(out.StreamDescription.Shards) > 0 {
			w.seen.shard = aws.ToString(out.StreamDescription.Shards[0].ShardId)
		}
	case *dynamodbstreams.GetShardIteratorOutput:
		if out != nil {
			w.seen.iterator = aws.ToString(out.ShardIterator)
		}
	case *dynamodbstreams.GetRecordsOutput:
		if out != nil {
			w.seen.iterator = aws.ToString(out.NextShardIterator)
			w.seen.sequence = nil
			for _, r := range out.Records {
				w.seen.sequence = append(w.seen.sequence, aws.ToString(r.Dynamodb.SequenceNumber))
			}
		}
	}
}

// stream is the ARN of a stream by its number, from 1; 0 is the last one.
func (w *world) stream(n int) string {
	if n == 0 {
		n = len(w.seen.streams)
	}
	if n < 1 || n > len(w.seen.streams) {
		return "no stream has begun"
	}
	return w.seen.streams[n-1]
}

// streamOn is the setting of a stream with a view.
func streamOn(view string) *types.StreamSpecification {
	return &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(view)}
}

func streamOff() *types.StreamSpecification {
	return &types.StreamSpecification{StreamEnabled: aws.Bool(false)}
}

// enabling and disabling change the stream of a table.
func enabling(view string) option { return set("StreamSpecification", streamOn(view)) }
func disabling() option           { return set("StreamSpecification", streamOff()) }

func listStreams(options ...option) request {
	return func(w *world) any { return build(w, &dynamodbstreams.ListStreamsInput{}, options) }
}

// The requests about a stream are about the last one that began, and the shard
// that was seen last, unless they say otherwise.

func describeStream(options ...option) request {
	return func(w *world) any {
		return build(w, &dynamodbstreams.DescribeStreamInput{StreamArn: aws.String(w.stream(0))}, options)
	}
}

func getIterator(kind string, options ...option) request {
	return func(w *world) any {
		return build(w, &dynamodbstreams.GetShardIteratorInput{
			StreamArn: aws.String(w.stream(0)), ShardId: aws.String(w.seen.shard), ShardIteratorType: streamtypes.ShardIteratorType(kind),
		}, options)
	}
}

// getRecords goes on with the last iterator.
func getRecords(options ...option) request {
	return func(w *world) any {
		return build(w, &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String(w.seen.iterator)}, options)
	}
}

// atRecord gives the sequence number of a record that was read last, from 1.
func atRecord(n int) option {
	return func(w *world, in any) {
		if n <= len(w.seen.sequence) {
			set("SequenceNumber", w.seen.sequence[n-1])(w, in)
		}
	}
}

// wholeStream is all that is in a stream, in the order of sequence numbers:
// how many shards there are is nobody's promise.
type wholeStream struct {
	arn   string
	sizes bool // of the records, in bytes, rather than they
}

func readStream(n int) request {
	return func(w *world) any { return wholeStream{arn: w.stream(n)} }
}

func recordSizes() request {
	return func(w *world) any { return wholeStream{arn: w.stream(0), sizes: true} }
}

func (s wholeStream) read(ctx context.Context, c StreamsClient) (any, error) {
	described, err := c.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &s.arn}, uncheckedStreams)
	if err != nil {
		return nil, err
	}
	all := &dynamodbstreams.GetRecordsOutput{Records: []streamtypes.Record{}}
	for _, shard := range described.StreamDescription.Shards {
		start, err := c.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
			StreamArn: &s.arn, ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
		}, uncheckedStreams)
		if err != nil {
			return nil, err
		}
		for iterator := start.ShardIterator; iterator != nil; {
			out, err := c.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator}, uncheckedStreams)
			if err != nil {
				return nil, err
			}
			all.Records = append(all.Records, out.Records...)
			iterator = out.NextShardIterator
			if len(out.Records) == 0 {
				all.NextShardIterator = cmp.Or(all.NextShardIterator, iterator)
				break
			}
		}
	}
	slices.SortFunc(all.Records, func(a, b streamtypes.Record) int {
		x, y := aws.ToString(a.Dynamodb.SequenceNumber), aws.ToString(b.Dynamodb.SequenceNumber)
		return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
	})
	if s.sizes {
		return recordBytes(all.Records), nil
	}
	return all, nil
}

// recordBytes are records of which only the size is of interest.
type recordBytes []streamtypes.Record
