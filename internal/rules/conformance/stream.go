package conformance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// streamText prints the description of a table's stream.
func streamText(t *types.TableDescription) string {
	arn, label := aws.ToString(t.LatestStreamArn), aws.ToString(t.LatestStreamLabel)
	text := ""
	if s := t.StreamSpecification; s != nil {
		text += fmt.Sprintf("; stream %t %s", aws.ToBool(s.StreamEnabled), s.StreamViewType)
	}
	switch {
	case arn == "" && label == "":
	case arn == aws.ToString(t.TableArn)+"/stream/"+label:
		text += "; latest stream"
	default:
		text += "; latest stream " + arn + " with the label " + label
	}
	return text
}

// streamsText prints the name of each stream's table, sorted: AWS promises no order of streams.
func streamsText(out *dynamodbstreams.ListStreamsOutput) string {
	if out.Streams == nil {
		return "no Streams"
	}
	var names []string
	for _, s := range out.Streams {
		name := aws.ToString(s.TableName)
		if !strings.HasSuffix(aws.ToString(s.StreamArn), name+"/stream/"+aws.ToString(s.StreamLabel)) {
			name += " with the ARN " + aws.ToString(s.StreamArn)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	text := "streams of [" + strings.Join(names, " ") + "]"
	if out.LastEvaluatedStreamArn != nil {
		text += "; more"
	}
	return text
}

// streamDescriptionText prints a stream, and the states of its shards: open or closed, with a parent or without. It
// does not print the number of shards, which may be any.
func streamDescriptionText(d *streamtypes.StreamDescription) string {
	var keys, shards []string
	for _, k := range d.KeySchema {
		keys = append(keys, aws.ToString(k.AttributeName)+" "+string(k.KeyType))
	}
	for _, s := range d.Shards {
		state := "open"
		if r := s.SequenceNumberRange; r == nil || !decimal(r.StartingSequenceNumber) {
			state = "without a start"
		} else if decimal(r.EndingSequenceNumber) {
			state = "closed"
		}
		if s.ParentShardId != nil {
			state += "-child"
		}
		if !slices.Contains(shards, state) {
			shards = append(shards, state)
		}
	}
	status := strings.Replace(string(d.StreamStatus), "ABLING", "ABLED", 1)
	text := fmt.Sprintf("stream of %s (%s) %s %s; shards [%s]", aws.ToString(d.TableName), strings.Join(keys, ", "),
		d.StreamViewType, status, strings.Join(shards, " "))
	if d.LastEvaluatedShardId != nil {
		text += "; more"
	}
	if d.CreationRequestDateTime == nil {
		text += "; no time of creation"
	}
	return text
}

func decimal(s *string) bool {
	return s != nil && len(*s) >= 21 && strings.Trim(*s, "0123456789") == ""
}

// recordsText prints records, one per line, and whether more records of the shard may follow. Members that all records
// share are printed only if they are wrong.
func recordsText(out *dynamodbstreams.GetRecordsOutput) string {
	if out.Records == nil {
		return "no Records"
	}
	text := fmt.Sprintf("%d records", len(out.Records))
	if out.NextShardIterator != nil {
		text += "; more"
	} else {
		text += "; end"
	}
	ids := map[string]bool{}
	last := ""
	for i := range out.Records {
		r := &out.Records[i]
		text += "\n- " + recordText(r)
		if id := aws.ToString(r.EventID); id == "" || ids[id] {
			text += " and no event id of its own"
		} else {
			ids[id] = true
		}
		if n := aws.ToString(r.Dynamodb.SequenceNumber); !decimal(&n) || n <= last && len(n) <= len(last) {
			text += " and no sequence number after " + last
		} else {
			last = n
		}
	}
	return text
}

func recordText(r *streamtypes.Record) string {
	d := r.Dynamodb
	text := string(r.EventName) + " " + streamItemText(d.Keys)
	if d.OldImage != nil {
		text += " old " + streamItemText(d.OldImage)
	}
	if d.NewImage != nil {
		text += " new " + streamItemText(d.NewImage)
	}
	if u := r.UserIdentity; u != nil {
		text += " by " + aws.ToString(u.Type) + " " + aws.ToString(u.PrincipalId)
	}
	if v := aws.ToString(r.EventVersion); v != "1.0" && v != "1.1" {
		text += " in version " + v
	}
	if s := aws.ToString(r.EventSource); s != "aws:dynamodb" {
		text += " from " + s
	}
	if t := d.ApproximateCreationDateTime; t == nil || t.Nanosecond() != 0 {
		text += " at no whole second"
	}
	return text
}

func sizesText(records recordBytes) string {
	var sizes []string
	for _, r := range records {
		sizes = append(sizes, fmt.Sprint(aws.ToInt64(r.Dynamodb.SizeBytes)))
	}
	return strings.Join(sizes, " ") + " bytes"
}

// streamItemText prints an item of a stream, for which the SDK has separate types.
func streamItemText(item map[string]streamtypes.AttributeValue) string {
	plain, err := attributevalue.FromDynamoDBStreamsMap(item)
	if err != nil {
		return err.Error()
	}
	return itemText(plain, "")
}

// streamsSeen is what a case knows about streams from earlier answers: a case cannot know the name of a stream, a shard
// or a position in advance.
type streamsSeen struct {
	streams  []string // ARNs, in the order in which they began
	shard    string   // the first shard of the last description
	last     string   // the last shard of it
	iterator string
	sequence []string // the sequence numbers of the records read last
}

// note records names of streams, shards and positions from an answer.
func (w *world) note(out any) {
	began := func(d *types.TableDescription) {
		if arn := aws.ToString(d.LatestStreamArn); arn != "" && !slices.Contains(w.seen.streams, arn) {
			w.seen.streams = append(w.seen.streams, arn)
		}
	}
	switch out := out.(type) {
	case *dynamodb.ExecuteStatementOutput:
		if out.NextToken != nil {
			w.next = out.NextToken
		}
	case *dynamodb.CreateBackupOutput:
		w.saw(*out.BackupDetails.BackupArn, out.BackupDetails.BackupType)
	case *dynamodb.ListBackupsOutput:
		for _, b := range out.BackupSummaries {
			w.saw(*b.BackupArn, b.BackupType)
		}
	case *dynamodb.CreateTableOutput:
		w.arn = strings.TrimSuffix(aws.ToString(out.TableDescription.TableArn),
			aws.ToString(out.TableDescription.TableName))
		began(out.TableDescription)
	case *dynamodb.UpdateTableOutput:
		began(out.TableDescription)
	case *dynamodb.DescribeTableOutput:
		began(out.Table)
	case *dynamodbstreams.DescribeStreamOutput:
		if shards := out.StreamDescription.Shards; len(shards) > 0 {
			w.seen.shard, w.seen.last = aws.ToString(shards[0].ShardId), aws.ToString(shards[len(shards)-1].ShardId)
		}
	case *dynamodbstreams.GetShardIteratorOutput:
		w.seen.iterator = aws.ToString(out.ShardIterator)
	case *dynamodbstreams.GetRecordsOutput:
		w.seen.iterator = aws.ToString(out.NextShardIterator)
		w.seen.sequence = nil
		for _, r := range out.Records {
			w.seen.sequence = append(w.seen.sequence, aws.ToString(r.Dynamodb.SequenceNumber))
		}
	}
}

// stream returns the ARN of a stream by its number, from 1; 0 is the stream that began last.
func (w *world) stream(n int) string {
	if n == 0 {
		n = len(w.seen.streams)
	}
	if n < 1 || n > len(w.seen.streams) {
		return "no stream has begun"
	}
	return w.seen.streams[n-1]
}

func streamOn(view string) *types.StreamSpecification {
	return &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(view)}
}

// wholeStream reads all records of a stream, in the order of sequence numbers, whatever its shards: AWS does not
// promise a number of shards.
type wholeStream struct {
	StreamArn string
	Sizes     bool // print the sizes of the records, in bytes, and not the records
}

func (s *wholeStream) read(ctx context.Context, c StreamsClient) (any, error) {
	described, err := c.DescribeStream(ctx,
		&dynamodbstreams.DescribeStreamInput{StreamArn: &s.StreamArn}, uncheckedStreams)
	if err != nil {
		return nil, err
	}
	all := &dynamodbstreams.GetRecordsOutput{Records: []streamtypes.Record{}}
	for _, shard := range described.StreamDescription.Shards {
		start, err := c.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
			StreamArn: &s.StreamArn, ShardId: shard.ShardId,
			ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
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
	if s.Sizes {
		return recordBytes(all.Records), nil
	}
	return all, nil
}

// recordBytes are records of which only the size matters.
type recordBytes []streamtypes.Record
