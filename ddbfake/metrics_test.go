package ddbfake_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// total adds up a metric over the dimensions.
func total[N int | float64](db *ddbfake.DB, of func(ddbfake.Metrics) N) N {
	var sum N
	for _, m := range db.Metrics() {
		sum += of(m)
	}
	return sum
}

// An operator's alarm on ThrottledRequests rings at more than five in one minute, three minutes in a row. It rings
// although the client retries each throttled request until it succeeds, so that no caller sees an error.
func TestMetricsRingAnAlarm(t *testing.T) {
	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	table(t, db, "rows", "pk", "S", "", "")
	client := db.Client()
	for _, test := range []struct {
		name  string
		times int // requests per minute, each throttled twice
		rings bool
	}{
		{"few", 2, false},
		{"many", 3, true},
	} {
		minutes := 0
		for range 4 {
			before := total(db, func(m ddbfake.Metrics) int { return m.ThrottledRequests })
			for range test.times {
				db.Inject(ddbfake.Fault{Kind: ddbfake.FaultThrottled, Op: "PutItem", Times: 2})
				must.Done(t)(client.PutItem(t.Context(),
					&dynamodb.PutItemInput{TableName: aws.String("rows"), Item: values{"pk": s("a")}}))
			}
			clock.Advance(time.Minute)
			if total(db, func(m ddbfake.Metrics) int { return m.ThrottledRequests })-before > 5 {
				minutes++
			} else {
				minutes = 0
			}
		}
		if rings := minutes >= 3; rings != test.rings {
			t.Errorf("%s: got an alarm %v, want %v", test.name, rings, test.rings)
		}
	}
}

