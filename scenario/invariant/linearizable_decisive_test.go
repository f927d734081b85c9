package invariant_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// TestTheDecisiveOperationIsLast holds that it is the one which has no explanation, and not one that was called later.
func TestTheDecisiveOperationIsLast(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2040, 1, 1, 0, 0, s, 0, time.UTC) }
	f := invariant.Named("linearizable").Check(invariant.Evidence{Operations: []history.Operation{
		{Actor: "bob", Verb: history.Publish, Key: "/home", Began: at(1), Ended: at(4), Call: 1, Return: 4, Result: history.Done, Token: "bob-1", Page: "b"},
		{Actor: "alice", Verb: history.Acquire, Key: "/home", Began: at(2), Ended: at(3), Call: 2, Return: 3, Result: history.Done, Token: "alice-1", Expires: at(30).Unix()},
	}})
	if f.Verdict != invariant.Violated || len(f.Operations) != 2 || f.Operations[1] != 1 {
		t.Errorf("%+v, want a violation with the operations 2 and 1", f)
	}
}
