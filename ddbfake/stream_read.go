package ddbfake

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// getRecords serves GetRecords. The text about an iterator that is too old is the API's. It looks at the changes of all
// tables from the iterator on, until a page is full. The next iterator stands after the last change looked at, so a
// reader that continues gets each change once.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html
func (db *DB) getRecords(r *request, in *dynamodbstreams.GetRecordsInput) (*dynamodbstreams.GetRecordsOutput, error) {
	var c constraints
	c.requiredText(in.ShardIterator, "shardIterator", minIterator, maxIterator)
	limit := c.limit(in.Limit, maxRecords)
	if err := c.err(); err != nil {
		return nil, err
	}
	it, ok := parseShardIterator(*in.ShardIterator)
	if !ok {
		return nil, invalid("Invalid ShardIterator") // DynamoDB Local's text
	}
	if r.now.Sub(it.issued) > iteratorLifetime {
		return nil, &streamtypes.ExpiredIteratorException{
			Message: aws.String("The provided iterator exceeds the maximum age allowed"),
		}
	}
	s, err := db.foundStream(r, it.arn)
	if err != nil {
		return nil, err
	}
	of, err := db.shard(s, it.shard, r.now, streamRetention+iteratorLifetime)
	if err != nil {
		return nil, err
	}
	// An iterator may be older than a Restore that cut the log back.
	position := min(max(it.position, of.after), of.until)
	if db.hasTrimmed(of, position, r.now) {
		return nil, trimmedData()
	}
	out := &dynamodbstreams.GetRecordsOutput{Records: []streamtypes.Record{}}
	out.Records, position = of.read(db.state.log.since(position), position, limit, out.Records)
	if of.open || position < of.until {
		next := shardIterator{arn: s.arn, shard: of.id, position: position, issued: r.now}
		out.NextShardIterator = aws.String(next.String())
	}
	return out, nil
}

// trimmedData is the error for a reader that is too late.
//
// Source: https://github.com/ironSource/node-dynamodb-stream/issues/13 (the text)
func trimmedData() error {
	return &streamtypes.TrimmedDataAccessException{
		Message: aws.String("The data you are trying to access has been trimmed"),
	}
}

// hasTrimmed reports whether a reader at a position would miss records that age has removed.
func (db *DB) hasTrimmed(s *shard, position int, now time.Time) bool {
	trimmed := db.trimmed(now)
	if trimmed <= position || position == s.until {
		return false
	}
	if position < db.state.log.seqBefore(0) {
		return true // the log may have dropped changes of the shard
	}
	log := db.state.log.since(position)
	for i := range log {
		if log[i].Seq > trimmed {
			return false
		}
		if s.holds(&log[i]) {
			return true
		}
	}
	return false
}

// read appends the shard's records from the changes after a position, until a page is full, and returns the position
// after them.
func (s *shard) read(changes []Change, position, limit int, records []streamtypes.Record) ([]streamtypes.Record, int) {
	var pageBytes int64
	for i := range changes {
		c := &changes[i]
		if c.Seq > s.until {
			break
		}
		if s.holds(c) {
			if len(records) == limit {
				break
			}
			record := s.stream.record(c)
			pageBytes += *record.Dynamodb.SizeBytes
			if pageBytes > maxRecordPageBytes && len(records) > 0 {
				break
			}
			records = append(records, record)
		}
		position = c.Seq
	}
	return records, position
}

// record returns a change as a stream shows it.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_Record.html
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html (userIdentity)
func (s *stream) record(c *Change) streamtypes.Record {
	size := c.Key.Size()
	data := &streamtypes.StreamRecord{
		ApproximateCreationDateTime: aws.Time(recordTime(c)),
		Keys:                        streamItem(c.Key),
		SequenceNumber:              aws.String(sequenceNumber(c.Seq)),
		StreamViewType:              streamtypes.StreamViewType(s.view),
	}
	image := func(item attr.Item, views ...types.StreamViewType) map[string]streamtypes.AttributeValue {
		for _, view := range views {
			if view == s.view && item != nil {
				size += item.Size()
				return streamItem(item)
			}
		}
		return nil
	}
	data.NewImage = image(c.After, types.StreamViewTypeNewImage, types.StreamViewTypeNewAndOldImages)
	data.OldImage = image(c.Before, types.StreamViewTypeOldImage, types.StreamViewTypeNewAndOldImages)
	data.SizeBytes = aws.Int64(int64(size))

	record := streamtypes.Record{
		AwsRegion:    aws.String(s.region),
		Dynamodb:     data,
		EventID:      aws.String(fmt.Sprintf("%032x", c.Seq)),
		EventName:    streamtypes.OperationTypeModify,
		EventSource:  aws.String("aws:dynamodb"),
		EventVersion: aws.String("1.1"),
	}
	switch {
	case c.Before == nil:
		record.EventName = streamtypes.OperationTypeInsert
	case c.After == nil:
		record.EventName = streamtypes.OperationTypeRemove
	}
	if c.Cause == CauseTTL {
		record.UserIdentity = &streamtypes.Identity{
			Type: aws.String("Service"), PrincipalId: aws.String("dynamodb.amazonaws.com"),
		}
	}
	return record
}

// recordTime returns when a record was created, in whole seconds.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html
func recordTime(c *Change) time.Time { return time.Unix(c.Time.Unix(), 0).UTC() }

// streamItem converts an item to the types that the SDK has for streams.
func streamItem(item map[string]attr.Value) map[string]streamtypes.AttributeValue {
	values := make(map[string]streamtypes.AttributeValue, len(item))
	//isrsim:unordered from map to map
	for name, v := range item {
		values[name] = streamValue(v)
	}
	return values
}

func streamValue(v attr.Value) streamtypes.AttributeValue {
	switch v := v.(type) {
	case attr.M:
		return &streamtypes.AttributeValueMemberM{Value: streamItem(v)}
	case attr.L:
		list := make([]streamtypes.AttributeValue, len(v))
		for i, e := range v {
			list[i] = streamValue(e)
		}
		return &streamtypes.AttributeValueMemberL{Value: list}
	}
	switch v := attr.ToSDK(v).(type) {
	case *types.AttributeValueMemberS:
		return &streamtypes.AttributeValueMemberS{Value: v.Value}
	case *types.AttributeValueMemberN:
		return &streamtypes.AttributeValueMemberN{Value: v.Value}
	case *types.AttributeValueMemberB:
		return &streamtypes.AttributeValueMemberB{Value: v.Value}
	case *types.AttributeValueMemberBOOL:
		return &streamtypes.AttributeValueMemberBOOL{Value: v.Value}
	case *types.AttributeValueMemberNULL:
		return &streamtypes.AttributeValueMemberNULL{Value: v.Value}
	case *types.AttributeValueMemberSS:
		return &streamtypes.AttributeValueMemberSS{Value: v.Value}
	case *types.AttributeValueMemberNS:
		return &streamtypes.AttributeValueMemberNS{Value: v.Value}
	case *types.AttributeValueMemberBS:
		return &streamtypes.AttributeValueMemberBS{Value: v.Value}
	}
	return nil
}
