package ddbfake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/internal/base/faults"
)

// faultOf returns the fault that hits a request: the call's own fault, or an injected one. It is nil if there is none,
// or if its kind cannot hit such a call.
func (db *DB) faultOf(r *request, c *Call) (*Fault, error) {
	fault := c.Fault
	if fault == nil {
		fault = db.nextFault(r, c.Input)
	}
	switch {
	case fault == nil:
		return nil, nil
	case !fault.Kind.known():
		return nil, &notAFaultError{*fault}
	case !db.befalls(fault.Kind, r.region, c.Input):
		return nil, nil
	}
	return fault, nil
}

// befalls reports whether a kind of fault can hit a call.
func (db *DB) befalls(k FaultKind, region string, in any) bool {
	switch k {
	case FaultConflict:
		switch in.(type) {
		case *dynamodb.BatchWriteItemInput:
			return db.onStrong(region, in)
		case *dynamodb.BatchExecuteStatementInput:
			return conflicts(in) && !db.onStrong(region, in) // statements have no code for such a conflict
		}
		return conflicts(in)
	case FaultStaleRead:
		return eventually(in)
	case FaultUnprocessed:
		switch in.(type) {
		case *dynamodb.BatchGetItemInput, *dynamodb.BatchWriteItemInput, *dynamodb.BatchExecuteStatementInput:
			return true
		}
		return false
	case FaultShortPage:
		return db.pages(region, in)
	}
	return true
}

// conflicts reports whether the service may refuse such a call, or a statement of it, because of a transaction in
// progress. Reads of single items, queries and other batches are never refused. The documented errors of BatchWriteItem
// do not include a conflict, and no source says what becomes of one of its requests.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
func conflicts(in any) bool {
	switch in.(type) {
	case *dynamodb.PutItemInput, *dynamodb.UpdateItemInput, *dynamodb.DeleteItemInput:
		return true
	case *dynamodb.ExecuteStatementInput, *dynamodb.BatchExecuteStatementInput:
		operation, _ := consumes(in)
		return operation == "Write"
	}
	_, transaction := transactionOf(in)
	return transaction
}

// transactionOf reports whether a call is a transaction, and whether it writes.
func transactionOf(in any) (writes, is bool) {
	switch in := in.(type) {
	case *dynamodb.TransactWriteItemsInput:
		return true, true
	case *dynamodb.TransactGetItemsInput:
		return false, true
	case *dynamodb.ExecuteTransactionInput:
		for i := range in.TransactStatements {
			if reads, _ := readsBy(in.TransactStatements[i].Statement); !reads {
				return true, true
			}
		}
		return false, true
	}
	return false, false
}

// executeFaulty runs the operation of a request that a fault hits: once, twice, or not at all.
func (db *DB) executeFaulty(r *request, in any, f *Fault) (any, error) {
	if db.onFault != nil {
		db.onFault(*f)
	}
	switch f.Kind {
	case FaultThrottled:
		db.countThrottlingFault(r, in, *f)
		return nil, db.refuse(r, in, db.throttled(r, in, *f))
	case FaultRequestLost:
		return nil, &NetworkError{Operation: r.op.name}
	case FaultResponseLost:
		_, _ = db.attempt(r, in) // the outcome is lost
		return nil, &NetworkError{Operation: r.op.name, ResponseLost: true}
	case FaultErrorBefore:
		return nil, db.refuse(r, in, internalError(r.op))
	case FaultConflict:
		if _, batch := in.(*dynamodb.BatchExecuteStatementInput); !batch {
			return nil, db.refuse(r, in, db.conflict(r, in, *f))
		}
		r.withheld = f
	case FaultStaleRead:
		r.stale = true
	case FaultUnprocessed:
		r.withheld = f
	case FaultShortPage:
		r.most = 1
	case FaultDuplicate:
		_, _ = db.attempt(r, in) // the outcome is lost
		db.state.requests++
		r.id, r.call = db.state.requests, 0 // the second call does not overlap with the first
	case FaultErrorAfter:
		_, _ = r.op.serve(db, r, in) // the outcome is lost
		return nil, db.refuse(r, in, internalError(r.op))
	}
	return db.attempt(r, in)
}

func internalError(op *operation) error {
	message := aws.String("The request could not be completed because of an internal failure")
	if op.ofStreams() {
		return &streamtypes.InternalServerError{Message: message}
	}
	return &types.InternalServerError{Message: message}
}

