package ddbfake

import (
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// shardLifetime is the time for which a shard takes records. AWS documents only that shards come and go by themselves.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
// Source: https://github.com/opensearch-project/data-prepper/issues/5208 (four hours)
const shardLifetime = 4 * time.Hour

// maxOpenShards is the maximum number of shards that are open at the same time.
const maxOpenShards = 64

// An era is a period in which a stream has a constant number of open shards. It begins with the stream, or with a roll
// that a test asked for. In an era all shards roll over together, each time they have lived for shardLifetime.
type era struct {
	began  time.Time // in whole milliseconds, as the ids of shards have it
	after  int       // Seq of the last change before it
	shards uint64    // the number of open shards
}

// generation returns the number, from 0, of the last generation of shards to begin before an instant.
func (e *era) generation(before time.Time) int {
	return max(0, int((before.Sub(e.began)-1)/shardLifetime))
}

// start returns the instant at which a generation begins.
func (e *era) start(generation int) time.Time {
	return e.began.Add(time.Duration(generation) * shardLifetime)
}

// A shard has the records of some partition keys in some period. It is derived from the eras of its stream and from the
// log, and is not stored.
type shard struct {
	stream *stream
	id     string
	parent string  // "" for the first one; it may be gone
	keys   segment // the hashes of its partition keys, as in a segment of a Scan
	after  int     // Seq of the last change before it
	until  int     // Seq of the last change that it has or may have
	open   bool
}

// shardID returns the id of a shard. Ids sort by the times at which shards begin.
func (s *stream) shardID(began time.Time, keys segment) string {
	sum := crc32.ChecksumIEEE(fmt.Appendf(nil, "%s %04d", s.arn, keys.number))
	return fmt.Sprintf("shardId-%020d-%08x", began.UnixMilli(), sum)
}

// shards returns the shards of a stream, sorted by id: the open ones, and those that closed at most age ago. A shard
// disappears with its last record.
func (db *DB) shards(s *stream, now time.Time, age time.Duration) []shard {
	var all []shard
	for i := range s.eras {
		e := &s.eras[i]
		end, until, goesOn := now.Add(1), db.state.log.lastSeq(), false
		switch {
		case i < len(s.eras)-1:
			end, until = s.eras[i+1].began, s.eras[i+1].after
		case s.enabled():
			goesOn = true
		default:
			end, until = s.disabled, s.until
		}
		last := e.generation(end)
		// A shard begins when its parent ends, so the oldest visible one began at most that long ago.
		for g := e.generation(now.Add(-age - shardLifetime)); g <= last; g++ {
			first := shard{stream: s, after: e.after, until: until, open: goesOn && g == last}
			closed := end
			if g < last {
				closed = e.start(g + 1)
				first.until = min(max(db.lastBefore(closed), e.after), until)
			}
			if g > 0 {
				first.after = min(max(db.lastBefore(e.start(g)), e.after), until)
			}
			if !first.open && now.Sub(closed) > age {
				continue
			}
			all = append(all, s.siblings(i, g, first)...)
		}
	}
	slices.SortFunc(all, func(a, b shard) int { return strings.Compare(a.id, b.id) })
	return all
}

// siblings returns the shards of one generation of an era. common is what they have in common.
func (s *stream) siblings(of, number int, common shard) []shard {
	e := &s.eras[of]
	all := make([]shard, e.shards)
	for i := range all {
		one := common
		one.keys = segment{number: uint64(i), of: e.shards}
		one.id = s.shardID(e.start(number), one.keys)
		switch {
		case number > 0:
			one.parent = s.shardID(e.start(number-1), one.keys)
		case of > 0:
			before := &s.eras[of-1]
			keys := segment{number: one.keys.number * before.shards / e.shards, of: before.shards}
			one.parent = s.shardID(before.start(before.generation(e.began)), keys)
		}
		all[i] = one
	}
	return all
}

func (db *DB) shard(s *stream, id string, now time.Time, age time.Duration) (*shard, error) {
	all := db.shards(s, now, age)
	i, ok := sort.Find(len(all), func(i int) int { return strings.Compare(id, all[i].id) })
	if !ok {
		return nil, streamNotFound("Shard does not exist")
	}
	return &all[i], nil
}

// holds reports whether a change is in the shard. When a table is deleted and created again, the stream ends with the
// old table.
func (s *shard) holds(c *Change) bool {
	of := s.stream
	if c.Table != of.table || c.Region != of.region || c.Seq <= s.after || c.Seq > s.until {
		return false
	}
	if s.keys.of == 1 {
		return true
	}
	partition := c.Key[*of.keys[0].AttributeName]
	return s.keys.has(scanHash(encodeKey(partition), attr.KindOf(partition)))
}

// lastBefore returns the Seq of the last change before an instant, within the kept log.
func (db *DB) lastBefore(at time.Time) int {
	log := db.state.log.all()
	return db.state.log.seqBefore(sort.Search(len(log), func(i int) bool { return !log[i].Time.Before(at) }))
}

// Roll serves the control API. It closes the open shards of a table's stream, and returns the ids of their children:
// one per shard, or two if they split. A table is named as in DB.Items. It returns an error if there is no such table
// or no enabled stream, or if there were more than 64 open shards.
func (h *handler) Roll(table string, split bool) (open []string, err error) {
	db := h.db
	db.mu.Lock()
	defer db.mu.Unlock()
	now := db.clock.Now()
	db.settle(now)
	t := db.state.at(table)
	switch {
	case t == nil:
		return nil, errors.New("there is no such table")
	case t.stream == nil || !t.stream.enabled():
		return nil, errors.New("the table has no enabled stream")
	}
	s := *t.stream
	last := &s.eras[len(s.eras)-1]
	next := era{began: now.UTC().Truncate(time.Millisecond), after: db.state.log.lastSeq(), shards: last.shards}
	// A clock may stand still, but ids must differ.
	if after := last.start(last.generation(now.Add(1))).Add(time.Millisecond); next.began.Before(after) {
		next.began = after
	}
	if split {
		next.shards *= 2
	}
	if next.shards > maxOpenShards {
		return nil, fmt.Errorf("%d shards are open, and at most %d can be", last.shards, maxOpenShards)
	}
	// An era is needed as long as a child of its last shards exists.
	s.eras = slices.Clone(s.eras)
	for len(s.eras) > 1 && now.Sub(s.eras[1].began) > streamRetention+iteratorLifetime+shardLifetime {
		s.eras = s.eras[1:]
	}
	s.eras = append(s.eras, next)
	db.replaceStream(t, &s, now)
	for _, one := range db.shards(&s, now, 0) {
		if one.open {
			open = append(open, one.id)
		}
	}
	return open, nil
}

// iteratorLifetime is how long an iterator can be used.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html
// (ExpiredIteratorException)
const iteratorLifetime = 15 * time.Minute

// A position in a stream is the Seq of the change after which reading continues. The change need not belong to this
// stream.

// shardIterator is all that the service knows about a reader of a stream. It is not stored here, so a reader that
// disappears leaves nothing behind.
type shardIterator struct {
	arn, shard string
	position   int
	issued     time.Time
}

// String returns the iterator as text. It begins like the service's.
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

// sequenceNumber returns the sequence number for a Seq: 21 digits, so that they sort equally as numbers and as texts.
// The leading digit 1 keeps the digits for readers that parse them as numbers.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html (21 to 40
// digits)
func sequenceNumber(seq int) string { return fmt.Sprintf("1%020d", seq) }

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

// iteratorTypes are in the order in which Kinesis prints them. The order of DynamoDB Streams is unknown.
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
	// AWS documents that other sequence numbers are refused, but not the text.
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