// Every metric, under its dimensions.
func TestMetrics(t *testing.T) {
	const region = ddbfake.DefaultRegion
	clock := fakeclock.New(fakeclock.Epoch)
	rows := aws.String("rows")
	put := &dynamodb.PutItemInput{TableName: rows, Item: values{"pk": s("a")}}
	absent := &dynamodb.PutItemInput{
		TableName: rows, Item: values{"pk": s("a")}, ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}
	transaction := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: rows, Item: values{"pk": s("a")}}},
		{Put: &types.Put{TableName: rows, Item: values{"pk": s("b")}}},
	}}
	statements := &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{
		{Statement: aws.String(`INSERT INTO "rows" VALUE {'pk': 'a'}`)},
		{Statement: aws.String(`INSERT INTO "rows" VALUE {'pk': 'b'}`)},
	}}
	batch := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		"rows": {Keys: []map[string]types.AttributeValue{{"pk": s("a")}, {"pk": s("b")}}},
	}}
	fault := func(kind ddbfake.FaultKind) *ddbfake.Fault { return &ddbfake.Fault{Kind: kind} }
	of := func(m ddbfake.Metrics) ddbfake.Metrics { m.Region, m.Table = region, "rows"; return m }
	own := func(m ddbfake.Metrics) ddbfake.Metrics { return of(m) }
	op := func(name string, m ddbfake.Metrics) ddbfake.Metrics { m.Operation = name; return of(m) }
	users := ddbfake.Metrics{Region: region, UserErrors: 1}
	for _, test := range []struct {
		name string
		call ddbfake.Call
		want []ddbfake.Metrics
	}{
		{"success", ddbfake.Call{Input: put, Sent: fakeclock.Epoch.Add(-time.Second)}, []ddbfake.Metrics{
			own(ddbfake.Metrics{ConsumedWriteCapacityUnits: 1}),
			op("PutItem", ddbfake.Metrics{SuccessfulRequests: 1, SuccessfulRequestLatency: time.Second})}},
		{"failed condition", ddbfake.Call{Input: absent}, []ddbfake.Metrics{
			own(ddbfake.Metrics{ConsumedWriteCapacityUnits: 1, ConditionalCheckFailedRequests: 1})}},
		{"read",
			ddbfake.Call{Input: &dynamodb.GetItemInput{TableName: rows, Key: values{"pk": s("a")}}}, []ddbfake.Metrics{
				own(ddbfake.Metrics{ConsumedReadCapacityUnits: 0.5}),
				op("GetItem", ddbfake.Metrics{SuccessfulRequests: 1})}},
		{"query", ddbfake.Call{Input: &dynamodb.QueryInput{TableName: rows, ConsistentRead: aws.Bool(true),
			KeyConditionExpression: aws.String("pk = :a"), ExpressionAttributeValues: values{":a": s("a")}}},
			[]ddbfake.Metrics{
				own(ddbfake.Metrics{ConsumedReadCapacityUnits: 1}),
				op("Query", ddbfake.Metrics{SuccessfulRequests: 1})}},
		{"scan", ddbfake.Call{Input: &dynamodb.ScanInput{TableName: rows}}, []ddbfake.Metrics{
			own(ddbfake.Metrics{ConsumedReadCapacityUnits: 0.5}), op("Scan", ddbfake.Metrics{SuccessfulRequests: 1})}},
		{"transaction", ddbfake.Call{Input: transaction}, []ddbfake.Metrics{
			own(ddbfake.Metrics{ConsumedWriteCapacityUnits: 4}),
			op("TransactWriteItems", ddbfake.Metrics{SuccessfulRequests: 1})}},
		{"batch", ddbfake.Call{Input: batch}, []ddbfake.Metrics{
			own(ddbfake.Metrics{ConsumedReadCapacityUnits: 1}),
			op("BatchGetItem", ddbfake.Metrics{SuccessfulRequests: 1})}},
		{"batch, in part", ddbfake.Call{Input: batch, Fault: &ddbfake.Fault{Kind: ddbfake.FaultUnprocessed, Key: "a"}},
			[]ddbfake.Metrics{
				own(ddbfake.Metrics{ConsumedReadCapacityUnits: 0.5, ReadThrottleEvents: 1}),
				op("BatchGetItem", ddbfake.Metrics{SuccessfulRequests: 1})}},
		{"batch, all of it", ddbfake.Call{Input: batch, Fault: fault(ddbfake.FaultUnprocessed)}, []ddbfake.Metrics{
			own(ddbfake.Metrics{ReadThrottleEvents: 2}), op("BatchGetItem", ddbfake.Metrics{ThrottledRequests: 1})}},
		{"throttled", ddbfake.Call{Input: put, Fault: fault(ddbfake.FaultThrottled)}, []ddbfake.Metrics{
			own(ddbfake.Metrics{WriteThrottleEvents: 1}), op("PutItem", ddbfake.Metrics{ThrottledRequests: 1})}},
		{"throttled transaction",
			ddbfake.Call{Input: transaction, Fault: fault(ddbfake.FaultThrottled)}, []ddbfake.Metrics{
				users, own(ddbfake.Metrics{WriteThrottleEvents: 2}),
				op("TransactWriteItems", ddbfake.Metrics{ThrottledRequests: 1})}},
		{"conflict", ddbfake.Call{Input: put, Fault: fault(ddbfake.FaultConflict)}, []ddbfake.Metrics{
			users, own(ddbfake.Metrics{TransactionConflict: 1})}},
		{"conflict of a transaction",
			ddbfake.Call{Input: transaction, Fault: fault(ddbfake.FaultConflict)}, []ddbfake.Metrics{
				users, own(ddbfake.Metrics{TransactionConflict: 2})}},
		{"conflict of a statement of two",
			ddbfake.Call{Input: statements, Fault: &ddbfake.Fault{Kind: ddbfake.FaultConflict, Key: "a"}},
			[]ddbfake.Metrics{
				own(ddbfake.Metrics{ConsumedWriteCapacityUnits: 1, TransactionConflict: 1}),
				op("BatchExecuteStatement", ddbfake.Metrics{SuccessfulRequests: 1})}},
		{"error before", ddbfake.Call{Input: put, Fault: fault(ddbfake.FaultErrorBefore)}, []ddbfake.Metrics{
			op("PutItem", ddbfake.Metrics{SystemErrors: 1})}},
		{"error after", ddbfake.Call{Input: put, Fault: fault(ddbfake.FaultErrorAfter)}, []ddbfake.Metrics{
			own(ddbfake.Metrics{ConsumedWriteCapacityUnits: 1}), op("PutItem", ddbfake.Metrics{SystemErrors: 1})}},
		{"request lost", ddbfake.Call{Input: put, Fault: fault(ddbfake.FaultRequestLost)}, nil},
		{"response lost", ddbfake.Call{Input: put, Fault: fault(ddbfake.FaultResponseLost)}, []ddbfake.Metrics{
			own(ddbfake.Metrics{ConsumedWriteCapacityUnits: 1}),
			op("PutItem", ddbfake.Metrics{SuccessfulRequests: 1})}},
		{"duplicate", ddbfake.Call{Input: absent, Fault: fault(ddbfake.FaultDuplicate)}, []ddbfake.Metrics{
			own(ddbfake.Metrics{ConsumedWriteCapacityUnits: 2, ConditionalCheckFailedRequests: 2})}},
		{"no such table",
			ddbfake.Call{Input: &dynamodb.GetItemInput{TableName: aws.String("none"), Key: values{"pk": s("a")}}},
			[]ddbfake.Metrics{users}},
		{"not supported", ddbfake.Call{Input: &dynamodb.ImportTableInput{}}, []ddbfake.Metrics{users}},
	} {
		db := ddbfake.New(ddbfake.Options{Clock: clock})
		table(t, db, "rows", "pk", "S", "", "")
		must.OK(t, db.Put("rows", attr.Item{"pk": attr.S("a")}))
		kept := db.Snapshot()
		db.Reset(ddbfake.Options{Clock: clock}, kept)
		_, _ = db.Do(t.Context(), test.call) // the metrics show the outcome
		got := db.Metrics()
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		db.Restore(kept)
		if diff := cmp.Diff(got, db.Metrics()); diff != "" {
			t.Errorf("%s: a restore changes the metrics (-before +after):\n%s", test.name, diff)
		}
	}
}

