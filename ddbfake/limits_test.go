package ddbfake_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

const rowsARN = "arn:aws:dynamodb:us-east-1:000000000000:table/rows"

func units(read, write int64) *types.ProvisionedThroughput {
	return &types.ProvisionedThroughput{ReadCapacityUnits: &read, WriteCapacityUnits: &write}
}

// limited returns a DB with a table named rows under Options.Throughput.
func limited(t *testing.T, clock ddbfake.Clock, provisioned *types.ProvisionedThroughput) (*ddbfake.DB, *ddbfake.Door) {
	t.Helper()
	db := ddbfake.New(ddbfake.Options{Clock: clock, Throughput: true})
	door := db.As("alice")
	in := tableInput("rows", "pk", "S", "", "")
	if provisioned != nil {
		in.BillingMode, in.ProvisionedThroughput = types.BillingModeProvisioned, provisioned
	}
	must.Done(t)(door.CreateTable(t.Context(), in))
	return db, door
}

// writes returns the number of puts that succeed until one is throttled, and its error.
func writes(t *testing.T, door *ddbfake.Door, keyOf func(i int) string) (int, error) {
	t.Helper()
	for i := range 1_000_000 {
		_, err := door.PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("rows"), Item: values{"pk": s(keyOf(i))}})
		if err != nil {
			return i, err
		}
	}
	t.Fatal("nothing was throttled")
	return 0, nil
}

func hot(int) string { return "hot" }

// even spreads requests over enough keys that none limits them.
func even(i int) string { return strconv.Itoa(i % 100) }

// Every kind of request reaches the limit of a key at the number of units that AWS documents.
func TestThroughputOfAKey(t *testing.T) {
	rows, consistent := aws.String("rows"), aws.Bool(true)
	a := values{"pk": s("a")}
	for _, test := range []struct {
		name  string
		input any
		want  int
		// reason is the error's reason, or the cancellation's code.
		reason string
	}{
		{"write", &dynamodb.PutItemInput{TableName: rows, Item: a}, 1000, "TableWriteKeyRangeThroughputExceeded"},
		{"failed condition",
			&dynamodb.UpdateItemInput{TableName: rows, Key: a, ConditionExpression: aws.String("attribute_exists(x)")},
			1000, "TableWriteKeyRangeThroughputExceeded"},
		{"batch write", &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"rows": {
			{PutRequest: &types.PutRequest{Item: a}}}}}, 1000, "TableWriteKeyRangeThroughputExceeded"},
		{"transactional write", &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: rows, Item: a}}}}, 500, "ThrottlingError"},
		{"read", &dynamodb.GetItemInput{TableName: rows, Key: a, ConsistentRead: consistent}, 3000,
			"TableReadKeyRangeThroughputExceeded"},
		{"eventual read", &dynamodb.GetItemInput{TableName: rows, Key: a}, 6000, "TableReadKeyRangeThroughputExceeded"},
		{"query", &dynamodb.QueryInput{TableName: rows, ConsistentRead: consistent,
			KeyConditionExpression:    aws.String("pk = :a"),
			ExpressionAttributeValues: values{":a": s("a")}}, 3000, "TableReadKeyRangeThroughputExceeded"},
		{"batch read", &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"rows": {
			Keys: []map[string]types.AttributeValue{a}, ConsistentRead: consistent}}}, 3000,
			"TableReadKeyRangeThroughputExceeded"},
		{"transactional read", &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
			{Get: &types.Get{TableName: rows, Key: a}}}}, 1500, "ThrottlingError"},
		{"scan, of the table only", &dynamodb.ScanInput{TableName: rows, ConsistentRead: consistent}, 12000,
			"TableReadKeyRangeThroughputExceeded"},
	} {
		clock := fakeclock.New(fakeclock.Epoch)
		db, _ := limited(t, clock, nil)
		for _, second := range []string{"first", "next"} {
			served, reason := 0, ""
			for reason == "" && served <= test.want {
				_, err := db.Do(t.Context(), ddbfake.Call{Input: test.input})
				if reason = throttledBy(err); reason == "" {
					served++
				}
			}
			if served != test.want || reason != test.reason {
				t.Errorf("%s, %s second: got %d served, then %q; want %d, then %q", test.name, second, served,
					reason, test.want, test.reason)
			}
			clock.Advance(time.Second)
		}
		if got := total(db, func(m ddbfake.Metrics) int { return m.ThrottledRequests }); got != 2 {
			t.Errorf("%s: got %d ThrottledRequests, want 2", test.name, got)
		}
	}
}

// throttledBy returns the reason in an on-demand table's error; "" if the error has another cause.
func throttledBy(err error) string {
	if e, ok := errors.AsType[*types.ThrottlingException](err); ok {
		return *e.ThrottlingReasons[0].Reason
	}
	if e, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return *e.CancellationReasons[0].Code
	}
	return ""
}

