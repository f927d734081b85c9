package ddbfake_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func putRequest(item values) types.WriteRequest {
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: item}}
}

func deleteRequest(key values) types.WriteRequest {
	return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key}}
}

func batchWrite(
	t *testing.T, c *ddbfake.Door, requests map[string][]types.WriteRequest,
) *dynamodb.BatchWriteItemOutput {
	t.Helper()
	return must.Of(c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: requests}))(t)
}

// Each write is a separate change with a separate request number, because a batch is not atomic. The changes come in
// the order of the tables' names, and then of the request.
func TestBatchWriteChanges(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	table(t, w.db, "another", "pk", "S", "sk", "S")
	w.put(key("a", "1"))
	before := len(w.db.Changes())
	out := batchWrite(t, w.c, map[string][]types.WriteRequest{
		"cache": {putRequest(key("a", "3")), deleteRequest(key("a", "1")), putRequest(key("a", "2")),
			deleteRequest(key("a", "none"))},
		"another": {putRequest(key("a", "1"))},
	})
	if out.UnprocessedItems == nil || len(out.UnprocessedItems) > 0 {
		t.Errorf("got UnprocessedItems %v, want an empty map", out.UnprocessedItems)
	}
	var got []string
	changes := w.db.Changes()[before:]
	for i, c := range changes {
		if i > 0 && c.Request <= changes[i-1].Request {
			t.Errorf("got request %d after %d, want a number of its own", c.Request, changes[i-1].Request)
		}
		verb := "put"
		if c.After == nil {
			verb = "delete"
		}
		sk, _ := c.Key.Str("sk")
		got = append(got, c.Table+" "+verb+" "+sk)
	}
	if d := cmp.Diff([]string{"another put 1", "cache put 3", "cache delete 1", "cache put 2"}, got); d != "" {
		t.Error(d)
	}
}

// The texts echo the request as the service does.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/batchGetItem.test.ts
func TestBatchEchoes(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	const rule = " at 'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: [Member must " +
		"have length less than or equal to 255, Member must have length greater than or equal to 3, Member must " +
		"satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
	for keys, echo := range map[string]struct {
		key  values
		text string
	}{
		"string": {values{"pk": s("a")}, `{"bad!name":{"Keys":[{"pk":{"S":"a"}}]}}`},
		"two":    {values{"pk": n("1"), "a": b("x")}, `{"bad!name":{"Keys":[{"a":{"B":"eA=="},"pk":{"N":"1"}}]}}`},
	} {
		_, err := w.c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{"bad!name": {Keys: []values{echo.key}}},
		})
		t.Run(keys, func(t *testing.T) {
			wantError(t, err, validation, "1 validation error detected: Value '"+echo.text+"'"+rule)
		})
	}
	_, err := w.c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{"bad!name": {Keys: []values{{"pk": nil}}}},
	})
	if got, _ := code(err); got != validation {
		t.Errorf("a value of no type: got %v, want a ValidationException", err)
	}
	_, err = w.c.BatchWriteItem(t.Context(),
		&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"cache": {}}})
	wantError(t, err, validation,
		"1 validation error detected: Value '{cache=[]}' at 'requestItems' failed to satisfy constraint: "+
			"Map value must satisfy constraint: [Member must have length less than or equal to 25, Member must have "+
			"length greater than or equal to 1]")
}

// After 16 MB the remaining keys come back, including those of later tables, and asking for them again completes the
// batch.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
func TestBatchGetRest(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	table(t, w.db, "later", "id", "N", "", "")
	var keys []values
	for i := range 60 {
		k := key("a", fmt.Sprintf("%02d", i))
		keys = append(keys, k)
		w.put(with(k, "v", s(strings.Repeat("x", 300*1024))))
	}
	for i, k := range keys {
		keys[i] = values{"pk": k["pk"], "sk": k["sk"]}
	}
	in := &dynamodb.BatchGetItemInput{
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		RequestItems: map[string]types.KeysAndAttributes{
			"cache": {Keys: keys, ProjectionExpression: aws.String("#sk"),
				ExpressionAttributeNames: map[string]string{"#sk": "sk"}},
			"later": {Keys: []values{{"id": n("1")}}, ConsistentRead: aws.Bool(true)},
		},
	}
	out, err := w.c.BatchGetItem(t.Context(), in)
	must.OK(t, err)
	if got := len(out.Responses["cache"]); got != 54 {
		t.Errorf("got %d items of 300 KB, want 54", got)
	}
	if out.Responses["later"] == nil {
		t.Error("a table of which nothing was read has no list")
	}
	if len(out.ConsumedCapacity) != 1 || *out.ConsumedCapacity[0].CapacityUnits != 54*38 {
		t.Errorf("got units %v, want those of what was read", *out.ConsumedCapacity[0].CapacityUnits)
	}
	want := map[string]types.KeysAndAttributes{"cache": in.RequestItems["cache"], "later": in.RequestItems["later"]}
	rest := want["cache"]
	rest.Keys = keys[54:]
	want["cache"] = rest
	if d := cmp.Diff(fmt.Sprint(want["cache"].Keys), fmt.Sprint(out.UnprocessedKeys["cache"].Keys)); d != "" {
		t.Error(d)
	}
	if left := out.UnprocessedKeys["cache"]; *left.ProjectionExpression != "#sk" ||
		left.ExpressionAttributeNames["#sk"] != "sk" {
		t.Errorf("got %+v, want the projection kept", left)
	}
	if left := out.UnprocessedKeys["later"]; len(left.Keys) != 1 || !*left.ConsistentRead {
		t.Errorf("got %+v of the later table, want all of it", left)
	}
	out, err = w.c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: out.UnprocessedKeys})
	if err != nil || len(out.Responses["cache"]) != 6 || out.UnprocessedKeys == nil || len(out.UnprocessedKeys) > 0 {
		t.Errorf("the rest: got %d items, %v, %v", len(out.Responses["cache"]), out.UnprocessedKeys, err)
	}
}

// A table may be named by its ARN. Answers name it as the request does, and both names mean the same row.
func TestBatchByARN(t *testing.T) {
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/cache"
	w := newWorld(t, ddbfake.LagManual)
	batchWrite(t, w.c, map[string][]types.WriteRequest{arn: {putRequest(key("a", "1"))}})
	out, err := w.c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{arn: {Keys: []values{key("a", "1")}}},
	})
	if err != nil || len(out.Responses[arn]) != 1 {
		t.Errorf("got %v, %v", out, err)
	}
	_, err = w.c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		arn: {Keys: []values{key("a", "1")}}, "cache": {Keys: []values{key("a", "1")}},
	}})
	wantError(t, err, validation, "Provided list of item keys contains duplicates")
}

// A fault finds the rows of a batch by their tables and keys.
func TestFaultsMatchBatches(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	get := &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{"cache": {Keys: []values{key("a", "1"), key("a", "LOCK")}}},
	}
	write := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
		"cache": {putRequest(key("a", "1")), deleteRequest(key("a", "LOCK"))},
	}}
	for _, in := range []any{get, write} {
		for f, want := range map[ddbfake.Fault]bool{
			{Kind: ddbfake.FaultThrottled, Key: "LOCK"}:   true,
			{Kind: ddbfake.FaultThrottled, Key: "1"}:      true,
			{Kind: ddbfake.FaultThrottled, Key: "META"}:   false,
			{Kind: ddbfake.FaultThrottled, Table: "else"}: false,
		} {
			if got := w.db.Matches(f, ddbfake.Call{Input: in}); got != want {
				t.Errorf("%s: %T: got %t, want %t", f, in, got, want)
			}
		}
	}
}

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
