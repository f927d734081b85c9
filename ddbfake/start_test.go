package ddbfake_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

var (
	_ ddbfake.TB = (*testing.T)(nil)
	_ ddbfake.TB = (*testing.B)(nil)
	_ ddbfake.TB = (*testing.F)(nil)
)

// fakeTest is a test that ends when it is told to.
type fakeTest struct {
	failed   bool
	lines    []string
	cleanups []func()
}

func (f *fakeTest) Helper()           {}
func (f *fakeTest) Cleanup(do func()) { f.cleanups = append(f.cleanups, do) }
func (f *fakeTest) Failed() bool      { return f.failed }
func (f *fakeTest) Logf(format string, args ...any) {
	f.lines = append(f.lines, fmt.Sprintf(format, args...))
}

func (f *fakeTest) end() []string {
	for _, do := range f.cleanups {
		do()
	}
	return f.lines
}

// A failed test gets a report of the DB, a passed one gets none.
func TestStart(t *testing.T) {
	for _, failed := range []bool{false, true} {
		f := &fakeTest{failed: failed}
		db := ddbfake.Start(f, ddbfake.Options{})
		table(t, db, "cache", "pk", "S", "sk", "S")
		must.OK(t, db.Put("cache", attr.Item{"pk": attr.S("a"), "sk": attr.S("META")}))
		for _, text := range []string{"response-lost op=DeleteItem", "throttled op=Query"} {
			fault := must.Of(ddbfake.ParseFault(text))(t)
			db.Inject(fault)
		}
		alice := db.As("alice")
		_, _ = alice.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("cache"), Item: key("a", "META"),
			ConditionExpression: aws.String("attribute_not_exists(pk)"),
		})
		_, _ = alice.DeleteItem(t.Context(),
			&dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "LOCK")})
		_, _ = alice.TransactWriteItems(t.Context(),
			&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				putAction(with(key("a", "LOCK"), "x", n("1"))), deleteAction(key("a", "META")),
			}})
		_, _ = alice.GetItem(t.Context(),
			&dynamodb.GetItemInput{TableName: aws.String("nowhere"), Key: key("a", "LOCK")})
		var want []string
		if failed {
			want = []string{
				`ddbfake: request 1 setup CreateTable cache: ok`,
				`ddbfake: request 2 PutItem cache{pk: "a", sk: "META"}: ok`,
				`ddbfake: request 3 alice PutItem cache{pk: "a", sk: "META"}: ConditionalCheckFailedException: The conditional request failed`,
				`ddbfake: request 4 alice DeleteItem cache{pk: "a", sk: "LOCK"}: ddbfake: DeleteItem: the connection was lost before a response was read (response-lost op=DeleteItem)`,
				`ddbfake: request 5 alice TransactWriteItems cache{pk: "a", sk: "LOCK"}, cache{pk: "a", sk: "META"}: ok`,
				`ddbfake: request 6 alice GetItem nowhere: ResourceNotFoundException: Requested resource not found`,
				`ddbfake: row of cache {pk: "a", sk: "LOCK", x: 1}`,
				`ddbfake: fault still waits: throttled op=Query`,
			}
		}
		if d := cmp.Diff(want, f.end()); d != "" {
			t.Errorf("failed %v: log (-want +got):\n%s", failed, d)
		}
	}
}

// The log of requests keeps the latest requests; by default it keeps none.
func TestRequestsAreBounded(t *testing.T) {
	for _, keep := range []int{-1, 0, 1, 3, 10} {
		db := ddbfake.New(ddbfake.Options{LogRequests: keep})
		for range 7 {
			must.Done(t)(db.As("alice").ListTables(t.Context(), &dynamodb.ListTablesInput{}))
		}
		var got, want []int
		for _, r := range db.Requests() {
			got = append(got, r.ID)
		}
		for id := max(8-max(keep, 0), 1); id <= 7; id++ {
			want = append(want, id)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("LogRequests %d (-want +got):\n%s", keep, d)
		}
	}
}

// Put goes through the engine, but no injected fault hits it.
func TestPut(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultErrorBefore, Times: ddbfake.Always})
	row := func(sk string) attr.Item { return attr.Item{"pk": attr.S("a"), "sk": attr.S(sk)} }
	if err := w.db.Put("cache", row("1"), row("2")); err != nil {
		t.Error(err)
	}
	err := w.db.Put("cache", row("3"), attr.Item{"pk": attr.S("a")}, row("4"))
	const want = "put item 2 of 3 into cache: api error ValidationException: One or more parameter values were " +
		"invalid: Missing the key sk in the item"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if got := len(w.db.Items("cache")); got != 3 {
		t.Errorf("%d rows, want 3", got)
	}
	if last := w.db.Changes()[2]; last.Actor != "" || last.Cause != ddbfake.CauseClient || last.Request == 0 {
		t.Errorf("the change is %+v, want one of a request of actor \"\"", last)
	}
	if err := w.db.Put("nowhere", row("1")); err == nil {
		t.Error("a table that does not exist takes rows")
	}
}
