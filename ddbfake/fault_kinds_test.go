package ddbfake_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

const ongoing = "Transaction is ongoing for the item"

// A conflict refuses writes and transactions. It does not match other calls, and still waits after them.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
func TestConflictBefalls(t *testing.T) {
	const table = "cache"
	for _, tc := range []struct {
		in   any
		want string // "" is no error
	}{
		{&dynamodb.PutItemInput{TableName: aws.String(table), Item: key("a", "LOCK")}, "TransactionConflictException"},
		{&dynamodb.UpdateItemInput{TableName: aws.String(table), Key: key("a", "LOCK")},
			"TransactionConflictException"},
		{&dynamodb.DeleteItemInput{TableName: aws.String(table), Key: key("a", "LOCK")},
			"TransactionConflictException"},
		{&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{putAction(key("a", "META"))}},
			"TransactionCanceledException"},
		{
			&dynamodb.TransactGetItemsInput{
				TransactItems: []types.TransactGetItem{
					{Get: &types.Get{TableName: aws.String(table), Key: key("a", "META")}},
				},
			}, "TransactionCanceledException",
		},
		{&dynamodb.GetItemInput{TableName: aws.String(table), Key: key("a", "LOCK"), ConsistentRead: aws.Bool(true)},
			""},
		{
			&dynamodb.QueryInput{TableName: aws.String(table), KeyConditionExpression: aws.String("pk = :p"),
				ExpressionAttributeValues: values{":p": s("a")}}, "",
		},
		{&dynamodb.DescribeTableInput{TableName: aws.String(table)}, ""},
		{
			&dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{table: {deleteRequest(key("a", "META"))}},
			}, "",
		},
		{
			&dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{
				{Statement: aws.String(`SELECT * FROM "cache" WHERE pk = 'a' AND sk = 'LOCK'`)},
			}}, "",
		},
	} {
		// The fault is injected, or is the fault of the call.
		for _, given := range []bool{false, true} {
			w := newWorld(t, ddbfake.LagManual)
			w.put(key("a", "LOCK"))
			call := ddbfake.Call{Input: tc.in}
			if given {
				call.Fault = &ddbfake.Fault{Kind: ddbfake.FaultConflict}
			} else {
				w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultConflict})
			}
			rows := w.db.Hash()
			_, err := w.db.Do(t.Context(), call)
			got := ""
			if err != nil {
				got, _ = code(err)
			}
			if got != tc.want {
				t.Errorf("%T, given %v: got %v, want %q", tc.in, given, err, tc.want)
			}
			if w.db.Hash() != rows {
				t.Errorf("%T: took effect", tc.in)
			}
			if waits := len(w.db.Injected()) == 1; !given && waits != (tc.want == "") {
				t.Errorf("%T: the fault waits: %v", tc.in, waits)
			}
		}
	}
}

// The reasons of a cancelled transaction name the actions on the conflicting rows.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
func TestConflictReasons(t *testing.T) {
	for _, tc := range []struct {
		fault string
		want  []string
	}{
		{"conflict", []string{"TransactionConflict: " + ongoing, "TransactionConflict: " + ongoing}},
		{"conflict key=LOCK", []string{"None", "TransactionConflict: " + ongoing}},
		{"conflict table=cache key=ME*", []string{"TransactionConflict: " + ongoing, "None"}},
	} {
		fault := must.Of(ddbfake.ParseFault(tc.fault))(t)
		gets := []types.TransactGetItem{
			{Get: &types.Get{TableName: aws.String("cache"), Key: key("a", "META")}},
			{Get: &types.Get{TableName: aws.String("cache"), Key: key("a", "LOCK")}},
		}
		for _, in := range []any{
			&dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{putAction(key("a", "META")), deleteAction(key("a", "LOCK"))},
			},
			&dynamodb.TransactGetItemsInput{TransactItems: gets},
		} {
			w := newWorld(t, ddbfake.LagManual)
			_, err := w.db.Do(t.Context(), ddbfake.Call{Input: in, Fault: &fault})
			if d := cmp.Diff(tc.want, reasons(t, err)); d != "" {
				t.Errorf("%s on %T (-want +got):\n%s", tc.fault, in, d)
			}
		}
	}
}

