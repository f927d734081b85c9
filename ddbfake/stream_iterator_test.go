package ddbfake

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func TestShardIteratorRoundTrip(t *testing.T) {
	longName := tableARN("ap-southeast-7", strings.Repeat("x", maxTableName)) + "/stream/2040-01-01T00:00:00.000"
	for _, want := range []shardIterator{
		{tableARN(DefaultRegion, "cache") + "/stream/2040-01-01T00:00:00.000", "shardId-00000002208988800000-c3bc1db4",
			0, fakeclock.Epoch.Add(time.Microsecond)},
		{longName, strings.Repeat("s", maxShardID), math.MaxInt, time.Time{}},
	} {
		text := want.String()
		got, ok := parseShardIterator(text)
		if !ok || got.arn != want.arn || got.shard != want.shard || got.position != want.position ||
			!got.issued.Equal(want.issued) {
			t.Errorf("%+v came back as %+v, %t", want, got, ok)
		}
		if len(text) > maxIterator {
			t.Errorf("got %d characters, want at most %d", len(text), maxIterator)
		}
	}
}

func TestSequenceNumber(t *testing.T) {
	last := ""
	for _, seq := range []int{0, 1, 9, 10, 1 << 40, math.MaxInt} {
		number := sequenceNumber(seq)
		if got, ok := seqOf(number); !ok || got != seq || len(number) < minSequence || len(number) > maxSequence {
			t.Errorf("Seq %d: got number %s, which is Seq %d, %t", seq, number, got, ok)
		}
		if number <= last {
			t.Errorf("%s does not come after %s as text", number, last)
		}
		last = number
	}
	for _, number := range []string{"", "1", strings.Repeat("0", 21), "200000000000000000001", "1-0000000000000000001",
		strings.Repeat("1", 40)} {
		if seq, ok := seqOf(number); ok {
			t.Errorf("%q is no number of ours, and is Seq %d", number, seq)
		}
	}
}

// streamed returns a DB with a stream of the table "cache", and an iterator at its beginning.
func streamed(t testing.TB) (db *DB, start *shardIterator) {
	t.Helper()
	db = New(Options{})
	in := createInput("cache")
	in.StreamSpecification = &types.StreamSpecification{
		StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly,
	}
	must.Done(t)(db.As("").CreateTable(t.Context(), in))
	createTable(t, db, "other")
	s := db.state.streams[0]
	return db, &shardIterator{s.arn, firstShard(db, s), 0, fakeclock.Epoch}
}

func firstShard(db *DB, s *stream) string { return db.shards(s, fakeclock.Epoch, 0)[0].id }

func putRow(t testing.TB, db *DB, table string, n int) {
	t.Helper()
	must.OK(t, db.Put(table, attr.Item{"pk": attr.S("a"), "sk": attr.S(fmt.Sprint(n))}))
}

// A reader skips the changes of other tables once, not at each call.
func TestReaderPassesOtherTables(t *testing.T) {
	db, it := streamed(t)
	for i := range 10 {
		putRow(t, db, "other", i)
	}
	out, err := db.As("").GetRecords(t.Context(),
		&dynamodbstreams.GetRecordsInput{ShardIterator: aws.String(it.String())})
	must.OK(t, err)
	if next, _ := parseShardIterator(*out.NextShardIterator); next.position != 10 {
		t.Errorf("after 10 changes of another table: got position %d, want 10", next.position)
	}
}

// A sequence number outside of the shard is refused, whether it lies before the shard or after it.
func TestSequenceNumberOfAnotherShard(t *testing.T) {
	db, it := streamed(t)
	putRow(t, db, "other", 1)
	enable := func(on bool) {
		s := &types.StreamSpecification{StreamEnabled: aws.Bool(on)}
		if on {
			s.StreamViewType = types.StreamViewTypeKeysOnly
		}
		must.Done(t)(db.As("").UpdateTable(t.Context(),
			&dynamodb.UpdateTableInput{TableName: aws.String("cache"), StreamSpecification: s}))
	}
	enable(false)
	enable(true)
	putRow(t, db, "cache", 1)
	second := db.state.streams[1]
	other := firstShard(db, second)
	for _, tc := range []struct {
		arn, shard string
		seq        int
		ok         bool
	}{
		{it.arn, it.shard, 0, true}, {it.arn, it.shard, 1, true}, {it.arn, it.shard, 2, false},
		{second.arn, other, 0, false}, {second.arn, other, 1, true}, {second.arn, other, 2, true},
		{second.arn, other, 3, false},
	} {
		for _, kind := range []streamtypes.ShardIteratorType{streamtypes.ShardIteratorTypeAtSequenceNumber,
			streamtypes.ShardIteratorTypeAfterSequenceNumber} {
			_, err := db.As("").GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
				StreamArn: &tc.arn, ShardId: &tc.shard, ShardIteratorType: kind,
				SequenceNumber: aws.String(sequenceNumber(tc.seq)),
			})
			if tc.ok != (err == nil) || !tc.ok && messageOf(err) != "Invalid SequenceNumber for the shard" {
				t.Errorf("%s %s of %s: got %v, want success: %t", kind, sequenceNumber(tc.seq), tc.arn, err, tc.ok)
			}
		}
	}
}
