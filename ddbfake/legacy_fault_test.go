package ddbfake_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// A put with Expected whose response is lost meets its own commit when the SDK sends it again, as one with a
// ConditionExpression does.
func TestLegacyPutMeetsItself(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultResponseLost, Op: "PutItem"})
	_, err := w.db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("cache"), Item: key("a", "LOCK"),
		Expected:                            map[string]types.ExpectedAttributeValue{"pk": {Exists: aws.Bool(false)}},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || len(failed.Item) != 2 {
		t.Errorf("got %v, want a condition that fails on the row that it has written", err)
	}
	if got := len(w.db.Changes()); got != 1 {
		t.Errorf("got %d changes, want 1", got)
	}
}

// What comes back undone of a batch can be sent again as it is, through any door.
func TestLegacyBatchComesBack(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.put(values{"pk": s("a"), "sk": s("LOCK"), "x": s("1")}, values{"pk": s("a"), "sk": s("META"), "x": s("2")})
	in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		"cache": {Keys: []values{key("a", "LOCK"), key("a", "META")}, AttributesToGet: []string{"x"}},
	}}
	for name, client := range map[string]interface {
		BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	}{"Go door": w.c, "SDK door": w.db.Client()} {
		w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultUnprocessed, Key: "LOCK"})
		out, err := client.BatchGetItem(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		left := out.UnprocessedKeys["cache"]
		if len(left.Keys) != 1 || !slices.Equal(left.AttributesToGet, []string{"x"}) {
			t.Errorf("%s: got %v left, want one key and what to get", name, left)
		}
		out, err = client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: out.UnprocessedKeys})
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Responses["cache"]; len(got) != 1 || len(got[0]) != 1 {
			t.Errorf("%s: got %v, want the other item's x", name, got)
		}
	}
}
