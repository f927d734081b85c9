package trace_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/trace/request"
)

func TestDone(t *testing.T) {
	item := func() types.WriteRequest { return types.WriteRequest{DeleteRequest: &types.DeleteRequest{}} }
	a, b, c := item(), item(), item()
	in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"one": {a, b}, "two": {c}}}
	out := &dynamodb.BatchWriteItemOutput{UnprocessedItems: map[string][]types.WriteRequest{"one": {a}, "two": {c}}}
	part, ok := request.Done(in, out).(*dynamodb.BatchWriteItemInput)
	if !ok || len(part.RequestItems) != 1 || len(part.RequestItems["one"]) != 1 || part.RequestItems["one"][0] != b {
		t.Errorf("got %v, want the second request of the first table", part)
	}
	if len(in.RequestItems["one"]) != 2 || len(in.RequestItems) != 2 {
		t.Errorf("the batch itself has changed: %v", in.RequestItems)
	}
	statements := &dynamodb.BatchExecuteStatementInput{Statements: make([]types.BatchStatementRequest, 2)}
	left := types.BatchStatementResponse{
		Error: &types.BatchStatementError{Code: types.BatchStatementErrorCodeEnumThrottlingError},
	}
	conflict := types.BatchStatementResponse{
		Error: &types.BatchStatementError{Code: types.BatchStatementErrorCodeEnumTransactionConflict},
	}
	refused := types.BatchStatementResponse{
		Error: &types.BatchStatementError{Code: types.BatchStatementErrorCodeEnumConditionalCheckFailed},
	}
	answer := func(all ...types.BatchStatementResponse) any {
		return &dynamodb.BatchExecuteStatementOutput{Responses: all}
	}
	if got, ok := request.Done(statements, answer(left, refused)).(*dynamodb.BatchExecuteStatementInput); !ok ||
		len(got.Statements) != 1 {
		t.Errorf("got %v, want the second statement", got)
	}
	if got := request.Done(statements, answer(left, conflict)); got != nil {
		t.Errorf("got %v, want nothing", got)
	}
	get := &dynamodb.BatchGetItemInput{}
	if got := request.Done(get, &dynamodb.BatchGetItemOutput{}); got != any(get) {
		t.Errorf("got %v, want the reads as they are", got)
	}
}

// A lock that is refused, because the row or the table exists, is not a failure.
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
		if got := request.Refusal(test.err); got != test.want {
			t.Errorf("%T: got %v, want %v", test.err, got, test.want)
		}
	}
}

// A statement that was left undone makes its batch fail; one that was refused does not.
func TestInPart(t *testing.T) {
	failed := func(code types.BatchStatementErrorCodeEnum) types.BatchStatementResponse {
		return types.BatchStatementResponse{Error: &types.BatchStatementError{Code: code}}
	}
	refused := failed(types.BatchStatementErrorCodeEnumConditionalCheckFailed)
	for _, test := range []struct {
		all   []types.BatchStatementResponse
		fails bool
	}{
		{[]types.BatchStatementResponse{refused}, false},
		{[]types.BatchStatementResponse{refused, failed(types.BatchStatementErrorCodeEnumThrottlingError)}, true},
		{[]types.BatchStatementResponse{refused, failed(types.BatchStatementErrorCodeEnumTransactionConflict)}, true},
	} {
		err := request.InPart(&dynamodb.BatchExecuteStatementOutput{Responses: test.all})
		if (err != nil) != test.fails {
			t.Errorf("%v: got %v, fails: %v", test.all, err, test.fails)
		}
	}
}