// A request delivered twice takes effect twice, and its caller gets the second answer.
func TestDuplicate(t *testing.T) {
	const absent = "attribute_not_exists(pk)"
	add := &dynamodb.UpdateItemInput{
		TableName: aws.String("cache"), Key: key("a", "count"), ReturnValues: types.ReturnValueAllNew,
		UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: values{":one": n("1")},
	}
	token := aws.String("t-1")
	for _, tc := range []struct {
		name     string
		in       any
		want     string // the error
		requests []int  // the number of the request of each change
	}{
		{"a conditional put meets itself",
			&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "LOCK"),
				ConditionExpression: aws.String(absent)}, "ConditionalCheckFailedException", []int{1}},
		{"a plain put changes nothing more",
			&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "LOCK")}, "", []int{1}},
		{"an update that counts counts twice", add, "", []int{1, 2}},
		{"a transaction meets itself", &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{putIf(key("a", "META"), absent)},
		},
			"TransactionCanceledException", []int{1}},
		{"unless it has a token", &dynamodb.TransactWriteItemsInput{ClientRequestToken: token,
			TransactItems: []types.TransactWriteItem{putIf(key("a", "META"), absent)}}, "", []int{1}},
		{"a read is read twice", &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "LOCK")}, "",
			nil},
	} {
		w := newWorld(t, ddbfake.LagManual)

		w.put(key("z", "first"))
		changes := w.db.Changes()
		first := changes[len(changes)-1].Request
		out, err := w.db.Do(t.Context(),
			ddbfake.Call{Input: tc.in, Fault: &ddbfake.Fault{Kind: ddbfake.FaultDuplicate}})
		got := ""
		if err != nil {
			got, _ = code(err)
		}
		if got != tc.want {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
		var requests []int
		for _, c := range w.db.ChangesSince(len(changes)) {
			requests = append(requests, c.Request-first)
		}
		if d := cmp.Diff(tc.requests, requests); d != "" {
			t.Errorf("%s: requests of the changes (-want +got):\n%s", tc.name, d)
		}
		if updated, ok := out.(*dynamodb.UpdateItemOutput); ok {
			if d := cmp.Diff("2", updated.Attributes["n"].(*types.AttributeValueMemberN).Value); d != "" {
				t.Errorf("%s: the second answer (-want +got):\n%s", tc.name, d)
			}
		}
	}
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
func TestFaultUnprocessed(t *testing.T) {
	const lowThroughput = "Throughput exceeds the current capacity of your table or index. " +
		"DynamoDB is automatically scaling your table or index so please try again shortly. " +
		"If exceptions persist, check if you have a hot key: " +
		"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
	write := map[string][]types.WriteRequest{
		"cache": {putRequest(key("a", "LOCK")), putRequest(key("a", "META")), deleteRequest(key("b", "LOCK"))},
	}
	get := map[string]types.KeysAndAttributes{"cache": {
		Keys: []values{key("a", "LOCK"), key("a", "META")}, ConsistentRead: aws.Bool(true),
		AttributesToGet: []string{"sk"},
	}}

	t.Run("writes", func(t *testing.T) {
		w := newWorld(t, ddbfake.LagManual)
		w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultUnprocessed, Key: "LOCK"})
		out := batchWrite(t, w.c, write)
		left := out.UnprocessedItems["cache"]
		if len(left) != 2 || left[0] != write["cache"][0] || left[1] != write["cache"][2] {
			t.Errorf("got %v left, want both requests on LOCK", left)
		}
		if w.get(key("a", "META")) == nil || w.get(key("a", "LOCK")) != nil {
			t.Error("what came back is done, or what did not is not")
		}
		if out := batchWrite(t, w.c, out.UnprocessedItems); len(out.UnprocessedItems) > 0 ||
			w.get(key("a", "LOCK")) == nil {
			t.Errorf("again: got %v left", out.UnprocessedItems)
		}
	})
	t.Run("reads", func(t *testing.T) {
		w := newWorld(t, ddbfake.LagManual)
		w.put(key("a", "LOCK"))
		w.put(key("a", "META"))
		w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultUnprocessed, Key: "LOCK"})
		out := must.Of(w.c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: get}))(t)
		left := out.UnprocessedKeys["cache"]
		if len(out.Responses["cache"]) != 1 || len(left.Keys) != 1 || !*left.ConsistentRead ||
			len(left.AttributesToGet) != 1 {
			t.Errorf("got %v and %v left, want one of each, and the same parameters", out.Responses, left)
		}
	})
	t.Run("all of them", func(t *testing.T) {
		w := newWorld(t, ddbfake.LagManual)
		w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultUnprocessed, Times: 2})
		_, err := w.c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: write})
		wantError(t, err, "ThrottlingException", lowThroughput)
		_, err = w.c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: get})
		wantError(t, err, "ThrottlingException", lowThroughput)
		if got := w.db.Items("cache"); len(got) > 0 {
			t.Errorf("got %v, want nothing written", got)
		}
	})
	t.Run("a batch that is not valid is refused", func(t *testing.T) {
		w := newWorld(t, ddbfake.LagManual)
		w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultUnprocessed, Key: "LOCK"})
		_, err := w.c.BatchWriteItem(t.Context(),
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
				"cache": {putRequest(key("a", "LOCK")), deleteRequest(key("a", "LOCK"))},
			}})
		wantError(t, err, validation, "Provided list of item keys contains duplicates")
	})
	statements := func(t *testing.T, kind ddbfake.FaultKind, code types.BatchStatementErrorCodeEnum, message string) {
		w := newWorld(t, ddbfake.LagManual)
		w.db.Inject(ddbfake.Fault{Kind: kind, Key: "LOCK"})
		insert := func(sk string) types.BatchStatementRequest {
			return types.BatchStatementRequest{
				Statement: aws.String(`INSERT INTO "cache" VALUE {'pk': 'a', 'sk': '` + sk + `'}`),
			}
		}
		out, err := w.c.BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{
			Statements: []types.BatchStatementRequest{insert("LOCK"), insert("META")},
		})
		must.OK(t, err)
		if left := out.Responses[0].Error; left == nil || left.Code != code || *left.Message != message ||
			out.Responses[1].Error != nil {
			t.Errorf("got %v, want the statement on LOCK left undone", out.Responses)
		}
		if w.get(key("a", "META")) == nil || w.get(key("a", "LOCK")) != nil {
			t.Error("what was left undone is done, or what was not is not")
		}
	}
	t.Run("statements", func(t *testing.T) {
		statements(t, ddbfake.FaultUnprocessed, types.BatchStatementErrorCodeEnumThrottlingError, lowThroughput)
	})
	t.Run("conflict of statements", func(t *testing.T) {
		statements(t, ddbfake.FaultConflict, types.BatchStatementErrorCodeEnumTransactionConflict, ongoing)
	})
	t.Run("nothing else", func(t *testing.T) {
		w := newWorld(t, ddbfake.LagManual)
		w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultUnprocessed})
		w.put(key("a", "LOCK"))
		if got := w.db.Injected(); len(got) != 1 {
			t.Errorf("got %v waiting, want the fault: a put is no batch", got)
		}
	})
}
