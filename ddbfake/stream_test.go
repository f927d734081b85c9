package ddbfake_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// stream enables a stream of the table "cache" and returns its ARN.
func (w *world) stream(view types.StreamViewType) string {
	w.Helper()
	return w.setStream(&types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: view})
}

func (w *world) disableStream() string {
	w.Helper()
	return w.setStream(&types.StreamSpecification{StreamEnabled: aws.Bool(false)})
}

func (w *world) setStream(s *types.StreamSpecification) string {
	w.Helper()
	out, err := w.c.UpdateTable(w.Context(),
		&dynamodb.UpdateTableInput{TableName: aws.String("cache"), StreamSpecification: s})
	must.OK(w, err)
	return *out.TableDescription.LatestStreamArn
}

// shards returns the shards of a stream, of all pages.
func (w *world) shards(arn string) (all []streamtypes.Shard) {
	w.Helper()
	for in := (dynamodbstreams.DescribeStreamInput{StreamArn: &arn}); ; {
		out := must.Of(w.c.DescribeStream(w.Context(), &in))(w)
		all = append(all, out.StreamDescription.Shards...)
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			return all
		}
	}
}

// iterator returns an iterator of the latest shard of a stream, which is the only one for four hours.
func (w *world) iterator(arn string, kind streamtypes.ShardIteratorType) *string {
	w.Helper()
	shards := w.shards(arn)
	return w.iteratorOf(arn, *shards[len(shards)-1].ShardId, kind)
}

func (w *world) iteratorOf(arn, shard string, kind streamtypes.ShardIteratorType) *string {
	w.Helper()
	out, err := w.c.GetShardIterator(w.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &arn, ShardId: &shard, ShardIteratorType: kind,
	})
	must.OK(w, err)
	return out.ShardIterator
}

func (w *world) records(iterator *string) *dynamodbstreams.GetRecordsOutput {
	w.Helper()
	return must.Of(w.c.GetRecords(w.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: iterator}))(w)
}

// said prints each change as its sort key, its kind and its author.
func said(records []streamtypes.Record) []string {
	var lines []string
	for _, r := range records {
		line := string(r.EventName) + " " + r.Dynamodb.Keys["sk"].(*streamtypes.AttributeValueMemberS).Value
		if r.UserIdentity != nil {
			line += " by " + *r.UserIdentity.PrincipalId
		}
		lines = append(lines, line)
	}
	return lines
}

func (w *world) wantRecords(iterator *string, want ...string) (next *string) {
	w.Helper()
	out := w.records(iterator)
	if diff := cmp.Diff(want, said(out.Records)); diff != "" {
		w.Errorf("records (-want +got):\n%s", diff)
	}
	return out.NextShardIterator
}

// A record has the number, the time (in whole seconds) and the size of its change.
func TestStreamRecordIsTheChange(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	arn := w.stream(types.StreamViewTypeNewAndOldImages)
	w.put(key("a", "1"))
	w.clock.Advance(1500 * time.Millisecond)
	w.put(with(key("a", "1"), "v", n("1")))

	records := w.records(w.iterator(arn, streamtypes.ShardIteratorTypeTrimHorizon)).Records
	changes := w.db.Changes()
	if len(records) != len(changes) {
		t.Fatalf("got %d records of %d changes", len(records), len(changes))
	}
	for i, r := range records {
		c, d := changes[i], r.Dynamodb
		if !strings.HasSuffix(*d.SequenceNumber, fmt.Sprintf("%019d", c.Seq)) || len(*d.SequenceNumber) != 21 {
			t.Errorf("change %d: got sequence number %s", c.Seq, *d.SequenceNumber)
		}
		if got, want := *d.ApproximateCreationDateTime, c.Time.Truncate(time.Second); !got.Equal(want) {
			t.Errorf("change %d: got time %s, want %s", c.Seq, got, want)
		}
		if got, want := *d.SizeBytes, int64(c.Key.Size()+c.Before.Size()+c.After.Size()); got != want {
			t.Errorf("change %d: got %d bytes, want %d", c.Seq, got, want)
		}
	}
}

// A stream belongs to a snapshot, like the log, and a restored DB continues it from that state.
func TestStreamAndSnapshot(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	arn := w.stream(types.StreamViewTypeKeysOnly)
	w.put(key("a", "1"))
	snapshot := w.db.Snapshot()
	start := w.iterator(arn, streamtypes.ShardIteratorTypeTrimHorizon)

	w.put(key("a", "2"))
	next := w.wantRecords(start, "INSERT 1", "INSERT 2")
	w.disableStream()
	w.wantRecords(start, "INSERT 1", "INSERT 2")

	w.db.Restore(snapshot)
	w.wantRecords(start, "INSERT 1")
	next = w.wantRecords(next) // it is ahead of the log, so there is nothing yet
	w.put(key("a", "3"))
	w.wantRecords(next, "INSERT 3")
	if got := w.shards(arn)[0].SequenceNumberRange.EndingSequenceNumber; got != nil {
		t.Errorf("the shard ends with %s, want it open as it was", *got)
	}

	other := ddbfake.New(ddbfake.Options{Clock: w.clock})
	other.Restore(snapshot)
	if out, err := other.As("").GetRecords(t.Context(),
		&dynamodbstreams.GetRecordsInput{ShardIterator: start}); err != nil || len(out.Records) != 1 {
		t.Errorf("another DB restored from the snapshot: got %v, %v, want one record", out, err)
	}
}

