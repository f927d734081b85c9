package ddbfake

import (
	"encoding/base64"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// iteratorLifetime is the time for which an iterator can be used.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html
// (ExpiredIteratorException)
const iteratorLifetime = 15 * time.Minute

// A position in a stream is the Seq of the change after which reading goes on. It need not be one of this stream's
// changes.

// shardIterator is everything that the service knows about a reader of a stream. It is not kept here, so a reader who
// goes away leaves nothing behind.
type shardIterator struct {
	arn, shard string
	position   int
	issued     time.Time
}

// String returns the reader's text. It begins like the service's own.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetShardIterator.html (the
// example)
func (it shardIterator) String() string {
	rest := fmt.Sprintf("%s %d %d", it.shard, it.position, it.issued.UnixMicro())
	return it.arn + "|1|" + base64.StdEncoding.EncodeToString([]byte(rest))
}

func parseShardIterator(text string) (it shardIterator, ok bool) {
	parts := strings.Split(text, "|")
	if len(parts) != 3 || parts[1] != "1" {
		return it, false
	}
	rest, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		return it, false
	}
	words := strings.Split(string(rest), " ")
	if len(words) != 3 {
		return it, false
	}
	position, err1 := strconv.Atoi(words[1])
	issued, err2 := strconv.ParseInt(words[2], 10, 64)
	it = shardIterator{arn: parts[0], shard: words[0], position: position, issued: time.UnixMicro(issued)}
	return it, err1 == nil && err2 == nil && position >= 0
}

// sequenceNumber returns the sequence number of the change with a Seq: 21 digits, so that numbers have an order both as
// numbers and as texts. The leading digit 1 is there for readers who take them for numbers.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html (21 to 40
// digits)
func sequenceNumber(seq int) string { return fmt.Sprintf("1%020d", seq) }

// seqOf returns the Seq in a sequence number.
func seqOf(number string) (seq int, ok bool) {
	seq, err := strconv.Atoi(strings.TrimPrefix(number, "1"))
	return seq, err == nil && seq >= 0 && number == sequenceNumber(seq)
}

// trimmed returns the Seq of the last change that is too old for any stream.
func (db *DB) trimmed(now time.Time) int { return db.lastBefore(now.Add(-streamRetention)) }

// firstPosition returns the position before the oldest record of a shard.
func (db *DB) firstPosition(s *shard, now time.Time) int {
	return min(max(s.after, db.trimmed(now)), s.until)
}

// iteratorTypes are in the order in which Kinesis prints them. The order of DynamoDB Streams is not known.
var iteratorTypes = []string{"AFTER_SEQUENCE_NUMBER", "LATEST", "AT_TIMESTAMP", "AT_SEQUENCE_NUMBER", "TRIM_HORIZON"}

// getShardIterator serves GetShardIterator.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetShardIterator.html
//
// The texts about sequence numbers are those of DynamoDB Local 3.3.1.
func (db *DB) getShardIterator(
	r *request, in *dynamodbstreams.GetShardIteratorInput,
) (*dynamodbstreams.GetShardIteratorOutput, error) {
	var c constraints
	c.requiredText(in.StreamArn, "streamArn", minStreamARN, maxStreamARN)
	c.requiredText(in.ShardId, "shardId", minShardID, maxShardID)
	if in.ShardIteratorType == "" {
		c.null("shardIteratorType")
	}
	c.enum(string(in.ShardIteratorType), "shardIteratorType", iteratorTypes)
	c.optionalText(in.SequenceNumber, "sequenceNumber", minSequence, maxSequence)
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := checkStart(r, in); err != nil {
		return nil, err
	}
	s, err := db.foundStream(r, *in.StreamArn)
	if err != nil {
		return nil, err
	}
	of, err := db.shard(s, *in.ShardId, r.now, streamRetention)
	if err != nil {
		return nil, err
	}
	position, err := db.positionOf(of, r, in)
	if err != nil {
		return nil, err
	}
	it := shardIterator{arn: s.arn, shard: of.id, position: position, issued: r.now}
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: aws.String(it.String())}, nil
}

// checkStart checks the parameters that a type of iterator needs.
func checkStart(r *request, in *dynamodbstreams.GetShardIteratorInput) error {
	byNumber := in.ShardIteratorType == streamtypes.ShardIteratorTypeAtSequenceNumber ||
		in.ShardIteratorType == streamtypes.ShardIteratorTypeAfterSequenceNumber
	byTime := in.ShardIteratorType == streamtypes.ShardIteratorTypeAtTimestamp
	switch {
	case byNumber && in.SequenceNumber == nil:
		return badParameter("Invalid SequenceNumber")
	case !byNumber && in.SequenceNumber != nil:
		return badParameter("SequenceNumber should not be passed for this iterator type")
	// AWS documents that other numbers are refused, but not the text.
	case byTime && in.Timestamp == nil:
		return badParameter("Timestamp cannot be null")
	case !byTime && in.Timestamp != nil:
		return badParameter("Timestamp should not be passed for this iterator type")
	case byTime && in.Timestamp.After(r.now):
		return badParameter("Timestamp cannot be in the future")
	}
	return nil
}

// positionOf returns where an iterator starts to read.
func (db *DB) positionOf(s *shard, r *request, in *dynamodbstreams.GetShardIteratorInput) (int, error) {
	first, last := db.firstPosition(s, r.now), s.until
	switch in.ShardIteratorType {
	case streamtypes.ShardIteratorTypeLatest:
		return last, nil
	case streamtypes.ShardIteratorTypeAtTimestamp:
		log := db.state.log.all()
		i := sort.Search(len(log), func(i int) bool { return !recordTime(&log[i]).Before(*in.Timestamp) })
		return min(max(db.state.log.seqBefore(i), first), last), nil
	case streamtypes.ShardIteratorTypeAtSequenceNumber, streamtypes.ShardIteratorTypeAfterSequenceNumber:
		seq, ok := seqOf(*in.SequenceNumber)
		switch {
		case !ok:
			return 0, badParameter("Invalid SequenceNumber")
		case seq < s.after || seq > last:
			return 0, invalid("Invalid SequenceNumber for the shard")
		case seq < first:
			return 0, trimmedData()
		case in.ShardIteratorType == streamtypes.ShardIteratorTypeAtSequenceNumber:
			return max(seq-1, first), nil
		}
		return seq, nil
	}
	return first, nil // TRIM_HORIZON
}
