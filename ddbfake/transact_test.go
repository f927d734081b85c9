package ddbfake_test

import (
	"errors"
	"strings"
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
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: aws.String("cache"), Key: k, ConditionExpression: &condition}}
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

func TestTransactWriteActionOfTwo(t *testing.T) {
	both := putAction(key("a", "b"))
	both.Delete = deleteAction(key("a", "c")).Delete
	w := newWorld(t, ddbfake.LagManual)
	_, err := w.c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{both}})
	wantError(t, err, validation, "TransactItems can only contain one of Check, Put, Update or Delete")
}

// What cancels a transaction, and which reasons the answer has. Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
func TestTransactWriteCancelled(t *testing.T) {
	const failed = "ConditionalCheckFailed: The conditional request failed"
	for _, tc := range []struct {
		rule    string
		items   []types.TransactWriteItem
		message string
		want    []string
	}{
		{
			"an update that makes too large an item",
			[]types.TransactWriteItem{updateAction(key("a", "row"), "SET w = :v", values{":v": s(strings.Repeat("x", 400*1024))})},
			"[ValidationError]",
			[]string{"ValidationError: Item size to update has exceeded the maximum allowed size"},
		},
		{
			"only the first of two updates that make too large items, and every failed condition",
			[]types.TransactWriteItem{
				updateAction(key("a", "row"), "SET w = :v", values{":v": s(strings.Repeat("x", 400*1024))}),
				updateAction(key("a", "new"), "SET w = :v", values{":v": s(strings.Repeat("x", 400*1024))}),
				putIf(key("b", "new"), "attribute_exists(pk)"),
			},
			"[ValidationError, None, ConditionalCheckFailed]",
			[]string{"ValidationError: Item size to update has exceeded the maximum allowed size", "None", failed},
		},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			w := newWorld(t, ddbfake.LagManual)
			w.put(with(key("a", "row"), "v", n("1")))
			before := w.db.Hash()
			_, err := w.c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: tc.items})
			wantError(t, err, "TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons for specific reasons "+tc.message)
			if d := cmp.Diff(tc.want, reasons(t, err)); d != "" {
				t.Errorf("reasons (-want +got):\n%s", d)
			}
			if w.db.Hash() != before {
				t.Error("a cancelled transaction had an effect")
			}
		})
	}
}

func TestTransactWrite(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.put(with(key("a", "META"), "v", n("1")), key("a", "LOCK"), key("a", "GUARD"))
	seq := len(w.db.Changes())
	_, err := w.c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
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

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#DDB-TransactWriteItems-request-ClientRequestToken
func TestIdempotency(t *testing.T) {
	t.Run("any difference in the actions is another input", func(t *testing.T) {
		update := func(change func(u *types.Update)) *dynamodb.TransactWriteItemsInput {
			u := &types.Update{
				TableName: aws.String("cache"), Key: key("a", "b"), UpdateExpression: aws.String("SET #v = :v"),
				ConditionExpression:       aws.String("attribute_not_exists(#v)"),
				ExpressionAttributeNames:  map[string]string{"#v": "v"},
				ExpressionAttributeValues: values{":v": m(values{"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{n("1"), b("2")}}, "s": ss("p", "q")})},
			}
			change(u)
			return &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("token"), TransactItems: []types.TransactWriteItem{{Update: u}}}
		}
		same := func(*types.Update) {}
		for name, other := range map[string]*dynamodb.TransactWriteItemsInput{
			"table":     update(func(u *types.Update) { u.TableName = aws.String("cachet") }),
			"key":       update(func(u *types.Update) { u.Key = key("a", "c") }),
			"condition": update(func(u *types.Update) { u.ConditionExpression = aws.String("attribute_not_exists( #v)") }),
			"update":    update(func(u *types.Update) { u.UpdateExpression = aws.String("SET #v=:v") }),
			"name":      update(func(u *types.Update) { u.ExpressionAttributeNames = map[string]string{"#v": "w"} }),
			"value":     update(func(u *types.Update) { u.ExpressionAttributeValues = values{":v": s("1")} }),
			"nested": update(func(u *types.Update) {
				u.ExpressionAttributeValues[":v"].(*types.AttributeValueMemberM).Value["s"] = ss("p", "r")
			}),
			"on failure": update(func(u *types.Update) {
				u.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
			}),
			"kind": {ClientRequestToken: aws.String("token"), TransactItems: []types.TransactWriteItem{deleteAction(key("a", "b"))}},
			"more": {ClientRequestToken: aws.String("token"), TransactItems: append(update(same).TransactItems, putAction(key("a", "c")))},
		} {
			w := newWorld(t, ddbfake.LagManual)
			for range 2 {
				must.Done(t)(w.c.TransactWriteItems(t.Context(), update(same)))
			}
			_, err := w.c.TransactWriteItems(t.Context(), other)
			if got, message := code(err); got != "IdempotentParameterMismatchException" {
				t.Errorf("another %s: got %s (%s), want a mismatch", name, got, message)
			}
		}
	})
}