// The setting of a stream is part of a hash; its records and its name are not.
func TestStreamAndHash(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	without := w.db.Hash()
	w.stream(types.StreamViewTypeKeysOnly)
	keys := w.db.Hash()
	w.disableStream()
	if w.db.Hash() != without {
		t.Error("a disabled stream is in the hash")
	}
	w.clock.Advance(time.Hour)
	w.stream(types.StreamViewTypeKeysOnly)
	if w.db.Hash() != keys {
		t.Error("the name of a stream is in the hash")
	}
	w.disableStream()
	w.stream(types.StreamViewTypeNewImage)
	if h := w.db.Hash(); h == keys || h == without {
		t.Error("the view of a stream is not in the hash")
	}
}

// Two streams of one table have different names even if the clock stands still. A table that is created again begins a
// new stream.
func TestStreamNames(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	first := w.stream(types.StreamViewTypeKeysOnly)
	w.put(key("a", "1"))
	w.disableStream()
	second := w.stream(types.StreamViewTypeKeysOnly)
	w.put(key("a", "2"))
	must.Done(t)(w.c.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("cache")}))
	table(t, w.db, "cache", "pk", "S", "sk", "S")
	third := w.stream(types.StreamViewTypeKeysOnly)
	w.put(key("a", "3"))

	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/cache/stream/2040-01-01T00:00:00."
	for i, got := range []string{first, second, third} {
		if want := fmt.Sprintf("%s00%d", arn, i); got != want {
			t.Errorf("got stream %s, want %s", got, want)
		}
		next := w.wantRecords(w.iterator(got, streamtypes.ShardIteratorTypeTrimHorizon), fmt.Sprint("INSERT ", i+1))
		if open := next != nil; open != (i == 2) {
			t.Errorf("%s: goes on: %t, want %t", got, open, i == 2)
		}
	}
}

// After a day a disabled stream is gone, even for readers that still have its name or an iterator. The table keeps the
// name.
func TestStreamGone(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	arn := w.stream(types.StreamViewTypeKeysOnly)
	w.put(key("a", "1"))
	w.disableStream()
	w.clock.Advance(24 * time.Hour)
	late := w.iterator(arn, streamtypes.ShardIteratorTypeTrimHorizon)
	w.clock.Advance(time.Millisecond)

	const message = "Requested resource not found: Stream: "
	_, err := w.c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: late})
	wantError(t, err, "ResourceNotFoundException", message+arn+" not found")
	_, err = w.c.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &arn})
	wantError(t, err, "ResourceNotFoundException", message+arn+" not found")
	if _, ok := errors.AsType[*streamtypes.ResourceNotFoundException](err); !ok {
		t.Errorf("got a %T, want the type that the SDK has for streams", err)
	}
	out, err := w.c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("cache")})
	if err != nil || aws.ToString(out.Table.LatestStreamArn) != arn {
		t.Errorf("got latest stream %q, %v, want %s", aws.ToString(out.Table.LatestStreamArn), err, arn)
	}
}

// A reader misses nothing if only other tables' changes have expired.
func TestStreamReaderInTime(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	table(t, w.db, "other", "pk", "S", "sk", "S")
	arn := w.stream(types.StreamViewTypeKeysOnly)
	putInto(t, w.c, "other", key("a", "x"))
	w.clock.Advance(24 * time.Hour)
	w.put(key("a", "2"))
	inTime := w.iterator(arn, streamtypes.ShardIteratorTypeTrimHorizon)
	w.clock.Advance(time.Second)
	w.wantRecords(inTime, "INSERT 2")

	// A shard can be read from its announced starting number.
	_, err := w.c.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &arn, ShardId: w.shards(arn)[0].ShardId,
		ShardIteratorType: streamtypes.ShardIteratorTypeAtSequenceNumber,
		SequenceNumber:    w.shards(arn)[0].SequenceNumberRange.StartingSequenceNumber,
	})
	if err != nil {
		t.Error(err)
	}
}

// Iterators that the service never returned are refused.
func TestStreamIteratorForged(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	arn := w.stream(types.StreamViewTypeKeysOnly)
	good := *w.iterator(arn, streamtypes.ShardIteratorTypeTrimHorizon)
	for _, text := range []string{
		"x", "||", arn + "|1|", arn + "|1|!", arn + "|2" + strings.TrimPrefix(good, arn+"|1"), good + "|", good + "A",
		strings.Repeat("x", 2048),
	} {
		_, err := w.c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: &text})
		wantError(t, err, validation, "Invalid ShardIterator")
	}
	elsewhere := strings.Replace(good, "/cache/", "/other/", 1)
	_, err := w.c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: &elsewhere})
	wantError(t, err, "ResourceNotFoundException",
		"Requested resource not found: Stream: "+strings.Replace(arn, "/cache/", "/other/", 1)+" not found")
}

