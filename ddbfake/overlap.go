package ddbfake

import (
	"slices"
	"sort"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// overlaps finds the calls that overlap, for Options.Conflicts: two calls overlap if each entered Do before the other
// left. No call waits for another. Calls are numbered as they enter. An effect is stored with the number of the latest
// call that had entered when it happened. It overlaps with every call that had entered by then (number at most that)
// and had not left.
type overlaps struct {
	mu     sync.Mutex
	calls  uint64   // number of calls that have entered
	inside []uint64 // calls that have not left, in order

	// done holds, in order, the effects that can still overlap with a call inside Do. The lock of the DB guards it.
	done []done
}

// done is one effect of a call.
type done struct {
	during uint64 // the latest call that had entered when it happened
	// what is a tableRow (written by a call, or checked by a transaction) or the tokenName of a transaction.
	what        any
	transaction bool // by TransactWriteItems
}

type tokenName struct {
	region, text string
}

// enter returns the number of a call that enters; the first has the number 1.
func (o *overlaps) enter() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls++
	o.inside = append(o.inside, o.calls)
	return o.calls
}

// leave removes a finished call.
func (o *overlaps) leave(call uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i, found := slices.BinarySearch(o.inside, call); found {
		o.inside = slices.Delete(o.inside, i, i+1)
	}
}

// now returns the numbers of the latest call, and of the oldest call that is still inside.
func (o *overlaps) now() (latest, oldest uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.inside) == 0 {
		return o.calls, o.calls + 1
	}
	return o.calls, o.inside[0]
}

// add adds an effect of a call. Effects older than every call inside are removed once they are half of all effects, so
// add takes amortised constant time.
func (o *overlaps) add(what any, transaction bool) {
	latest, oldest := o.now()
	past := sort.Search(len(o.done), func(i int) bool { return o.done[i].during >= oldest })
	if 2*past >= len(o.done) {
		o.done = slices.Delete(o.done, 0, past)
	}
	o.done = append(o.done, done{latest, what, transaction})
}

// with reports whether a call overlaps with another one that had this effect: with any call or, if transactions is
// true, only with a transaction. No call has the number 0, which overlaps with nothing.
func (o *overlaps) with(call uint64, what any, transactions bool) bool {
	for i := len(o.done) - 1; i >= 0 && call > 0 && o.done[i].during >= call; i-- {
		if d := &o.done[i]; d.what == what && (d.transaction || !transactions) {
			return true
		}
	}
	return false
}

// noteWrites records the rows that a request has written as effects.
func (db *DB) noteWrites(r *request, writes []write) {
	if db.overlaps == nil {
		return
	}
	for i := range writes {
		db.overlaps.add(tableRow{writes[i].table, writes[i].key}, r.transaction)
	}
}

// noteToken records the token of a finished transaction as an effect.
func (db *DB) noteToken(r *request, token string) {
	if db.overlaps != nil {
		db.overlaps.add(tokenName{r.region, token}, true)
	}
}

// checkConflict refuses a write that overlaps with a transaction on its row.
func (db *DB) checkConflict(r *request, t *table, key primaryKey) error {
	if db.overlaps == nil || !db.overlaps.with(r.call, tableRow{t, key}, true) {
		return nil
	}
	return conflictError()
}

// checkConflicts cancels a transaction of n actions if it overlaps with another call on one of their rows. If it
// writes, only other transactions count; if it reads, any write does.
func (db *DB) checkConflicts(r *request, n int, row func(i int) tableRow, reads bool) error {
	if db.overlaps == nil {
		return nil
	}
	conflicts := func(i int) bool { return db.overlaps.with(r.call, row(i), !reads) }
	for i := range n {
		if conflicts(i) {
			return cancelledWhere(n, conflicts, reasonConflict, aws.String(ongoing))
		}
	}
	return nil
}

// checkProgress refuses a transaction that began before the first transaction with the same token was done.
//
// Source: https://github.com/aws/aws-sdk-java-v2/issues/2518 (the text)
func (db *DB) checkProgress(r *request, token string) error {
	if db.overlaps == nil || !db.overlaps.with(r.call, tokenName{r.region, token}, true) {
		return nil
	}
	return &types.TransactionInProgressException{
		Message: aws.String("Transaction from previous request is still in progress"),
	}
}
