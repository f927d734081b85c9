package pagecache

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Refused says whether err is DynamoDB's answer to a write whose condition did not hold, alone or in a transaction, and
// returns the row that the condition met, if the writer asked for it.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
// (CancellationReasons)
func Refused(err error) (row map[string]types.AttributeValue, refused bool) {
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return failed.Item, true
	}
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		for _, reason := range cancelled.CancellationReasons {
			if aws.ToString(reason.Code) == "ConditionalCheckFailed" {
				return reason.Item, true
			}
		}
	}
	return nil, false
}
