package ddbfake_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func putAction(item values) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: aws.String("cache"), Item: item}}
}

func putIf(item values, condition string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: aws.String("cache"), Item: item, ConditionExpression: &condition,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

func deleteAction(k values) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String("cache"), Key: k}}
}

func checkAction(k values, condition string) types.TransactWriteItem {
	return types.TransactWriteItem{
		ConditionCheck: &types.ConditionCheck{TableName: aws.String("cache"), Key: k, ConditionExpression: &condition},
	}
}

func updateAction(k values, update string, args values) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String("cache"), Key: k, UpdateExpression: &update, ExpressionAttributeValues: args,
	}}
}

// reasons prints cancellation reasons: code, message and item.
func reasons(t testing.TB, err error) []string {
	t.Helper()
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		t.Fatalf("got %v, want a TransactionCanceledException", err)
	}
	var got []string
	for _, r := range cancelled.CancellationReasons {
		text := aws.ToString(r.Code)
		if r.Message != nil {
			text += ": " + *r.Message
		}
		if r.Item != nil {
			text += " " + fromSDK(t, r.Item).String()
		}
		got = append(got, text)
	}
	return got
}

func TestTransactWrite(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.put(with(key("a", "META"), "v", n("1")), key("a", "LOCK"), key("a", "GUARD"))
	seq := len(w.db.Changes())
	_, err := w.c.TransactWriteItems(t.Context(),
		&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			updateAction(key("a", "META"), "SET v = v + :one", values{":one": n("1")}),
			deleteAction(key("a", "LOCK")),
			checkAction(key("a", "GUARD"), "attribute_exists(pk)"),
			putAction(key("a", "VER#1")),
		}})
	must.OK(t, err)
	var got []string
	for _, item := range w.db.Items("cache") {
		got = append(got, item.String())
	}
	want := []string{`{pk: "a", sk: "GUARD"}`, `{pk: "a", sk: "META", v: 2}`, `{pk: "a", sk: "VER#1"}`}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	changes := w.db.ChangesSince(seq)
	if len(changes) != 3 {
		t.Fatalf("got %d changes, want 3: a check changes nothing", len(changes))
	}
	for _, c := range changes {
		if c.Request != changes[0].Request {
			t.Errorf("change %d has request %d, want that of its transaction, %d", c.Seq, c.Request, changes[0].Request)
		}
	}
}
