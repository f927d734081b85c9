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
)

// TestTheClientRetriesWhatTheSDKRetries holds the two clients of a node to each other: what the SDK's own client sends
// again when the wire answers with an error, the client without a wire sends again.
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
		&ddbfake.UnsupportedError{Operation: "ExecuteStatement"},
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
