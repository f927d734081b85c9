package ddbfake

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake/internal/sdktest"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// hookClock calls hook once, when the clock is read, which happens in the middle of a call.
type hookClock struct {
	Clock
	hook func()
}

func (c *hookClock) Now() time.Time {
	if hook := c.hook; hook != nil {
		c.hook = nil
		hook()
	}
	return c.Clock.Now()
}

// conflictWorld is a DB with Conflicts and two tables.
type conflictWorld struct {
	*testing.T
	clock hookClock
	db    *DB
}

func newConflictWorld(t *testing.T) *conflictWorld {
	t.Helper()
	w := &conflictWorld{T: t, clock: hookClock{Clock: fakeclock.New(fakeclock.Epoch)}}
	w.db = New(Options{Clock: &w.clock, Conflicts: true})
	createTable(t, w.db, "cache")
	createTable(t, w.db, "other")
	return w
}

// overlap makes a call that takes effect while another one is in progress, and returns the errors of both.
func (w *conflictWorld) overlap(first, second any) (err1, err2 error) {
	done := make(chan struct{})
	w.clock.hook = func() {
		before, _ := w.db.overlaps.now()
		go func() {
			defer close(done)
			_, err2 = w.db.Do(w.Context(), Call{Actor: "second", Input: second})
		}()
		for latest := before; latest == before; latest, _ = w.db.overlaps.now() {
			runtime.Gosched()
		}
	}
	_, err1 = w.db.Do(w.Context(), Call{Actor: "first", Input: first})
	<-done
	return err1, err2
}

// attributes is how the SDK writes an item or a key. The calls below are on rows of one partition.
type attributes = map[string]types.AttributeValue

func keyOf(sk string) attributes {
	return attributes{"pk": &types.AttributeValueMemberS{Value: "a"}, "sk": &types.AttributeValueMemberS{Value: sk}}
}

func putOf(sk string) *dynamodb.PutItemInput {
	return &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: keyOf(sk)}
}

func updateOf(sk string) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: aws.String("cache"), Key: keyOf(sk), UpdateExpression: aws.String("ADD n :one"),
		ExpressionAttributeValues: attributes{":one": &types.AttributeValueMemberN{Value: "1"}},
	}
}

func deleteOf(sk string) *dynamodb.DeleteItemInput {
	return &dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: keyOf(sk)}
}

func batchOf(sk string) *dynamodb.BatchWriteItemInput {
	return &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
		"cache": {{PutRequest: &types.PutRequest{Item: keyOf(sk)}}},
	}}
}

func transactOf(token string, sks ...string) *dynamodb.TransactWriteItemsInput {
	in := &dynamodb.TransactWriteItemsInput{}
	if token != "" {
		in.ClientRequestToken = &token
	}
	for _, sk := range sks {
		in.TransactItems = append(in.TransactItems,
			types.TransactWriteItem{Put: &types.Put{TableName: aws.String("cache"), Item: keyOf(sk)}})
	}
	return in
}

func checkOf(sk, condition string) *dynamodb.TransactWriteItemsInput {
	check := &types.ConditionCheck{TableName: aws.String("cache"), Key: keyOf(sk), ConditionExpression: &condition}
	return &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{ConditionCheck: check}}}
}

func readsOf(sks ...string) *dynamodb.TransactGetItemsInput {
	in := &dynamodb.TransactGetItemsInput{}
	for _, sk := range sks {
		in.TransactItems = append(in.TransactItems,
			types.TransactGetItem{Get: &types.Get{TableName: aws.String("cache"), Key: keyOf(sk)}})
	}
	return in
}

// outcome returns an error's code, and the codes of its reasons.
func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		var codes []string
		for _, r := range cancelled.CancellationReasons {
			codes = append(codes, *r.Code)
		}
		return fmt.Sprintf("cancelled %v", codes)
	}
	return describe(err).Code
}