// Faults match operations on streams by their table, and refuse them as the service does.
func TestStreamFaults(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	arn := w.stream(types.StreamViewTypeKeysOnly)
	start := w.iterator(arn, streamtypes.ShardIteratorTypeTrimHorizon)
	shard := w.shards(arn)[0].ShardId
	for _, tc := range []struct {
		in        any
		throttled string
	}{
		{&dynamodbstreams.ListStreamsInput{TableName: aws.String("cache")}, "ThrottlingException"},
		{&dynamodbstreams.DescribeStreamInput{StreamArn: &arn}, "ThrottlingException"},
		{&dynamodbstreams.GetShardIteratorInput{
			StreamArn: &arn, ShardId: shard, ShardIteratorType: streamtypes.ShardIteratorTypeLatest,
		}, "ThrottlingException"},
		{&dynamodbstreams.GetRecordsInput{ShardIterator: start}, "LimitExceededException"},
	} {
		do := func() error {
			_, err := w.db.Do(t.Context(), ddbfake.Call{Input: tc.in})
			return err
		}
		w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultThrottled, Table: "other"},
			ddbfake.Fault{Kind: ddbfake.FaultThrottled, Table: "cache"},
			ddbfake.Fault{Kind: ddbfake.FaultErrorAfter, Table: "cache"})
		wantError(t, do(), tc.throttled, "Rate exceeded")
		var internal *streamtypes.InternalServerError
		var api smithy.APIError
		if err := do(); !errors.As(err, &internal) || !errors.As(err, &api) || api.ErrorFault() != smithy.FaultServer {
			t.Errorf("%T: got %v, want an InternalServerError of the SDK's package for streams", tc.in, err)
		}
		if err := do(); err != nil {
			t.Errorf("%T: %v", tc.in, err)
		}
		w.db.ClearFaults()
	}
}

// The log of requests names the stream's table.
func TestStreamRequests(t *testing.T) {
	w := worldOf(t, ddbfake.Options{LogRequests: 1})
	arn := w.stream(types.StreamViewTypeKeysOnly)
	w.records(w.iterator(arn, streamtypes.ShardIteratorTypeLatest))
	if got, want := fmt.Sprint(w.db.Requests()), "[5 alice GetRecords cache: ok]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A region has streams of its own tables, and no request reaches another region.
func TestStreamRegions(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	here := w.stream(types.StreamViewTypeKeysOnly)
	far := w.db.As("alice").In(ireland)
	createCache(t, far)
	there := (&world{TB: t, db: w.db, clock: w.clock, c: far}).stream(types.StreamViewTypeKeysOnly)
	putInto(t, far, "cache", key("a", "far"))
	w.put(key("a", "near"))

	for _, at := range []struct {
		c             *ddbfake.Door
		arn, other    string
		region, wrote string
	}{
		{w.c, here, there, "us-east-1", "INSERT near"}, {far, there, here, ireland, "INSERT far"},
	} {
		in := &world{TB: t, db: w.db, c: at.c}
		out := in.records(in.iterator(at.arn, streamtypes.ShardIteratorTypeTrimHorizon))
		if diff := cmp.Diff([]string{at.wrote}, said(out.Records)); diff != "" {
			t.Errorf("%s: records (-want +got):\n%s", at.region, diff)
		}
		if got := *out.Records[0].AwsRegion; got != at.region {
			t.Errorf("got region %s in a record, want %s", got, at.region)
		}
		_, err := at.c.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &at.other})
		wantError(t, err, "ResourceNotFoundException", "Requested resource not found: Stream: "+at.other+" not found")
		listed, err := at.c.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{})
		if err != nil || len(listed.Streams) != 1 || *listed.Streams[0].StreamArn != at.arn {
			t.Errorf("%s: got streams %v, %v, want %s", at.region, listed, err, at.arn)
		}
	}
	client := w.db.StreamsClient(func(o *dynamodbstreams.Options) { o.Region = ireland })
	if _, err := client.DescribeStream(t.Context(),
		&dynamodbstreams.DescribeStreamInput{StreamArn: &there}); err != nil {
		t.Errorf("an SDK client of that region: %v", err)
	}
}

// Changes that a bounded log has dropped are trimmed, and a reader that had not read them gets an error.
func TestStreamOfBoundedLog(t *testing.T) {
	w := worldOf(t, ddbfake.Options{KeepChanges: 2})
	arn := w.stream(types.StreamViewTypeKeysOnly)
	start := w.iterator(arn, streamtypes.ShardIteratorTypeTrimHorizon)
	for i := range 5 {
		w.put(key("a", fmt.Sprint(i)))
	}
	_, err := w.c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: start})
	wantError(t, err, "TrimmedDataAccessException", "The data you are trying to access has been trimmed")
	next := w.wantRecords(w.iterator(arn, streamtypes.ShardIteratorTypeTrimHorizon), "INSERT 2", "INSERT 3", "INSERT 4")
	w.put(key("a", "5"))
	w.wantRecords(next, "INSERT 5")
}
