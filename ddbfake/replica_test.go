package ddbfake_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// read is one way to read partition "a" of the table "cache".
type read struct {
	name string
	do   func(w *world, consistent bool, fault *ddbfake.Fault) []string
}

// reads returns every kind of read that may be eventually consistent. Each row that they see is printed as its sort key
// and v.
func reads() []read {
	call := func(w *world, in any, fault *ddbfake.Fault) any {
		w.Helper()
		return must.Of(w.db.Do(w.Context(), ddbfake.Call{Input: in, Fault: fault}))(w)
	}
	show := func(items ...values) (seen []string) {
		for _, item := range items {
			seen = append(seen, fmt.Sprint(item["sk"].(*types.AttributeValueMemberS).Value, "=",
				item["v"].(*types.AttributeValueMemberS).Value))
		}
		return seen
	}
	return []read{
		{"GetItem", func(w *world, consistent bool, fault *ddbfake.Fault) (seen []string) {
			for _, sk := range []string{"1", "2", "3"} {
				in := &dynamodb.GetItemInput{
					TableName: aws.String("cache"), Key: key("a", sk), ConsistentRead: &consistent,
				}
				if item := call(w, in, fault).(*dynamodb.GetItemOutput).Item; item != nil {
					seen = append(seen, show(item)...)
				}
			}
			return seen
		}},
		{"BatchGetItem", func(w *world, consistent bool, fault *ddbfake.Fault) []string {
			return show(call(w, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				"cache": {ConsistentRead: &consistent, Keys: []values{key("a", "1"), key("a", "2"), key("a", "3")}},
			}}, fault).(*dynamodb.BatchGetItemOutput).Responses["cache"]...)
		}},
		{"Query", func(w *world, consistent bool, fault *ddbfake.Fault) []string {
			return show(call(w, &dynamodb.QueryInput{
				TableName: aws.String("cache"), ConsistentRead: &consistent,
				KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: values{":p": s("a")},
			}, fault).(*dynamodb.QueryOutput).Items...)
		}},
		{"Query with KeyConditions", func(w *world, consistent bool, fault *ddbfake.Fault) []string {
			return show(call(w, &dynamodb.QueryInput{
				TableName: aws.String("cache"), ConsistentRead: &consistent, AttributesToGet: []string{"sk", "v"},
				KeyConditions: map[string]types.Condition{
					"pk": {ComparisonOperator: "EQ", AttributeValueList: []types.AttributeValue{s("a")}},
				},
			}, fault).(*dynamodb.QueryOutput).Items...)
		}},
		{"Scan with ScanFilter", func(w *world, consistent bool, fault *ddbfake.Fault) []string {
			return show(call(w, &dynamodb.ScanInput{
				TableName: aws.String("cache"), ConsistentRead: &consistent,
				ScanFilter: map[string]types.Condition{"v": {ComparisonOperator: "NOT_NULL"}},
			}, fault).(*dynamodb.ScanOutput).Items...)
		}},
		{"Scan", func(w *world, consistent bool, fault *ddbfake.Fault) []string {
			return show(call(w, &dynamodb.ScanInput{TableName: aws.String("cache"), ConsistentRead: &consistent},
				fault).(*dynamodb.ScanOutput).Items...)
		}},
		{"ExecuteStatement", func(w *world, consistent bool, fault *ddbfake.Fault) []string {
			return show(call(w, &dynamodb.ExecuteStatementInput{
				Statement: aws.String(`SELECT * FROM cache WHERE pk = 'a'`), ConsistentRead: &consistent,
			}, fault).(*dynamodb.ExecuteStatementOutput).Items...)
		}},
		{"BatchExecuteStatement", func(w *world, consistent bool, fault *ddbfake.Fault) (seen []string) {
			in := &dynamodb.BatchExecuteStatementInput{}
			for _, sk := range []string{"1", "2", "3"} {
				in.Statements = append(in.Statements, types.BatchStatementRequest{
					Statement:      aws.String(`SELECT * FROM cache WHERE pk = 'a' AND sk = '` + sk + `'`),
					ConsistentRead: &consistent,
				})
			}
			for _, r := range call(w, in, fault).(*dynamodb.BatchExecuteStatementOutput).Responses {
				if r.Item != nil {
					seen = append(seen, show(r.Item)...)
				}
			}
			return seen
		}},
	}
}

func (w *world) wantReads(what string, consistent bool, want ...string) {
	w.Helper()
	for _, r := range reads() {
		if d := cmp.Diff(want, r.do(w, consistent, nil)); d != "" {
			w.Errorf("%s: %s, consistent %v (-want +got):\n%s", what, r.name, consistent, d)
		}
	}
}