// Which calls conflict.
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
func TestConflicts(t *testing.T) {
	const conflict = "TransactionConflictException"
	elsewhere := putOf("x")
	elsewhere.TableName = aws.String("other")
	for _, c := range []struct {
		name          string
		first, second any
		want          string // the outcome of the second
	}{
		{"put in a transaction", transactOf("", "w", "x"), putOf("x"), conflict},
		{"update in a transaction", transactOf("", "x"), updateOf("x"), conflict},
		{"delete in a transaction", transactOf("", "x"), deleteOf("x"), conflict},
		{"put of what a transaction checks", checkOf("x", "attribute_not_exists(pk)"), putOf("x"), conflict},
		{"put of another row", transactOf("", "x"), putOf("y"), "ok"},
		{"put into another table", transactOf("", "x"), elsewhere, "ok"},
		{"put in a cancelled transaction", checkOf("x", "attribute_exists(pk)"), putOf("x"), "ok"},
		{"get in a transaction", transactOf("", "x"),
			&dynamodb.GetItemInput{TableName: aws.String("cache"), Key: keyOf("x")}, "ok"},
		{"batch in a transaction", transactOf("", "x"), batchOf("x"), "ok"},
		{"put during a put", putOf("x"), putOf("x"), "ok"},

		{"two transactions", transactOf("", "x", "y"), transactOf("", "w", "x", "y"),
			"cancelled [None TransactionConflict TransactionConflict]"},
		{"two transactions apart", transactOf("", "x", "y"), transactOf("", "w", "z"), "ok"},
		{"two checks", checkOf("x", "attribute_not_exists(pk)"), checkOf("x", "attribute_not_exists(pk)"),
			"cancelled [TransactionConflict]"},
		{"transaction during a put", putOf("x"), transactOf("", "x"), "ok"},
		{"transaction during a transactional read", readsOf("x"), transactOf("", "x"), "ok"},

		{"transactional read in a transaction", transactOf("", "x"), readsOf("w", "x"),
			"cancelled [None TransactionConflict]"},
		{"transactional read during a put", putOf("x"), readsOf("w", "x"), "cancelled [None TransactionConflict]"},
		{"transactional read during an update", updateOf("x"), readsOf("x"), "cancelled [TransactionConflict]"},
		{"transactional read during a delete", deleteOf("x"), readsOf("x"), "cancelled [TransactionConflict]"},
		{"transactional read during a batch", batchOf("x"), readsOf("x"), "cancelled [TransactionConflict]"},
		{"two transactional reads", readsOf("x"), readsOf("x"), "ok"},

		{"one token twice", transactOf("once", "x"), transactOf("once", "x"), "TransactionInProgressException"},
		{"one token for two transactions", transactOf("once", "x"), transactOf("once", "y"),
			"TransactionInProgressException"},
		{"two tokens", transactOf("once", "x"), transactOf("twice", "y"), "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newConflictWorld(t)
			err, err2 := w.overlap(c.first, c.second)
			if got := outcome(err2); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got := outcome(err); got != "ok" && c.name != "put in a cancelled transaction" {
				t.Errorf("the first: got %s", got)
			}
			// Later, the same call no longer conflicts.
			if c.want != "ok" && c.name != "one token for two transactions" {
				if _, err := w.db.Do(t.Context(), Call{Input: c.second}); err != nil {
					t.Errorf("later: %v", err)
				}
			}
			if len(w.db.overlaps.inside) != 0 {
				t.Errorf("calls inside: %d", len(w.db.overlaps.inside))
			}
		})
	}
}

// A real conflict and an injected conflict have the same answers.
func TestConflictsAnswerAsFaults(t *testing.T) {
	for _, in := range []any{putOf("x"), transactOf("", "w", "x"), readsOf("w", "x")} {
		w := newConflictWorld(t)
		_, real := w.overlap(transactOf("", "x"), in)
		fault := Fault{Kind: FaultConflict, Key: "x"}
		_, injected := w.db.Do(t.Context(), Call{Input: in, Fault: &fault})
		if diff := cmp.Diff(describe(injected), describe(real), sdktest.Equal); diff != "" {
			t.Errorf("%T (-injected +real):\n%s", in, diff)
		}
	}
}

// A refused call has no effect, so it refuses no other call. Effects before a call do not matter to it.
func TestConflictsChain(t *testing.T) {
	w := newConflictWorld(t)
	must.Done(t)(w.db.Do(t.Context(), Call{Input: transactOf("", "x")}))
	if _, err := w.db.Do(t.Context(), Call{Input: putOf("x")}); err != nil {
		t.Errorf("after a transaction: %v", err)
	}
	conflict := Fault{Kind: FaultConflict, Times: 1}
	w.db.Inject(conflict)
	if err, err2 := w.overlap(transactOf("", "x"), putOf("x")); outcome(err) != "cancelled [TransactionConflict]" ||
		err2 != nil {
		t.Errorf("got %v and then %v: want the second to succeed", err, err2)
	}
}

// A request that is delivered twice does not conflict with itself.
func TestConflictsOfDuplicates(t *testing.T) {
	w := newConflictWorld(t)
	fault := Fault{Kind: FaultDuplicate}
	for _, in := range []any{transactOf("", "x"), transactOf("once", "y")} {
		if _, err := w.db.Do(t.Context(), Call{Input: in, Fault: &fault}); err != nil {
			t.Errorf("got %v", err)
		}
	}
}

// Calls from before a restore conflict with nothing.
func TestConflictsAfterRestore(t *testing.T) {
	w := newConflictWorld(t)
	kept := w.db.Snapshot()
	slow := w.db.overlaps.enter()
	defer w.db.overlaps.leave(slow)
	must.Done(t)(w.db.Do(t.Context(), Call{Input: transactOf("", "x")}))
	if len(w.db.overlaps.done) == 0 {
		t.Fatal("nothing was noted, and a call is inside")
	}
	w.db.Restore(kept)
	if len(w.db.overlaps.done) != 0 {
		t.Error("the past was not forgotten")
	}
}

// Effects are kept for calls that are inside, and for no others.
func TestOverlapsAreBounded(t *testing.T) {
	var o overlaps
	for i := range 10_000 {
		call := o.enter()
		o.add(tokenName{text: fmt.Sprint(i)}, true)
		o.leave(call)
	}
	if n := len(o.done); n > 2 {
		t.Errorf("%d notes are kept of calls that have left, want 2 at most", n)
	}
	slow := o.enter()
	for i := range 100 {
		call := o.enter()
		o.add(tokenName{text: fmt.Sprint("slow", i)}, true)
		o.leave(call)
	}
	for i := range 100 {
		if !o.with(slow, tokenName{text: fmt.Sprint("slow", i)}, true) {
			t.Fatalf("note %d is missing, and a call is inside that overlaps with it", i)
		}
	}
	if o.with(slow, tokenName{text: "9999"}, true) {
		t.Error("a call overlaps with one that had left")
	}
	o.leave(slow)
	call := o.enter()
	o.add(tokenName{text: "last"}, true)
	o.leave(call)
	if n := len(o.done); n != 1 {
		t.Errorf("%d notes are kept, want 1", n)
	}
	if !slices.IsSorted(o.inside) || len(o.inside) != 0 {
		t.Errorf("inside: %v", o.inside)
	}
}
