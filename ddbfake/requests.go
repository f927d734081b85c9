package ddbfake

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Request is one call that reached the service: its caller, its operation and its outcome.
type Request struct {
	// ID is the number of the call, as in Change.Request.
	ID int
	// Time is when the call was served, Sent when its caller made it.
	Time, Sent time.Time
	// Actor is the caller, Region the region of the call.
	Actor, Region string
	// Operation is the operation's name.
	Operation string
	// Rows are the rows that the call names, each printed as a table with a key, in the order of the request. A Query's
	// row has only the part of the key that the Query fixes. Calls without keys name only a table.
	Rows []string
	// Fault is the fault that hit the call; nil if none did.
	Fault *Fault
	// Err is the error that the caller got; nil is success.
	Err error
}

// String prints the request on one line:
//
//	7 alice PutItem cache{pk: "a", sk: "LOCK"}: ConditionalCheckFailedException: The conditional request failed
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d ", r.ID)
	if r.Actor != "" {
		b.WriteString(r.Actor + " ")
	}
	b.WriteString(r.Operation)
	if r.Region != DefaultRegion {
		b.WriteString(" in " + r.Region)
	}
	if len(r.Rows) > 0 {
		b.WriteString(" " + strings.Join(r.Rows, ", "))
	}
	b.WriteString(": ")
	if r.Err == nil {
		b.WriteString("ok")
	} else {
		b.WriteString(r.Err.Error())
	}
	if r.Fault != nil {
		fmt.Fprintf(&b, " (%s)", r.Fault)
	}
	return b.String()
}

// Requests returns the latest requests, oldest first: at most Options.LogRequests of them. They include those of Put.
// They are not part of a snapshot, so after a Restore some numbers come twice.
func (db *DB) Requests() []Request {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.served.All()
}

// entryOf returns the log entry of a request that is about to be served. It prints the rows now, because the request
// may delete their table.
func (db *DB) entryOf(r *request, in any, fault *Fault) *Request {
	entry := &Request{ID: r.id, Time: r.now, Sent: r.sent, Actor: r.actor, Region: r.region, Operation: r.op.name,
		Rows: db.rowsOf(r.region, in)}
	if fault != nil {
		hit := *fault
		entry.Fault = &hit
	}
	return entry
}

// rowsOf prints the rows that a call names.
func (db *DB) rowsOf(region string, in any) []string {
	var rows []string
	for _, t := range db.targets(region, in) {
		text := t.table
		if table := db.state.tables[address(region, t.table)]; table != nil {
			key := map[string]types.AttributeValue{}
			for _, k := range []string{table.schema.hash.Name, table.schema.sort.Name} {
				if v, ok := t.values[k]; ok {
					key[k] = v
				}
			}
			if item, err := attr.ItemFromSDK(key); err == nil && len(item) > 0 {
				text += item.String()
			}
		}
		rows = append(rows, text)
	}
	return rows
}

// TB is the part of *testing.T, *testing.B and *testing.F that Start needs. With it, programs that import this package
// do not import package testing.
type TB interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
}

// startRequests is the number of requests that a DB of Start remembers by default.
const startRequests = 100

// Start returns a DB for a test. If the test fails, its log ends with a report of the DB: the latest requests (100, if
// Options.LogRequests is zero) with their outcomes, the remaining rows, and the faults that still wait. The DB need not
// be stopped.
func Start(t TB, o Options) *DB {
	t.Helper()
	if o.LogRequests == 0 {
		o.LogRequests = startRequests
	}
	db := New(o)
	t.Cleanup(func() {
		t.Helper()
		if !t.Failed() {
			return
		}
		for _, r := range db.Requests() {
			t.Logf("ddbfake: request %s", r)
		}
		for _, name := range db.Tables() {
			for _, item := range db.Items(name) {
				t.Logf("ddbfake: row of %s %s", name, item)
			}
		}
		for _, f := range db.Injected() {
			t.Logf("ddbfake: fault still waits: %s", f)
		}
	})
	return db
}

// Put puts rows into a table, which is named as in Tables, with one request per row, as actor "". It is for a test's
// initial rows. They are checked like any others and appear in the change log, but no injected fault hits them. An
// error names its item; the items before it are in the table.
func (db *DB) Put(table string, items ...attr.Item) error {
	region, _, _ := splitTableARN(table)
	for i, item := range items {
		in := &dynamodb.PutItemInput{TableName: &table, Item: item.ToSDK()}
		if err := db.direct(region, in); err != nil {
			return fmt.Errorf("ddbfake: put item %d of %d into %s: %w", i+1, len(items), table, err)
		}
	}
	return nil
}
