package ddbfake_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
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

// What cancels a transaction, and how the reasons say so.
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
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
	if err != nil {
		t.Fatal(err)
	}
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
	transact := func(w *world, token, update string) error {
		_, err := w.c.TransactWriteItems(w.Context(), &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: &token,
			TransactItems:      []types.TransactWriteItem{updateAction(key("a", "b"), update, values{":one": n("1")})},
		})
		return err
	}
	count := func(w *world) int64 {
		v, _ := w.get(key("a", "b")).Int("v")
		return v
	}
	const add = "ADD v :one"
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
				if _, err := w.c.TransactWriteItems(t.Context(), update(same)); err != nil {
					t.Fatal(err)
				}
			}
			_, err := w.c.TransactWriteItems(t.Context(), other)
			if got, message := code(err); got != "IdempotentParameterMismatchException" {
				t.Errorf("another %s: got %s (%s), want a mismatch", name, got, message)
			}
		}
	})
	t.Run("for ten minutes and no longer", func(t *testing.T) {
		w := newWorld(t, ddbfake.LagManual)
		for _, step := range []struct {
			after time.Duration
			want  int64
		}{{0, 1}, {10*time.Minute - 1, 1}, {1, 2}} {
			w.clock.Advance(step.after)
			if err := transact(w, "token", add); err != nil {
				t.Fatal(err)
			}
			if got := count(w); got != step.want {
				t.Errorf("after %v more: got %d, want %d", step.after, got, step.want)
			}
		}
	})
	t.Run("thousands of tokens are forgotten in time", func(t *testing.T) {
		w := newWorld(t, ddbfake.LagManual)
		for i := range 5000 {
			if err := transact(w, fmt.Sprint(i), add); err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(time.Second)
		}
		if err := transact(w, "4999", add); err != nil || count(w) != 5000 {
			t.Errorf("the last token: got %v and %d, want success and 5000", err, count(w))
		}
	})
}

func TestTransactGet(t *testing.T) {
	get := func(k values) types.TransactGetItem {
		return types.TransactGetItem{Get: &types.Get{TableName: aws.String("cache"), Key: k}}
	}
	w := newWorld(t, ddbfake.LagManual)
	w.put(with(key("a", "b"), "v", n("1")))
	projected := get(key("a", "b2"))
	projected.Get.ProjectionExpression = aws.String("sk")
	w.put(key("a", "b2"))
	out, err := w.c.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{
		TransactItems:          []types.TransactGetItem{get(key("a", "b")), get(key("a", "missing")), projected},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []attr.Item
	for _, r := range out.Responses {
		got = append(got, fromSDK(t, r.Item))
	}
	if d := cmp.Diff(`[{pk: "a", sk: "b", v: 1} absent {sk: "b2"}]`, fmt.Sprint(got)); d != "" {
		t.Error(d)
	}
	if c := out.ConsumedCapacity[0]; *c.CapacityUnits != 6 || *c.ReadCapacityUnits != 6 || *c.Table.ReadCapacityUnits != 6 {
		t.Errorf("got %v units, want 6: two a row, missing or not", *c.CapacityUnits)
	}
	_, err = w.c.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{}}})
	wantError(t, err, validation,
		"1 validation error detected: Value null at 'transactItems.1.member.get' failed to satisfy constraint: Member must not be null")
}

// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-capacity-handling
func TestTransactWriteCapacity(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	table(t, w.db, "other", "pk", "S", "sk", "S")
	there := putAction(key("a", "b"))
	there.Put.TableName = aws.String("other")
	in := &dynamodb.TransactWriteItemsInput{
		TransactItems:          []types.TransactWriteItem{putAction(with(key("a", "b"), "v", s(strings.Repeat("x", 1500)))), there, putAction(key("a", "c"))},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		ClientRequestToken:     aws.String("token"),
	}
	for i, want := range []string{"cache: 6 written; other: 2 written; ", "cache: 4 read; other: 2 read; "} {
		out, err := w.c.TransactWriteItems(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, c := range out.ConsumedCapacity {
			switch {
			case c.WriteCapacityUnits != nil && c.ReadCapacityUnits == nil && *c.WriteCapacityUnits == *c.CapacityUnits:
				got += fmt.Sprintf("%s: %v written; ", *c.TableName, *c.CapacityUnits)
			case c.ReadCapacityUnits != nil && c.WriteCapacityUnits == nil && *c.ReadCapacityUnits == *c.CapacityUnits:
				got += fmt.Sprintf("%s: %v read; ", *c.TableName, *c.CapacityUnits)
			}
		}
		if got != want {
			t.Errorf("call %d: got %q, want %q", i+1, got, want)
		}
	}
}