// An on-demand table starts with 4,000 writes per second, and 30 minutes after a peak it has twice that peak. Time
// without traffic adds nothing.
func TestThroughputRamps(t *testing.T) {
	clock := fakeclock.New(fakeclock.Epoch)
	_, door := limited(t, clock, nil)
	for i, test := range []struct {
		after time.Duration
		want  int
	}{{0, 4000}, {time.Minute, 4000}, {29 * time.Minute, 8000}, {time.Second, 8000},
		{time.Hour, 16000}, {time.Second, 16000}} {
		clock.Advance(test.after)
		got, err := writes(t, door, even)
		if got != test.want || throttledBy(err) == "" {
			t.Errorf("step %d: got %d writes, then %v; want %d", i, got, err, test.want)
		}
	}
}

// A provisioned table has its own units and error. A table with a ceiling has its own error, too.
func TestThroughputOfATable(t *testing.T) {
	clock := fakeclock.New(fakeclock.Epoch)
	_, door := limited(t, clock, units(1, 10))
	got, err := writes(t, door, even)
	var exceeded *types.ProvisionedThroughputExceededException
	if !errors.As(err, &exceeded) || got != 10 {
		t.Fatalf("got %d writes, then %v; want 10, then a ProvisionedThroughputExceededException", got, err)
	}
	want := []types.ThrottlingReason{{Reason: aws.String("TableWriteProvisionedThroughputExceeded"),
		Resource: aws.String(rowsARN)}}
	if diff := cmp.Diff(want, exceeded.ThrottlingReasons, cmp.AllowUnexported(types.ThrottlingReason{})); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	clock.Advance(100 * time.Millisecond)
	if got, _ := writes(t, door, even); got != 1 {
		t.Errorf("after a tenth of a second: got %d writes, want 1", got)
	}

	_, door = limited(t, clock, nil)
	_, err = door.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName: aws.String("rows"), OnDemandThroughput: &types.OnDemandThroughput{
			MaxWriteRequestUnits: aws.Int64(7),
		},
	})
	must.OK(t, err)
	if got, err := writes(t, door, even); got != 7 || throttledBy(err) != "TableWriteMaxOnDemandThroughputExceeded" {
		t.Errorf("with a ceiling: got %d writes, then %v; want 7, then the ceiling", got, err)
	}
}

// A global index throttles the writes of its table that exceed the limit of one of the index's keys.
func TestThroughputOfAnIndex(t *testing.T) {
	db, door, clock := indexedWorld(t)
	db.Reset(ddbfake.Options{Clock: clock, Throughput: true}, db.Snapshot())
	served := 0
	var err error
	for err == nil {
		in := values{"pk": s(strconv.Itoa(served)), "sk": s("b"), "h": s("hot"), "i": s("i"), "a": s("a"), "b": n("1")}
		if _, err = door.PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("rows"), Item: in}); err == nil {
			served++
		}
	}
	if got := throttledBy(err); served != 1000 || got != "IndexWriteKeyRangeThroughputExceeded" {
		t.Errorf("got %d writes, then %v; want 1000, then the index", served, err)
	}
	if n := len(db.Items("rows")); n != served {
		t.Errorf("got %d rows, want %d: a throttled write writes nothing", n, served)
	}
}

// A part of a batch is done at once, and a second later the rest.
func TestThroughputLeavesABatchUnprocessed(t *testing.T) {
	clock := fakeclock.New(fakeclock.Epoch)
	db, door := limited(t, clock, units(1, 2))
	in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{}}
	for _, pk := range []string{"a", "b", "c"} {
		in.RequestItems["rows"] = append(in.RequestItems["rows"],
			types.WriteRequest{PutRequest: &types.PutRequest{Item: values{"pk": s(pk)}}})
	}
	out, err := door.BatchWriteItem(t.Context(), in)
	if err != nil || len(out.UnprocessedItems["rows"]) != 1 {
		t.Fatalf("got %v, %v; want one item unprocessed", out, err)
	}
	clock.Advance(time.Second)
	out, err = door.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: out.UnprocessedItems})
	if err != nil || len(out.UnprocessedItems) > 0 || len(db.Items("rows")) != 3 {
		t.Errorf("a second later: got %v, %v", out, err)
	}
}

// A large request is let in on credit, because otherwise it could never succeed. Over time, the rate holds.
func TestThroughputLetsLargeRequestsIn(t *testing.T) {
	clock := fakeclock.New(fakeclock.Epoch)
	_, door := limited(t, clock, units(1, 1))
	large := &dynamodb.PutItemInput{
		TableName: aws.String("rows"), Item: values{"pk": s("a"), "body": s(string(make([]byte, 10_000)))},
	}
	served := 0
	for range 100 {
		if _, err := door.PutItem(t.Context(), large); err == nil {
			served++
		}
		clock.Advance(time.Second)
	}
	if served != 10 {
		t.Errorf("got %d writes of 10 units in 100 s at one unit a second, want 10", served)
	}
}

