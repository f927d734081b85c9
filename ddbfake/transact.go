package ddbfake

import (
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Limits of both transactional operations.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-dynamodb-transactions
const (
	maxTransactItems = 100
	maxTransactBytes = 4 << 20
)

// transactItems checks the number of items.
//
// Deviation: where a transaction has too many items, the service echoes the whole list.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/transactWriteItems.test.ts
func (c *constraints) transactItems(n int, missing bool) {
	switch {
	case missing:
		c.null("transactItems")
	case n < 1:
		c.length("[]", "transactItems", "greater", 1)
	case n > maxTransactItems:
		c.length("[...]", "transactItems", "less", maxTransactItems)
	}
}

const oneOperationPerItem = "Transaction request cannot include multiple operations on one item"

// checkTransactBytes refuses a transaction of more than 4 MB. AWS documents the limit but not the text: this is the
// text of DynamoDB Local 3.3.1.
func checkTransactBytes(sizeBytes int) error {
	if sizeBytes > maxTransactBytes {
		return invalid("Transaction payload size cannot exceed 4MB. Payload Size: %d", sizeBytes)
	}
	return nil
}

// Codes of cancellation reasons.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
const (
	reasonNone            = "None"
	reasonConditionFailed = "ConditionalCheckFailed"
	reasonDuplicate       = "DuplicateItem"
	reasonNoTable         = "ResourceNotFound"
	reasonValidation      = "ValidationError"
	reasonThrottled       = "ProvisionedThroughputExceeded"
	reasonScaling         = "ThrottlingError"
	reasonConflict        = "TransactionConflict"
	reasonCollection      = "ItemCollectionSizeLimitExceeded"
)

// cancelled returns a TransactionCanceledException: reasons are in the order of the request, and None stands for an
// action that did not fail.
func cancelled(reasons []types.CancellationReason) error {
	codes := make([]string, len(reasons))
	for i := range reasons {
		if reasons[i].Code == nil {
			reasons[i].Code = aws.String(reasonNone)
		}
		codes[i] = *reasons[i].Code
	}
	return &types.TransactionCanceledException{
		Message: aws.String("Transaction cancelled, please refer cancellation reasons for specific reasons [" +
			strings.Join(codes, ", ") + "]"),
		CancellationReasons: reasons,
	}
}

// cancelledWhere cancels a transaction of n actions; hit says which of them have the reason.
func cancelledWhere(n int, hit func(i int) bool, code string, message *string) error {
	reasons := make([]types.CancellationReason, n)
	for i := range reasons {
		if hit(i) {
			reasons[i] = types.CancellationReason{Code: aws.String(code), Message: message}
		}
	}
	return cancelled(reasons)
}

// cancelledAt cancels a transaction of n actions because of an error of action i. If several actions have an error, the
// service reports the first; DynamoDB Local 3.3.1 reports all.
func cancelledAt(i, n int, err error) error {
	reasons := make([]types.CancellationReason, n)
	reasons[i] = reasonFor(err)
	return cancelled(reasons)
}

// reasonFor turns the error of an action by itself into a reason.
func reasonFor(err error) types.CancellationReason {
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return types.CancellationReason{
			Code: aws.String(reasonConditionFailed), Message: failed.Message, Item: failed.Item,
		}
	}
	var duplicate *types.DuplicateItemException
	if errors.As(err, &duplicate) {
		return types.CancellationReason{Code: aws.String(reasonDuplicate), Message: duplicate.Message}
	}
	var large *types.ItemCollectionSizeLimitExceededException
	if errors.As(err, &large) {
		return types.CancellationReason{Code: aws.String(reasonCollection), Message: large.Message}
	}
	return types.CancellationReason{Code: aws.String(reasonValidation), Message: aws.String(messageOf(err))}
}
