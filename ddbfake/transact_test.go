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

// The rules on TransactWriteItems whose breach refuses the request.
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
func TestTransactWriteErrors(t *testing.T) {
	long := strings.Repeat("x", 350_000)
	var many, large []types.TransactWriteItem
	for i := range 101 {
		many = append(many, putAction(key("a", fmt.Sprint(i))))
	}
	for i := range 12 {
		large = append(large, putAction(with(key("a", fmt.Sprint(i)), "v", s(long))))
	}
	both := putAction(key("a", "b"))
	both.Delete = deleteAction(key("a", "c")).Delete
	onFailure := putAction(key("a", "b"))
	onFailure.Put.ReturnValuesOnConditionCheckFailure = "ALL_NEW"
	elsewhere := putAction(key("a", "b"))
	elsewhere.Put.TableName = aws.String("nowhere")
	noCondition := types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: aws.String("cache"), Key: key("a", "b")}}
	for _, tc := range []struct {
		rule          string
		items         []types.TransactWriteItem
		token         *string
		code, message string
	}{
		{"at least one action", []types.TransactWriteItem{}, nil, validation, "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"actions are required", nil, nil, validation, "1 validation error detected: Value null at 'transactItems' failed to satisfy constraint: Member must not be null"},
		{"at most 100 actions", many, nil, validation, "1 validation error detected: Value '[...]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100"},
		{"an action is something", []types.TransactWriteItem{{}}, nil, validation, "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"},
		{"an action is one thing", []types.TransactWriteItem{both}, nil, validation, "TransactItems can only contain one of Check, Put, Update or Delete"},
		{"a condition check has a condition", []types.TransactWriteItem{noCondition}, nil, validation, "1 validation error detected: Value null at 'transactItems.1.member.conditionCheck.conditionExpression' failed to satisfy constraint: Member must not be null"},
		{"ReturnValuesOnConditionCheckFailure is one of its values", []types.TransactWriteItem{onFailure}, nil, validation, "1 validation error detected: Value 'ALL_NEW' at 'transactItems.1.member.put.returnValuesOnConditionCheckFailure' failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, NONE]"},
		{"a token has at most 36 characters", []types.TransactWriteItem{putAction(key("a", "b"))}, aws.String(strings.Repeat("t", 37)), validation, "1 validation error detected: Value '" + strings.Repeat("t", 37) + "' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36"},
		{"expressions are checked before the table", []types.TransactWriteItem{elsewhere, putIf(key("a", "c"), "")}, nil, validation, "Invalid ConditionExpression: The expression can not be empty;"},
		{"every table exists", []types.TransactWriteItem{putAction(key("a", "c")), elsewhere}, nil, "ResourceNotFoundException", "Requested resource not found"},
		{"no item twice", []types.TransactWriteItem{putAction(key("a", "b")), deleteAction(key("a", "b"))}, nil, validation, "Transaction request cannot include multiple operations on one item"},
		{"no item twice, not even with a false condition", []types.TransactWriteItem{putIf(key("a", "b"), "attribute_exists(pk)"), checkAction(key("a", "b"), "attribute_exists(pk)")}, nil, validation, "Transaction request cannot include multiple operations on one item"},
		{"at most 4 MB", large, nil, validation, "Transaction payload size cannot exceed 4MB. Payload Size: 4200086"},
		{"an empty key value refuses the request", []types.TransactWriteItem{deleteAction(key("a", ""))}, nil, validation, "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: sk"},
		{"too large a put refuses the request", []types.TransactWriteItem{putAction(with(key("a", "b"), "v", s(long+long)))}, nil, validation, "Item size has exceeded the maximum allowed size"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			w := newWorld(t, ddbfake.LagManual)
			_, err := w.c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: tc.items, ClientRequestToken: tc.token})
			wantError(t, err, tc.code, tc.message)
			if len(w.db.Changes()) != 0 {
				t.Error("a refused transaction left a change")
			}
		})
	}
}

