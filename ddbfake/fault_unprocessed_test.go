package ddbfake_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
func TestFaultUnprocessed(t *testing.T) {
	const lowThroughput = "Throughput exceeds the current capacity of your table or index. " +
		"DynamoDB is automatically scaling your table or index so please try again shortly. " +
		"If exceptions persist, check if you have a hot key: " +
		"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
	write := map[string][]types.WriteRequest{"cache": {putRequest(key("a", "LOCK")), putRequest(key("a", "META")), deleteRequest(key("b", "LOCK"))}}
	get := map[string]types.KeysAndAttributes{"cache": {Keys: []values{key("a", "LOCK"), key("a", "META")}, ConsistentRead: aws.Bool(true)}}

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
		if out := batchWrite(t, w.c, out.UnprocessedItems); len(out.UnprocessedItems) > 0 || w.get(key("a", "LOCK")) == nil {
			t.Errorf("again: got %v left", out.UnprocessedItems)
		}
	})
	t.Run("reads", func(t *testing.T) {
		w := newWorld(t, ddbfake.LagManual)
		w.put(key("a", "LOCK"))
		w.put(key("a", "META"))
		w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultUnprocessed, Key: "LOCK"})
		out, err := w.c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: get})
		if err != nil {
			t.Fatal(err)
		}
		left := out.UnprocessedKeys["cache"]
		if len(out.Responses["cache"]) != 1 || len(left.Keys) != 1 || !*left.ConsistentRead {
			t.Errorf("got %v and %v left, want one of each", out.Responses, left)
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
		_, err := w.c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
			"cache": {putRequest(key("a", "LOCK")), deleteRequest(key("a", "LOCK"))},
		}})
		wantError(t, err, validation, "Provided list of item keys contains duplicates")
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
