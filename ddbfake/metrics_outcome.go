package ddbfake

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// attempt runs the operation of a request, and counts its outcome.
func (db *DB) attempt(r *request, in any) (any, error) {
	output, err := r.op.serve(db, r, in)
	if err != nil {
		err = inWordsOf(r.op.name, err)
	}
	db.count(r, in, err)
	return output, err
}

// countRefusal counts a call that admit has refused. It counts in the default region if the call's own region is not
// valid.
func (db *DB) countRefusal(c *Call) {
	region := c.Region
	if checkRegion(region) != nil {
		region = DefaultRegion
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.countUserError(region)
}

// refuse counts a request that a fault refuses before its operation runs, and returns the error of the fault.
func (db *DB) refuse(r *request, in any, err error) error {
	for _, t := range db.tablesOf(r, in) {
		if t != nil {
			db.touch(r, t)
		}
	}
	db.count(r, in, err)
	return err
}

// count counts the outcome of a request for each of its tables.
func (db *DB) count(r *request, in any, err error) {
	if err == nil {
		latency := r.now.Sub(r.sent)
		for _, c := range r.touched {
			o := c.operation(r.op)
			o.succeeded++
			o.latency += latency
		}
		return
	}
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		for _, c := range r.touched {
			c.own.ConditionalCheckFailedRequests++
		}
		return
	}
	if isThrottled(err) {
		db.countThrottledRequest(r)
		return
	}
	if _, ok := errors.AsType[*types.TransactionConflictException](err); ok {
		for _, c := range r.touched {
			c.own.TransactionConflict++
		}
	}
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		db.countThrottledRequest(r)
		db.countConflicts(r, in, cancelled.CancellationReasons)
	}
	api, ok := errors.AsType[smithy.APIError](err)
	switch {
	case !ok:
	case api.ErrorFault() == smithy.FaultServer:
		for _, c := range r.touched {
			c.operation(r.op).systemErrors++
		}
	default:
		db.countUserError(r.region)
	}
}

// isThrottled reports whether an error is one of the two that refuse a request for lack of throughput.
func isThrottled(err error) bool {
	_, provisioned := errors.AsType[*types.ProvisionedThroughputExceededException](err)
	_, onDemand := errors.AsType[*types.ThrottlingException](err)
	return provisioned || onDemand
}

// countThrottledRequest counts a refused request once for each table with a throttled event.
func (db *DB) countThrottledRequest(r *request) {
	for _, c := range r.touched {
		if c.throttled {
			c.operation(r.op).throttled++
		}
	}
}

// countConflicts counts the items of a cancelled transaction that were in conflict.
func (db *DB) countConflicts(r *request, in any, reasons []types.CancellationReason) {
	var tables []*table
	for i := range reasons {
		if aws.ToString(reasons[i].Code) != reasonConflict {
			continue
		}
		if tables == nil {
			tables = db.tablesOf(r, in)
		}
		if t := tables[i]; t != nil {
			db.touch(r, t).own.TransactionConflict++
		}
	}
}

// countThrottlingFault counts the throttled events of a request that a fault refuses.
func (db *DB) countThrottlingFault(r *request, in any, f Fault) {
	operation, indexName := consumes(in)
	for _, target := range db.targets(r.region, in) {
		t := db.state.tables[address(r.region, target.table)]
		if t == nil || !db.hits(f, r.region, target) {
			continue
		}
		switch writes, transaction := transactionOf(in); {
		case transaction:
			db.countThrottled(r, t, nil, writes)
		case operation != "":
			db.countThrottled(r, t, t.index(aws.ToString(indexName)), operation == "Write")
		default:
			db.touch(r, t).throttled = true
		}
	}
}
