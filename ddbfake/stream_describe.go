package ddbfake

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Limits on the members of operations on streams, which the API documents.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetShardIterator.html
const (
	minStreamARN, maxStreamARN     = 37, 1024
	minShardID, maxShardID         = 28, 65
	minSequence, maxSequence       = 21, 40
	minIterator, maxIterator       = 1, 2048
	maxListedStreams, maxShards    = 100, 100
	maxRecords, maxRecordPageBytes = 1000, 1 << 20
)

// listStreams serves ListStreams: sorted by ARN. The streams of deleted tables are listed, too, until they are gone.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_ListStreams.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/details/DDB-TABLE-378.md
func (db *DB) listStreams(
	r *request, in *dynamodbstreams.ListStreamsInput,
) (*dynamodbstreams.ListStreamsOutput, error) {
	var c constraints
	c.optionalText(in.ExclusiveStartStreamArn, "exclusiveStartStreamArn", minStreamARN, maxStreamARN)
	limit := c.limit(in.Limit, maxListedStreams)
	if in.TableName != nil {
		c.plainName(*in.TableName, "tableName")
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	start := aws.ToString(in.ExclusiveStartStreamArn)
	if _, ok := tableOfStream(start); !ok && start != "" {
		return nil, errStreamARN
	}
	out := &dynamodbstreams.ListStreamsOutput{Streams: []streamtypes.Stream{}}
	for _, s := range db.state.streams {
		switch {
		case s.region != r.region, s.arn <= start, s.gone(r.now), in.TableName != nil && *in.TableName != s.table:
			continue
		case len(out.Streams) == limit:
			out.LastEvaluatedStreamArn = aws.String(*out.Streams[limit-1].StreamArn)
			return out, nil
		}
		out.Streams = append(out.Streams, streamtypes.Stream{
			StreamArn: aws.String(s.arn), StreamLabel: aws.String(s.label), TableName: aws.String(s.table),
		})
	}
	return out, nil
}

// describeStream serves DescribeStream.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_DescribeStream.html
//
// Deviation: a stream is ENABLED or DISABLED at once. The sequence number that a shard starts with belongs to no record
// of it: it stands before the first one that can still be read, and may be the one with which the shard's parent ends.
func (db *DB) describeStream(
	r *request, in *dynamodbstreams.DescribeStreamInput,
) (*dynamodbstreams.DescribeStreamOutput, error) {
	var c constraints
	c.requiredText(in.StreamArn, "streamArn", minStreamARN, maxStreamARN)
	limit := c.limit(in.Limit, maxShards)
	c.optionalText(in.ExclusiveStartShardId, "exclusiveStartShardId", minShardID, maxShardID)
	if f := in.ShardFilter; f != nil {
		c.optionalText(f.ShardId, "shardFilter.shardId", minShardID, maxShardID)
		c.enum(string(f.Type), "shardFilter.type", []string{"CHILD_SHARDS"})
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	if in.ShardFilter != nil && in.ExclusiveStartShardId != nil {
		// DynamoDB Local's text
		return nil, invalid("ShardFilter and ExclusiveStartShardId both should not be specified in the request.")
	}
	s, err := db.foundStream(r, *in.StreamArn)
	if err != nil {
		return nil, err
	}
	d := &streamtypes.StreamDescription{
		StreamArn:               aws.String(s.arn),
		StreamLabel:             aws.String(s.label),
		StreamStatus:            streamtypes.StreamStatusEnabled,
		StreamViewType:          streamtypes.StreamViewType(s.view),
		CreationRequestDateTime: aws.Time(s.created),
		TableName:               aws.String(s.table),
		Shards:                  []streamtypes.Shard{},
	}
	for _, k := range s.keys {
		d.KeySchema = append(d.KeySchema, streamtypes.KeySchemaElement{
			AttributeName: aws.String(*k.AttributeName), KeyType: streamtypes.KeyType(k.KeyType),
		})
	}
	if !s.enabled() {
		d.StreamStatus = streamtypes.StreamStatusDisabled
	}
	for _, one := range db.shards(s, r.now, streamRetention) {
		f := in.ShardFilter
		switch {
		case one.id <= aws.ToString(in.ExclusiveStartShardId),
			f != nil && (one.parent == "" || one.parent != aws.ToString(f.ShardId)):
			continue
		case len(d.Shards) == limit:
			d.LastEvaluatedShardId = d.Shards[limit-1].ShardId
			return &dynamodbstreams.DescribeStreamOutput{StreamDescription: d}, nil
		}
		d.Shards = append(d.Shards, db.describeShard(&one, r.now))
	}
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: d}, nil
}

func (db *DB) describeShard(s *shard, now time.Time) streamtypes.Shard {
	d := streamtypes.Shard{ShardId: aws.String(s.id), SequenceNumberRange: &streamtypes.SequenceNumberRange{
		StartingSequenceNumber: aws.String(sequenceNumber(db.firstPosition(s, now))),
	}}
	if s.parent != "" {
		d.ParentShardId = aws.String(s.parent)
	}
	if !s.open {
		d.SequenceNumberRange.EndingSequenceNumber = aws.String(sequenceNumber(s.until))
	}
	return d
}
