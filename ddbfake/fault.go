package ddbfake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/faults"
)

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
	// FaultErrorAfter serves the call and answers InternalServerError (500) in place of its response, whatever the
	// response was.
	FaultErrorAfter
	// FaultConflict refuses a write or a transaction with no effect, as if a transaction were going on with one of its
	// rows: TransactionConflictException, or for a transaction TransactionCanceledException whose reasons say so. On a
	// strongly consistent global table, which has no transactions, another region writes the row:
	// ReplicatedWriteConflictException. It can hit PutItem, UpdateItem, DeleteItem, TransactWriteItems,
	// TransactGetItems, ExecuteStatement with a write, ExecuteTransaction, and BatchWriteItem on such a global table.
	// Of a BatchExecuteStatement that writes it refuses the statements whose rows the predicates match, each with the
	// code TransactionConflict; the others take effect. It matches no other call. The SDKs do not retry a conflict with
	// a transaction by themselves.
	FaultConflict
	// FaultDuplicate delivers the request twice, as a proxy may do. The service serves them as two requests, one right
	// after the other. The caller gets the second answer; the first is lost.
	FaultDuplicate
	// FaultStaleRead serves an eventually consistent read from a replica that has not heard of the last change of the
	// rows that it reads: the item of GetItem, each item of BatchGetItem, the partition of a Query, the table of a
	// Scan. It matches no other call, and no read with ConsistentRead. A row that has never changed is read as it is.
	FaultStaleRead
	// FaultUnprocessed leaves requests of a batch undone: the requests whose rows the predicates match, or all requests
	// for a table, come back in UnprocessedItems or UnprocessedKeys, and the others take effect. If no request is left,
	// the answer is the same as with FaultThrottled, as at the service. A batch of statements says of each whether it
	// was throttled. The fault matches BatchGetItem, BatchWriteItem and BatchExecuteStatement, and no other call.
	FaultUnprocessed
	// FaultShortPage ends a page of a Query, of a Scan, or of a SELECT of many rows by ExecuteStatement after the first
	// row that it reads, as if 1 MB were read: with LastEvaluatedKey or NextToken, and the counts and units of that
	// row. The filter may drop the row, so a page may have no items. The fault matches calls whose page would read two
	// rows or more, and no other call.
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
// Faults are comparable with ==, except that the zero and the explicit form
// of a default differ (Nth 0 and 1, Times 0 and 1).
type Fault struct {
	// Kind says how the call goes wrong.
	Kind FaultKind
	// Op is the name of an operation; "" is any.
	Op string
	// Table is the name of a table that the call touches, in any region, or the ARN of one; "" is any.
	Table string
	// Key is the value of a partition or sort key of a row that the call touches: the text of a string, the normalised
	// text of a number, the standard base64 of a binary. A final * matches any rest. A Query touches its partition key,
	// and its sort key if it asks for equality; a Scan names no key. "" is any.
	Key string
	// Actor is the caller; "" is any. alice matches alice.2 as well, the name
	// that a simulator gives to alice after a crash and a restart.
	Actor string
	// Nth is the number of the first matching call that is hit, counted from 1 since the fault was injected. Zero means
	// 1.
	Nth int
	// Times is the number of matching calls in a row that are hit. Zero means 1, Always has no end.
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
