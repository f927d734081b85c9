package ddbfake_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
)

const ongoing = "Transaction is ongoing for the item"

// A conflict refuses writes and transactions, and does not see other calls: it still waits after them.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
func TestConflictBefalls(t *testing.T) {
	const table = "cache"
	for _, tc := range []struct {
		in   any
		want string // "" is no error
	}{
		{&dynamodb.PutItemInput{TableName: aws.String(table), Item: key("a", "LOCK")}, "TransactionConflictException"},
		{&dynamodb.UpdateItemInput{TableName: aws.String(table), Key: key("a", "LOCK")}, "TransactionConflictException"},
		{&dynamodb.DeleteItemInput{TableName: aws.String(table), Key: key("a", "LOCK")}, "TransactionConflictException"},
		{&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{putAction(key("a", "META"))}}, "TransactionCanceledException"},
		{&dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: aws.String(table), Key: key("a", "META")}}}}, "TransactionCanceledException"},
		{&dynamodb.GetItemInput{TableName: aws.String(table), Key: key("a", "LOCK"), ConsistentRead: aws.Bool(true)}, ""},
		{&dynamodb.QueryInput{TableName: aws.String(table), KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: values{":p": s("a")}}, ""},
		{&dynamodb.DescribeTableInput{TableName: aws.String(table)}, ""},
	} {
		// As an injected fault, and as the fault of the call.
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

// The reasons of a transaction name the actions on the rows that conflict.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
func TestConflictReasons(t *testing.T) {
	for _, tc := range []struct {
		fault string
		want  []string
	}{
		{"conflict", []string{"TransactionConflict: " + ongoing, "TransactionConflict: " + ongoing}},
		{"conflict key=LOCK", []string{"None", "TransactionConflict: " + ongoing}},
		{"conflict table=cache key=ME*", []string{"TransactionConflict: " + ongoing, "None"}},
	} {
		fault, err := ddbfake.ParseFault(tc.fault)
		if err != nil {
			t.Fatal(err)
		}
		gets := []types.TransactGetItem{
			{Get: &types.Get{TableName: aws.String("cache"), Key: key("a", "META")}},
			{Get: &types.Get{TableName: aws.String("cache"), Key: key("a", "LOCK")}},
		}
		for _, in := range []any{
			&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{putAction(key("a", "META")), deleteAction(key("a", "LOCK"))}},
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

// The SDK decodes a conflict and hands it to its caller at once: it is not one of the errors that it retries.
func TestConflictThroughTheSDK(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultConflict, Times: 2})
	client := w.db.Client()
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "LOCK")})
	if conflict, ok := errors.AsType[*types.TransactionConflictException](err); !ok || conflict.ErrorMessage() != ongoing {
		t.Errorf("PutItem: got %v, want a TransactionConflictException", err)
	}
	_, err = client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{putAction(key("a", "META"))}})
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); !ok || aws.ToString(cancelled.CancellationReasons[0].Code) != "TransactionConflict" {
		t.Errorf("TransactWriteItems: got %v, want a TransactionCanceledException", err)
	}
	if got := w.db.Injected(); len(got) != 0 {
		t.Errorf("the SDK did not send each call once: %v", got)
	}
}