// throttled returns the error with which the service refuses a call for lack of capacity. It is the same as for
// Options.Throughput: the kind of the table decides the exception.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
func (db *DB) throttled(r *request, in any, f Fault) error {
	if writes, is := transactionOf(in); is {
		return db.throttledTransaction(r, in, f, writes)
	}
	switch in.(type) {
	case *dynamodbstreams.GetRecordsInput:
		return &streamtypes.LimitExceededException{Message: aws.String(rateExceeded)}
	case *dynamodbstreams.ListStreamsInput, *dynamodbstreams.DescribeStreamInput,
		*dynamodbstreams.GetShardIteratorInput:
		return &smithy.GenericAPIError{Code: "ThrottlingException", Message: rateExceeded, Fault: smithy.FaultClient}
	}
	operation, _ := consumes(in)
	if operation == "" {
		return &types.ThrottlingException{Message: aws.String(tooManyRequests)}
	}
	reasons, first := db.throttlingReasons(r, in, f)
	s := spending{table: first, write: operation == "Write"}
	return s.refusedFor(reasons)
}

// throttledTransaction cancels a transaction. The fault throttles the actions whose rows its predicates match; without
// predicates, all of them.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
func (db *DB) throttledTransaction(r *request, in any, f Fault, write bool) error {
	targets := db.targets(r.region, in)
	reasons := make([]types.CancellationReason, len(targets))
	for i, target := range targets {
		if db.hits(f, r.region, target) {
			s := spending{table: db.state.tables[address(r.region, target.table)], write: write}
			reasons[i] = s.reason()
		}
	}
	return cancelled(reasons)
}

// tooManyRequests is the text for operations that consume no units of a table.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
const tooManyRequests = "Rate of requests exceeds the allowed throughput."

// throughputExceeded is the text about a provisioned table.
const throughputExceeded = "The level of configured provisioned throughput for the table was exceeded. " +
	"Consider increasing your provisioning level with the UpdateTable API."

// rateExceeded is the text for operations on streams. They consume no capacity, but the number of calls a second is
// limited. Only GetRecords has its own error type for that limit.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html#API_streams_GetRecords_Errors
// Source: https://github.com/salesforce/mt-dynamo (the text, in a test)
const rateExceeded = "Rate exceeded"

// cancelledBy cancels a transaction whose targets a fault hits. Each action on a row that the fault's Table and Key
// match gets a reason; a fault without them matches all rows.
func (db *DB) cancelledBy(r *request, f Fault, in any, code string, message *string) error {
	targets := db.targets(r.region, in)
	return cancelledWhere(len(targets), func(i int) bool { return db.hits(f, r.region, targets[i]) }, code, message)
}

// conflict returns the service's refusal of a call because another one is in progress on the same row. A strongly
// consistent global table has no transactions: there the other call is a write in another region.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html#API_PutItem_Errors
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html#API_BatchWriteItem_Errors
func (db *DB) conflict(r *request, in any, f Fault) error {
	if _, is := transactionOf(in); is {
		return db.cancelledBy(r, f, in, reasonConflict, aws.String(ongoing))
	}
	if db.onStrong(r.region, in) {
		return &types.ReplicatedWriteConflictException{Message: aws.String(
			"The request was rejected because one or more items in the request are being modified by a request in " +
				"another Region.")}
	}
	return conflictError()
}

// onStrong reports whether a call touches a row of a strongly consistent global table.
func (db *DB) onStrong(region string, in any) bool {
	return slices.ContainsFunc(db.targets(region, in), func(target target) bool {
		t := db.state.tables[address(region, target.table)]
		return t != nil && t.strong
	})
}

// FaultKind says how a call goes wrong.
type FaultKind uint8

// The kinds of fault.
const (
	// FaultThrottled refuses the call with no effect, as Options.Throughput does: ThrottlingException if its table is
	// paid per request, ProvisionedThroughputExceededException if it is not, or for a transaction
	// TransactionCanceledException whose reasons say so. Operations that take no units answer ThrottlingException,
	// except GetRecords: LimitExceededException.
	FaultThrottled FaultKind = iota + 1
	// FaultRequestLost drops the request: no effect, NetworkError.
	FaultRequestLost
	// FaultResponseLost serves the call and drops its response, whatever the response was. The call has its effect, and
	// the caller gets a NetworkError.
	FaultResponseLost
	// FaultErrorBefore answers InternalServerError (500) with no effect.
	FaultErrorBefore
	// FaultErrorAfter serves the call and answers InternalServerError (500) instead of its response, whatever the
	// response was.
	FaultErrorAfter
	// FaultConflict refuses a write or a transaction with no effect, as if a transaction were going on with one of its
	// rows: TransactionConflictException, or for a transaction TransactionCanceledException whose reasons say so. On a
	// strongly consistent global table, which has no transactions, another region writes the row:
	// ReplicatedWriteConflictException. It can hit PutItem, UpdateItem, DeleteItem, TransactWriteItems,
	// TransactGetItems, ExecuteStatement with a write, ExecuteTransaction, and BatchWriteItem on such a global table.
	// In a BatchExecuteStatement that writes, the statements whose rows the predicates match are refused with the code
	// TransactionConflict; the others take effect. FaultConflict matches no other call. The SDKs do not retry a
	// conflict with a transaction by themselves.
	FaultConflict
	// FaultDuplicate delivers the request twice, as a proxy may do. The service serves two requests, one right after
	// the other. The caller gets the second answer; the first is lost.
	FaultDuplicate
	// FaultStaleRead serves an eventually consistent read from a replica that lacks the last change of the rows that
	// the call reads: the item of GetItem, each item of BatchGetItem, the partition of a Query, the table of a Scan. It
	// matches no other call, and no read with ConsistentRead. A row that has never changed is read as it is.
	FaultStaleRead
	// FaultUnprocessed leaves requests of a batch undone: the requests whose rows the predicates match, or all requests
	// for a table, come back in UnprocessedItems or UnprocessedKeys, and the others take effect. If no request is left,
	// the answer is the same as with FaultThrottled, as at the service. In a batch of statements, each throttled one
	// gets an error. The fault matches BatchGetItem, BatchWriteItem and BatchExecuteStatement, and no other call.
	FaultUnprocessed
	// FaultShortPage ends a page after the first row that it reads, as if 1 MB were read: with LastEvaluatedKey or
	// NextToken, and the counts and units of that row. The page is of a Query, of a Scan, or of a SELECT of many rows
	// by ExecuteStatement. The filter may drop the row, so a page may have no items. The fault matches calls whose page
	// would read two rows or more, and no other call.
	FaultShortPage
)

