package ddbfake_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// A request delivered twice takes effect twice, and its caller hears of the
// second time.
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
		requests []int  // of the changes
	}{
		{"a conditional put meets itself", &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "LOCK"),
			ConditionExpression: aws.String(absent)}, "ConditionalCheckFailedException", []int{1}},
		{"a plain put changes nothing more", &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "LOCK")}, "", []int{1}},
		{"an update that counts counts twice", add, "", []int{1, 2}},
		{"a transaction meets itself", &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{putIf(key("a", "META"), absent)}},
			"TransactionCanceledException", []int{1}},
		{"unless it has a token", &dynamodb.TransactWriteItemsInput{ClientRequestToken: token,
			TransactItems: []types.TransactWriteItem{putIf(key("a", "META"), absent)}}, "", []int{1}},
		{"a read is read twice", &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "LOCK")}, "", nil},
	} {
		w := newWorld(t, ddbfake.LagManual)

		w.put(key("z", "first"))
		changes := w.db.Changes()
		first := changes[len(changes)-1].Request
		out, err := w.db.Do(t.Context(), ddbfake.Call{Input: tc.in, Fault: &ddbfake.Fault{Kind: ddbfake.FaultDuplicate}})
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