// TTL's deletions are counted, and so are the errors of a client over the SDK's wire.
func TestMetricsThroughSDK(t *testing.T) {
	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	table(t, db, "rows", "pk", "S", "", "")
	client := db.Client()
	_, err := client.UpdateTimeToLive(t.Context(), ttlOn("rows"))
	must.OK(t, err)
	put := func() error {
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("rows"), Item: values{"pk": s("a"), "ttl": n("2208988800")},
			ConditionExpression: aws.String("attribute_not_exists(pk)"),
		})
		return err
	}
	must.OK(t, put())
	var failed *types.ConditionalCheckFailedException
	if err := put(); !errors.As(err, &failed) {
		t.Fatalf("got %v, want a failed condition", err)
	}
	clock.Advance(time.Minute)
	db.SweepExpired()
	want := []ddbfake.Metrics{
		{Region: "us-east-1", Table: "rows", ConditionalCheckFailedRequests: 1, TimeToLiveDeletedItemCount: 1,
			ConsumedWriteCapacityUnits: 2},
		{Region: "us-east-1", Table: "rows", Operation: "PutItem", SuccessfulRequests: 1},
		{Region: "us-east-1", Table: "rows", Operation: "UpdateTimeToLive", SuccessfulRequests: 1},
	}
	if diff := cmp.Diff(want, db.Metrics()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A global index has its own units and throttle events. The units of a local index count for its table.
func TestMetricsOfIndexes(t *testing.T) {
	db, door, _ := indexedWorld(t)
	in := values{"pk": s("a"), "sk": s("b"), "h": s("h"), "i": s("i"), "a": s("a"), "b": n("1")}
	must.Done(t)(door.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("rows"), Item: in}))
	many := &dynamodb.ScanInput{TableName: aws.String("rows"), IndexName: aws.String("many")}
	must.Done(t)(door.Scan(t.Context(), many))
	db.Inject(ddbfake.Fault{Kind: ddbfake.FaultThrottled})
	if _, err := door.Scan(t.Context(), many); err == nil {
		t.Fatal("the fault did not strike")
	}
	want := []ddbfake.Metrics{
		{Region: "us-east-1", Table: "rows", ConsumedWriteCapacityUnits: 2},
		{Region: "us-east-1", Table: "rows", Operation: "PutItem", SuccessfulRequests: 1},
		{Region: "us-east-1", Table: "rows", Operation: "Scan", SuccessfulRequests: 1, ThrottledRequests: 1},
		{Region: "us-east-1", Table: "rows", Index: "many", ConsumedWriteCapacityUnits: 1,
			ConsumedReadCapacityUnits: 0.5, ReadThrottleEvents: 1},
	}
	if diff := cmp.Diff(want, db.Metrics()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