// The limit is on the bytes that a transaction sends, not on those of its rows.
// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_transact.py
func TestTransactWriteDeletesMoreThan4MB(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	var deletes []types.TransactWriteItem
	for i := range 12 {
		w.put(with(key("a", fmt.Sprint(i)), "v", s(strings.Repeat("x", 350_000))))
		deletes = append(deletes, deleteAction(key("a", fmt.Sprint(i))))
	}
	if _, err := w.c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: deletes}); err != nil {
		t.Error(err)
	}
	if n := len(w.db.Items("cache")); n != 0 {
		t.Errorf("%d rows are left", n)
	}
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
			"None stands for an action that had nothing against it",
			[]types.TransactWriteItem{putAction(key("a", "new")), putIf(key("a", "row"), "attribute_not_exists(pk)")},
			"[None, ConditionalCheckFailed]",
			[]string{"None", failed + ` {pk: "a", sk: "row", v: 1}`},
		},
		{
			"every failed condition has its reason, with the item if asked for",
			[]types.TransactWriteItem{checkAction(key("a", "row"), "attribute_not_exists(pk)"), putIf(key("a", "new"), "attribute_exists(pk)")},
			"[ConditionalCheckFailed, ConditionalCheckFailed]",
			[]string{failed, failed},
		},
		{
			"a put whose key has another type",
			[]types.TransactWriteItem{putAction(values{"pk": n("5"), "sk": s("x")})},
			"[ValidationError]",
			[]string{"ValidationError: One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N"},
		},
		{
			"a key of another schema, and only the first of two validation errors",
			[]types.TransactWriteItem{checkAction(key("a", "row"), "attribute_not_exists(pk)"), deleteAction(values{"pk": n("5"), "sk": s("x")}), deleteAction(values{"pk": s("a")})},
			"[None, ValidationError, None]",
			[]string{"None", "ValidationError: The provided key element does not match the schema", "None"},
		},
		{
			"an update of a key attribute",
			[]types.TransactWriteItem{updateAction(key("a", "row"), "SET sk = :v", values{":v": s("x")})},
			"[ValidationError]",
			[]string{"ValidationError: One or more parameter values were invalid: Cannot update attribute sk. This attribute is part of the key"},
		},
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

func TestTransactWriteHundred(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	var items []types.TransactWriteItem
	for i := range 100 {
		items = append(items, putAction(key("a", fmt.Sprint(i))))
	}
	if _, err := w.c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: items}); err != nil {
		t.Fatal(err)
	}
	if got := len(w.db.Items("cache")); got != 100 {
		t.Errorf("got %d rows, want 100", got)
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
	const add, other = "ADD v :one", "SET v = :one"
	t.Run("the second call succeeds without effect", func(t *testing.T) {
		w := newWorld(t, ddbfake.LagManual)
		for range 3 {
			if err := transact(w, "token", add); err != nil {
				t.Fatal(err)
			}
		}
		if got := count(w); got != 1 {
			t.Errorf("got %d, want 1", got)
		}
	})
	t.Run("another input is a mismatch", func(t *testing.T) {
		w := newWorld(t, ddbfake.LagManual)
		if err := transact(w, "token", add); err != nil {
			t.Fatal(err)
		}
		var mismatch *types.IdempotentParameterMismatchException
		if err := transact(w, "token", other); !errors.As(err, &mismatch) {
			t.Errorf("got %v, want an IdempotentParameterMismatchException", err)
		}
		if err := transact(w, "another", add); err != nil || count(w) != 2 {
			t.Errorf("another token: got %v and %d, want success and 2", err, count(w))
		}
	})
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
	t.Run("a cancelled transaction leaves no token", func(t *testing.T) {
		w := newWorld(t, ddbfake.LagManual)
		in := &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: aws.String("token"),
			TransactItems:      []types.TransactWriteItem{checkAction(key("a", "guard"), "attribute_exists(pk)"), putAction(key("a", "b"))},
		}
		_, err := w.c.TransactWriteItems(t.Context(), in)
		wantError(t, err, "TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed, None]")
		w.put(key("a", "guard"))
		if _, err := w.c.TransactWriteItems(t.Context(), in); err != nil || w.get(key("a", "b")) == nil {
			t.Errorf("got %v, want the transaction done", err)
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
	many := make([]types.TransactGetItem, 101)
	for _, tc := range []struct {
		rule          string
		items         []types.TransactGetItem
		code, message string
	}{
		{"at least one", []types.TransactGetItem{}, validation, "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"at most 100", many, validation, "1 validation error detected: Value '[...]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100"},
		{"each has a Get", []types.TransactGetItem{{}}, validation, "1 validation error detected: Value null at 'transactItems.1.member.get' failed to satisfy constraint: Member must not be null"},
		{"no item twice", []types.TransactGetItem{get(key("a", "b")), get(key("a", "b"))}, validation, "Transaction request cannot include multiple operations on one item"},
		{"a key that does not match cancels", []types.TransactGetItem{get(key("a", "b")), get(values{})}, "TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ValidationError]"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			_, err := w.c.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: tc.items})
			wantError(t, err, tc.code, tc.message)
		})
	}
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