var faultKindNames = [...]string{
	FaultThrottled:    "throttled",
	FaultRequestLost:  "request-lost",
	FaultResponseLost: "response-lost",
	FaultErrorBefore:  "error-before",
	FaultErrorAfter:   "error-after",
	FaultConflict:     "conflict",
	FaultDuplicate:    "duplicate",
	FaultStaleRead:    "stale-read",
	FaultUnprocessed:  "unprocessed",
	FaultShortPage:    "short-page",
}

// String returns the kind's name in a fault's text form, for example "response-lost".
func (k FaultKind) String() string {
	if int(k) < len(faultKindNames) && faultKindNames[k] != "" {
		return faultKindNames[k]
	}
	return fmt.Sprintf("FaultKind(%d)", uint8(k))
}

// known reports whether the kind is one of FaultKinds.
func (k FaultKind) known() bool { return k > 0 && int(k) < len(faultKindNames) }

// FaultKinds returns every kind, in the order of their definition.
func FaultKinds() []FaultKind {
	kinds := make([]FaultKind, 0, len(faultKindNames)-1)
	for k := range faultKindNames {
		if k > 0 {
			kinds = append(kinds, FaultKind(k))
		}
	}
	return kinds
}

// Always is the Times of a fault that never stops.
const Always = faults.Always

// Fault makes certain calls go wrong. Its text form is the kind followed by predicates, all of which must hold:
//
//	response-lost op=TransactWriteItems actor=alice nth=1
//	throttled op=PutItem table=cache key=LOCK times=2
//	error-before key="two words" times=always
//
// Faults are comparable with ==, except that the zero and the explicit form of a default differ (Nth 0 and 1, Times 0
// and 1).
type Fault struct {
	// Kind is how the call goes wrong.
	Kind FaultKind
	// Op is the name of an operation; "" is any.
	Op string
	// Table is the name of a table that the call touches, in any region, or the ARN of one; "" is any.
	Table string
	// Key is the value of a partition or sort key of a row that the call touches: the text of a string, the normalised
	// text of a number, the standard base64 of a binary. A final * matches any suffix. A Query touches its partition
	// key, and its sort key if it asks for equality; a Scan names no key. "" is any.
	Key string
	// Actor is the caller; "" is any. alice also matches alice.2, a simulator's name for alice after a crash and a
	// restart.
	Actor string
	// Nth is the number of the first matching call that is hit, counted from 1 since the fault was injected. Zero means
	// 1.
	Nth int
	// Times is the number of successive matching calls that are hit. Zero means 1, Always has no end.
	Times int
}

// text is the fault's text form, for printing and parsing.
func (f *Fault) text() faults.Text {
	return faults.Text{
		Kind: f.Kind.String(), Nth: &f.Nth, Times: &f.Times,
		Predicates: []faults.Predicate{
			{Name: "op", Value: &f.Op, Check: faults.Operation(Operations(), "such as PutItem")},
			{Name: "table", Value: &f.Table}, {Name: "key", Value: &f.Key}, {Name: "actor", Value: &f.Actor},
		},
	}
}

// String returns the fault's text form. Defaults are left out.
func (f Fault) String() string { return f.text().String() }

// ParseFault reads the text form of a fault. Errors name what was found and what was expected. An operation that is not
// supported is an error: such a fault would never strike.
func ParseFault(text string) (Fault, error) {
	var f Fault
	t := f.text()
	if err := t.Parse(text, "a kind", faultKindNames[1:]); err != nil {
		return Fault{}, err
	}
	f.Kind = FaultKind(slices.Index(faultKindNames[:], t.Kind))
	return f, nil
}

func faultKindList() string { return strings.Join(faultKindNames[1:], ", ") }
