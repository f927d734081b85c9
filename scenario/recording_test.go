package scenario

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestDonePart(t *testing.T) {
	request := func() types.WriteRequest { return types.WriteRequest{DeleteRequest: &types.DeleteRequest{}} }
	a, b, c := request(), request(), request()
	in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"one": {a, b}, "two": {c}}}
	out := &dynamodb.BatchWriteItemOutput{UnprocessedItems: map[string][]types.WriteRequest{"one": {a}, "two": {c}}}
	part, ok := donePart(in, out).(*dynamodb.BatchWriteItemInput)
	if !ok || len(part.RequestItems) != 1 || len(part.RequestItems["one"]) != 1 || part.RequestItems["one"][0] != b {
		t.Errorf("got %v, want the second request of the first table", part)
	}
	if len(in.RequestItems["one"]) != 2 || len(in.RequestItems) != 2 {
		t.Errorf("the batch itself has changed: %v", in.RequestItems)
	}
	get := &dynamodb.BatchGetItemInput{}
	if got := donePart(get, &dynamodb.BatchGetItemOutput{}); got != any(get) {
		t.Errorf("got %v, want the reads as they are", got)
	}
}