// An eventually consistent read sees the rows as they were one lag ago. A strongly consistent read sees the present
// rows.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.ReadConsistency.html
func TestReplicaLag(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.db.SetReplicaLag(time.Second)
	v := func(sk, v string) values { return with(key("a", sk), "v", s(v)) }

	w.put(v("1", "old"), v("2", "old"))
	w.wantReads("at once", false)
	w.wantReads("at once", true, "1=old", "2=old")
	w.clock.Advance(time.Second - 1)
	w.wantReads("a nanosecond too early", false)
	w.clock.Advance(1)
	w.wantReads("after the lag", false, "1=old", "2=old")

	// One row is replaced, one deleted and one added. Then one changes again within the lag.
	w.put(v("1", "new"), v("3", "new"))
	must.Done(t)(w.c.DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "2")}))
	w.clock.Advance(500 * time.Millisecond)
	w.put(v("1", "newer"))
	w.wantReads("before the lag", false, "1=old", "2=old")
	w.wantReads("before the lag", true, "1=newer", "3=new")
	w.clock.Advance(500 * time.Millisecond)
	w.wantReads("between two changes", false, "1=new", "3=new")

	// A snapshot has the changes that have not reached the replicas yet.
	snapshot := w.db.Snapshot()
	w.clock.Advance(time.Hour)
	w.put(v("1", "last"))
	w.wantReads("after an hour", false, "1=newer", "3=new")
	w.db.Restore(snapshot)
	w.wantReads("restored", true, "1=newer", "3=new")
	w.wantReads("restored", false, "1=newer", "3=new")

	w.db.SetReplicaLag(-1)
	w.put(v("1", "end"))
	w.wantReads("without a lag", false, "1=end", "3=new")
}

// The rows of a deleted table do not come back in a new table of the same name.
func TestReplicaLagOfANewTable(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.db.SetReplicaLag(time.Minute)
	w.put(with(key("a", "1"), "v", s("old")))
	w.clock.Advance(30 * time.Second)
	w.put(with(key("a", "1"), "v", s("new")))
	must.Done(t)(w.c.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("cache")}))
	table(t, w.db, "cache", "pk", "S", "sk", "S")
	w.clock.Advance(30 * time.Second)
	w.wantReads("new table", false)
}

// Transactions and conditions never read a replica.
func TestReplicaLagOfTransactions(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.db.SetReplicaLag(time.Hour)
	w.put(with(key("a", "1"), "v", s("new")))
	got, err := w.c.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{
		TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: aws.String("cache"), Key: key("a", "1")}}},
	})
	if err != nil || got.Responses[0].Item == nil {
		t.Errorf("TransactGetItems: got %v, %v, want the row", got, err)
	}
	_, err = w.c.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("cache"), Item: key("a", "1"),
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	if name, _ := code(err); name != "ConditionalCheckFailedException" {
		t.Errorf("PutItem: got %v, want a failed condition", err)
	}
}

// A stale read lacks the last change of its rows, however long ago that was.
func TestStaleRead(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	v := func(sk, v string) values { return with(key("a", sk), "v", s(v)) }
	w.put(v("1", "old"), v("1", "new"))
	w.clock.Advance(time.Hour)
	w.put(v("2", "old"), v("2", "new"))
	want := map[string][]string{
		"GetItem":                  {"1=old", "2=old"}, // each item lacks its own last change
		"BatchGetItem":             {"1=old", "2=old"},
		"Query":                    {"1=new", "2=old"},
		"Query with KeyConditions": {"1=new", "2=old"},
		"Scan with ScanFilter":     {"1=new", "2=old"},
		"Scan":                     {"1=new", "2=old"},
		"ExecuteStatement":         {"1=new", "2=old"},
		"BatchExecuteStatement":    {"1=old", "2=old"},
	}
	stale := ddbfake.Fault{Kind: ddbfake.FaultStaleRead}
	for _, r := range reads() {
		if d := cmp.Diff(want[r.name], r.do(w, false, &stale)); d != "" {
			t.Errorf("%s (-want +got):\n%s", r.name, d)
		}
		if d := cmp.Diff([]string{"1=new", "2=new"}, r.do(w, true, &stale)); d != "" {
			t.Errorf("%s, strongly consistent (-want +got):\n%s", r.name, d)
		}
	}
	// An injected fault waits for a read that may be stale.
	w.db.Inject(stale)
	w.wantReads("strongly consistent", true, "1=new", "2=new")
	w.put(v("2", "newest"))
	if len(w.db.Injected()) != 1 {
		t.Error("the fault has struck a call that cannot be stale")
	}
	if got := w.get(key("a", "2")); got.String() != `{pk: "a", sk: "2", v: "new"}` || len(w.db.Injected()) != 0 {
		t.Errorf("got %v, want the row before its last change", got)
	}
	if got := w.get(key("a", "2")); got.String() != `{pk: "a", sk: "2", v: "newest"}` {
		t.Errorf("got %v, want the row as it is", got)
	}
}

