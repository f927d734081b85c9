package ddbfake

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// TB is the part of a test that Start needs: *testing.T, *testing.B and *testing.F have it. With it, programs that
// import this package do not import package testing.
type TB interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
}

// startRequests is the number of requests that a DB of Start remembers by default.
const startRequests = 100

// Start returns a DB for a test. If the test fails, its log ends with a report of the DB: the latest requests with
// their outcomes (100, if Options.LogRequests is zero), the rows that are left, and the faults that still wait. The DB
// need not be stopped.
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

// Put puts rows into a table, which is named as in Tables, with one request a row, as actor "". It is for the rows that
// a test begins with. They are checked like any others and appear in the change log, but no injected fault hits them.
// An error names its item; the items before it are in the table.
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