// The SDK's own client reaches the limits, waits as it does on AWS, and recovers. Time is the bubble's.
func TestThroughputThroughSDK(t *testing.T) {
	for _, test := range []struct {
		name        string
		provisioned *types.ProvisionedThroughput
	}{
		{"on demand", nil},
		{"provisioned", units(1000, 1000)},
	} {
		synctest.Test(t, func(t *testing.T) {
			clock := clockwork.NewRealClock() // in a bubble, the time of the bubble
			db, door := limited(t, clock, test.provisioned)
			if n, _ := writes(t, door, hot); n != 1000 {
				t.Fatalf("%s: got %d writes, want 1000", test.name, n)
			}
			put := &dynamodb.PutItemInput{TableName: aws.String("rows"), Item: values{"pk": s("hot")}}
			once := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
			_, err := once.PutItem(t.Context(), put)
			onDemand, isOnDemand := errors.AsType[*types.ThrottlingException](err)
			exceeded, isExceeded := errors.AsType[*types.ProvisionedThroughputExceededException](err)
			switch {
			case test.provisioned == nil &&
				(!isOnDemand || aws.ToString(onDemand.ThrottlingReasons[0].Resource) != rowsARN):
				t.Errorf("%s: got %v, want a ThrottlingException with the table", test.name, err)
			case test.provisioned != nil &&
				(!isExceeded || aws.ToString(exceeded.ThrottlingReasons[0].Resource) != rowsARN):
				t.Errorf("%s: got %v, want a ProvisionedThroughputExceededException with the table", test.name, err)
			}
			began := clock.Now()
			random := rand.New(rand.NewPCG(1, 2))
			client := db.Client(func(o *dynamodb.Options) {
				o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
					o.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
						return time.Duration(1 + random.IntN(20<<attempt)), nil
					})
				})
			})
			_, err = client.PutItem(t.Context(), put)
			if err == nil {
				t.Errorf("%s: nanoseconds are enough to recover", test.name)
			}
			client = db.Client(func(o *dynamodb.Options) { o.Retryer = retry.NewStandard() })
			if _, err := client.PutItem(t.Context(), put); err != nil {
				t.Errorf("%s: got %v, want the SDK's retries to recover", test.name, err)
			}
			if waited := clock.Now().Sub(began); waited > 30*time.Second {
				t.Errorf("%s: waited %s", test.name, waited)
			}
			if got := total(db, func(m ddbfake.Metrics) int { return m.ThrottledRequests }); got < 4 {
				t.Errorf("%s: got %d ThrottledRequests, want those that the retries hid, too", test.name, got)
			}
		})
	}
}

// settable is a clock that can be set back, like the clock of isr-sim serve.
type settable struct{ time.Time }

func (c *settable) Now() time.Time { return c.Time }

// After a restore no units count as spent, even if the clock goes back to the time of the snapshot.
func TestARestoreGivesUnitsBack(t *testing.T) {
	clock := &settable{fakeclock.Epoch}
	db, door := limited(t, clock, nil)
	held := db.Snapshot()
	clock.Time = clock.Add(time.Hour)
	if n, _ := writes(t, door, hot); n != 1000 {
		t.Fatalf("%d writes, want 1000", n)
	}
	if n, _ := writes(t, door, hot); n != 0 {
		t.Errorf("%d more writes, want none", n)
	}
	clock.Time = fakeclock.Epoch
	db.Restore(held)
	if n, _ := writes(t, door, hot); n != 1000 {
		t.Errorf("%d writes after the restore, want 1000", n)
	}
}

// The error of a throttled call names the index, or the throttled one of two tables. A call that takes no units names
// no reason.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ThrottlingReason.html
func TestThrottlingReasons(t *testing.T) {
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/"
	db, door, _ := indexedWorld(t)
	provisioned := tableInput("provisioned", "pk", "S", "", "")
	provisioned.BillingMode, provisioned.ProvisionedThroughput = types.BillingModeProvisioned, units(1, 1)
	must.Done(t)(door.CreateTable(t.Context(), provisioned))
	for _, tc := range []struct {
		table string // the fault's table
		in    any
		want  []string // the code and the reasons
	}{
		{"", &dynamodb.ScanInput{TableName: aws.String("rows"), IndexName: aws.String("many")},
			[]string{"ThrottlingException", "IndexReadKeyRangeThroughputExceeded " + arn + "rows/index/many"}},
		{"provisioned", &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			"rows": {Keys: []values{key("a", "b"), key("a", "c")}}, "provisioned": {Keys: []values{{"pk": s("a")}}},
		}}, []string{"ProvisionedThroughputExceededException",
			"TableReadProvisionedThroughputExceeded " + arn + "provisioned"}},
		{"", &dynamodb.ListTablesInput{}, []string{"ThrottlingException"}},
	} {
		_, err := db.Do(t.Context(),
			ddbfake.Call{Input: tc.in, Fault: &ddbfake.Fault{Kind: ddbfake.FaultThrottled, Table: tc.table}})
		if diff := cmp.Diff(tc.want, slices.Delete(refusalOf(err), 1, 2)); diff != "" {
			t.Errorf("%T (-want +got):\n%s", tc.in, diff)
		}
	}
}