// Whatever the number of changes, the latest ones are kept, and not many more. Each keeps its number.
func TestKeepChanges(t *testing.T) {
	const keep = 10
	w := worldOf(t, ddbfake.Options{KeepChanges: keep})
	early := []ddbfake.Change(nil)
	for i := 1; i <= 200; i++ {
		w.put(with(key("a", "b"), "v", n(fmt.Sprint(i))))
		log := w.db.Changes()
		if i <= keep && len(log) != i || i > keep && (len(log) < keep || len(log) > 2*keep) {
			t.Fatalf("of %d changes %d are kept", i, len(log))
		}
		for j, c := range log {
			seq := i - len(log) + j + 1
			if v, _ := c.After.Int("v"); c.Seq != seq || v != int64(seq) {
				t.Fatalf("after %d changes, at %d: got seq %d of version %d, want %d", i, j, c.Seq, v, seq)
			}
		}
		if got := w.db.ChangesSince(i - 3); i > 3 && (len(got) != 3 || got[0].Seq != i-2) {
			t.Fatalf("since %d: got %d changes", i-3, len(got))
		}
		if got := w.db.ChangesSince(i); len(got) != 0 {
			t.Fatalf("since the last: got %d changes", len(got))
		}
		if i == keep {
			early = log
		}
	}
	for i, c := range early {
		if v, _ := c.After.Int("v"); v != int64(i+1) {
			t.Errorf("a slice that was returned has changed: version %d at %d", v, i)
		}
	}
	if got := w.db.ChangesSince(0); len(got) == 0 || got[0].Seq <= 1 {
		t.Error("what was dropped came back")
	}
}

func TestKeepOneChange(t *testing.T) {
	w := worldOf(t, ddbfake.Options{KeepChanges: 1, Lag: ddbfake.LagAtOnce})
	w.enableTTL()
	for i := range 50 {
		w.put(with(key("a", fmt.Sprint(i)), "ttl", due(0)))
	}
	w.clock.Advance(time.Minute)
	log := w.db.Changes()
	if n := len(log); n < 1 || n > 2 || log[n-1].Seq != 100 || log[n-1].Cause != ddbfake.CauseTTL {
		t.Errorf("got %d changes, the last %+v", n, log[n-1])
	}
	if rows := w.db.Items("cache"); len(rows) != 0 {
		t.Errorf("%d rows are left", len(rows))
	}
}

// A snapshot has the log as of its instant, and every DB that continues from it has the same numbers.
func TestKeepChangesOfSnapshots(t *testing.T) {
	w := worldOf(t, ddbfake.Options{KeepChanges: 4})
	version := func(i int) values { return with(key("a", "b"), "v", n(fmt.Sprint(i))) }
	for i := 1; i <= 7; i++ {
		w.put(version(i))
	}
	kept := w.db.Snapshot()
	for i := 8; i <= 30; i++ {
		w.put(version(i))
	}
	other := ddbfake.New(ddbfake.Options{})
	other.Restore(kept)
	w.db.Restore(kept)
	for _, db := range []*ddbfake.DB{w.db, other} {
		must.OK(t, db.Put("cache", fromSDK(t, with(key("a", "b"), "v", n("80")))))
		log := db.Changes()
		last := log[len(log)-1]
		if v, _ := last.After.Int("v"); last.Seq != 8 || v != 80 {
			t.Errorf("got seq %d of version %d, want 8 of 80", last.Seq, v)
		}
		if before, _ := last.Before.Int("v"); before != 7 {
			t.Errorf("before it was version %d, want 7", before)
		}
	}
}

// A lagging replica is never further behind than the beginning of the log.
func TestReplicaOfBoundedLog(t *testing.T) {
	w := worldOf(t, ddbfake.Options{KeepChanges: 2})
	for i := 1; i <= 9; i++ {
		w.put(with(key("a", "b"), "v", n(fmt.Sprint(i))))
	}
	w.db.SetReplicaLag(time.Hour)
	oldest, _ := w.db.Changes()[0].Before.Int("v")
	if got, _ := w.get(key("a", "b")).Int("v"); got != oldest || got < 9-4 {
		t.Errorf("read version %d, want %d: the oldest that the log knows", got, oldest)
	}
	w.db.SetReplicaLag(0)
	w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultStaleRead})
	if got, _ := w.get(key("a", "b")).Int("v"); got != 8 {
		t.Errorf("a stale read saw version %d, want 8", got)
	}
}
