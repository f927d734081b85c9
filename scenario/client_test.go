package scenario

import (
	"context"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// TestTheClientRetriesWhatTheSDKRetries compares the two clients of a node: the simulator's own client retries exactly
// the errors that the SDK's client retries.
func TestTheClientRetriesWhatTheSDKRetries(t *testing.T) {
	coded := func(code string) error { return &smithy.GenericAPIError{Code: code, Fault: smithy.FaultClient} }
	again := 0
	for _, err := range []error{
		&types.ConditionalCheckFailedException{},
		&types.DuplicateItemException{},
		&types.IdempotentParameterMismatchException{},
		&types.InternalServerError{},
		&types.InvalidEndpointException{},
		&types.ItemCollectionSizeLimitExceededException{},
		&types.LimitExceededException{},
		&types.PolicyNotFoundException{},
		&types.ProvisionedThroughputExceededException{},
		&types.ReplicatedWriteConflictException{},
		&types.RequestLimitExceeded{},
		&types.ResourceInUseException{},
		&types.ResourceNotFoundException{},
		&types.ThrottlingException{},
		&types.TransactionCanceledException{},
		&types.TransactionConflictException{},
		&types.TransactionInProgressException{},
		coded("AccessDeniedException"),
		coded("InvalidSignatureException"),
		coded("ThrottlingException"),
		coded("ValidationException"),
		&smithy.GenericAPIError{Code: "ServiceUnavailable", Fault: smithy.FaultServer},
		&ddbfake.NetworkError{Operation: "GetItem"},
		&ddbfake.NetworkError{Operation: "PutItem", ResponseLost: true},
		&ddbfake.UnsupportedError{Operation: "ImportTable"},
	} {
		sent := 0
		client := ddbfake.NewClient(func(context.Context, ddbfake.Call) (any, error) { sent++; return nil, err },
			func(o *dynamodb.Options) { o.Retryer = ddbfake.Retryer(2) })
		if _, failed := client.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("cache"), Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "1"}},
		}); failed == nil || sent == 0 {
			t.Fatalf("%T: sent %d times, %v", err, sent, failed)
		}
		if got, want := retryable(err), sent == 2; got != want {
			t.Errorf("%T (%v): sent again %v, by the SDK %v", err, err, got, want)
		}
		if got, want := retryable(fmt.Errorf("wrapped: %w", err)), sent == 2; got != want {
			t.Errorf("%T in another error: sent again %v, by the SDK %v", err, got, want)
		}
		again += sent - 1
	}
	if again < 6 {
		t.Errorf("the SDK retries %d of these errors, want those of throttling, of the server and of the wire among them", again)
	}
}

// TestWhatANodeNamesTellsThePage follows the requests that a node makes for one request of a client.
func TestWhatANodeNamesTellsThePage(t *testing.T) {
	home := page{key: "/home"}
	own := isr.PartitionKey("", home.key)
	get := func(pk, sk string) any { return &dynamodb.GetItemInput{Key: pagecache.Key(pk, sk)} }
	for _, test := range []struct {
		name  string
		calls []any
		want  string
	}{
		{"nothing", nil, ""},
		{"one page", []any{get("CACHE#/home", "META"), get("CACHE#/home", "LOCK")}, "CACHE#/home"},
		{"rows of another kind do not count", []any{get("CACHE#/home", "META"), get("TAG#1", "TAG")}, "CACHE#/home"},
		{"two pages", []any{get("CACHE#/home", "META"), get("CACHE#/about", "LOCK")}, ""},
		{"two pages, one of them by the schema", []any{get("CACHE#/about", "META"), get(own, "LOCK")}, own},
		{"a transaction", []any{&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{Item: pagecache.Key("CACHE#/home", "META")}}, {Delete: &types.Delete{Key: pagecache.Key("CACHE#/home", "LOCK")}},
			{Update: &types.Update{Key: pagecache.Key("STATS", "DAY")}}, {ConditionCheck: &types.ConditionCheck{Key: pagecache.Key("STATS", "DAY")}}, {},
		}}}, "CACHE#/home"},
		{"what is read in a batch or a transaction", []any{
			&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"cache": {Keys: []map[string]types.AttributeValue{pagecache.Key("CACHE#/home", "META")}}}},
			&dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{Get: &types.Get{Key: pagecache.Key("CACHE#/about", "META")}}}},
		}, ""},
		{"keys that are not strings", []any{&dynamodb.GetItemInput{Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberN{Value: "1"}}}}, ""},
	} {
		var a named
		for _, call := range test.calls {
			a.note(call, nil)
		}
		if got := a.partition(home); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

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

// FileShape is the shape of scenario files, in the words of JSON Schema.
var FileShape = fileShape

// Shape is a part of FileShape.
type Shape = shape

// An answer by which a lock is refused excuses nothing: that the row is there, or the table.
func TestRefusals(t *testing.T) {
	code := "ThrottlingError"
	for _, test := range []struct {
		err  error
		want bool
	}{
		{&types.ConditionalCheckFailedException{}, true},
		{&types.ResourceInUseException{}, true},
		{&types.TransactionCanceledException{}, true},
		{&types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: &code}}}, false},
		{&types.ResourceNotFoundException{}, false},
		{&types.InternalServerError{}, false},
	} {
		if got := refusal(test.err); got != test.want {
			t.Errorf("%T: got %v, want %v", test.err, got, test.want)
		}
	}
}