// reasonsOf returns the reasons in either exception of a throttled call.
func reasonsOf(err error) []types.ThrottlingReason {
	if provisioned, ok := errors.AsType[*types.ProvisionedThroughputExceededException](err); ok {
		return provisioned.ThrottlingReasons
	}
	if onDemand, ok := errors.AsType[*types.ThrottlingException](err); ok {
		return onDemand.ThrottlingReasons
	}
	return nil
}

// FaultThrottled answers like Options.Throughput: with the same exception, text and reasons, for tables of both kinds.
func TestThrottledAsByThroughput(t *testing.T) {
	const configured = "The level of configured provisioned throughput for the table was exceeded. " +
		"Consider increasing your provisioning level with the UpdateTable API."
	const scaling = "Throughput exceeds the current capacity of your table or index. " +
		"DynamoDB is automatically scaling your table or index so please try again shortly. " +
		"If exceptions persist, check if you have a hot key: " +
		"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
	rows := aws.String("rows")
	item := values{"pk": s("a"), "body": s(strings.Repeat("x", 380_000))} // 372 write units, 93 read units
	exception := func(of string) [2][]string {
		return [2][]string{
			{"ProvisionedThroughputExceededException", configured,
				"Table" + of + "ProvisionedThroughputExceeded " + rowsARN},
			{"ThrottlingException", scaling, "Table" + of + "KeyRangeThroughputExceeded " + rowsARN},
		}
	}
	const cancelled = "Transaction cancelled, please refer cancellation reasons for specific reasons "
	transaction := [2][]string{
		{"TransactionCanceledException", cancelled + "[ProvisionedThroughputExceeded]",
			"ProvisionedThroughputExceeded " + configured},
		{"TransactionCanceledException", cancelled + "[ThrottlingError]", "ThrottlingError " + scaling},
	}
	put := &dynamodb.PutItemInput{TableName: rows, Item: item}
	calls := []struct {
		in   any
		want [2][]string // for a provisioned table, and for an on-demand one
	}{
		{put, exception("Write")},
		{&dynamodb.GetItemInput{TableName: rows, Key: values{"pk": s("a")}, ConsistentRead: aws.Bool(true)},
			exception("Read")},
		{&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			"rows": {Keys: []values{{"pk": s("a")}}, ConsistentRead: aws.Bool(true)},
		}}, exception("Read")},
		{&dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: rows, Item: item}}},
		}, transaction},
		{&dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
			{Get: &types.Get{TableName: rows, Key: values{"pk": s("a")}}},
		}}, transaction},
	}
	for kind, provisioned := range []*types.ProvisionedThroughput{units(400, 500), nil} {
		for _, call := range calls {
			clock := fakeclock.New(fakeclock.Epoch)
			db, door := limited(t, clock, provisioned)
			must.Done(t)(door.PutItem(t.Context(), put))
			do := func() error {
				_, err := db.Do(t.Context(), ddbfake.Call{Input: call.in})
				return err
			}
			check := func(by string, err error) {
				t.Helper()
				if diff := cmp.Diff(call.want[kind], refusalOf(err)); diff != "" {
					t.Errorf("%T of a table with %v, by %s (-want +got):\n%s", call.in, provisioned, by, diff)
				}
			}
			clock.Advance(time.Minute)
			var err error
			for n := 0; err == nil && n < 100; n++ {
				err = do()
			}
			check("Options.Throughput", err)
			clock.Advance(time.Minute)
			must.OK(t, do())
			db.Reset(ddbfake.Options{Clock: clock}, db.Snapshot())
			db.Inject(ddbfake.Fault{Kind: ddbfake.FaultThrottled})
			check("a fault", do())
		}
	}
}

// refusalOf returns the code, the text and the reasons of an error.
func refusalOf(err error) []string {
	is, message := code(err)
	all := []string{is, message}
	for _, r := range reasonsOf(err) {
		all = append(all, aws.ToString(r.Reason)+" "+aws.ToString(r.Resource))
	}
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		for _, r := range cancelled.CancellationReasons {
			all = append(all, aws.ToString(r.Code)+" "+aws.ToString(r.Message))
		}
	}
	return all
}
