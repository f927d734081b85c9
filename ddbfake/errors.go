package ddbfake

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// UnsupportedError is returned for an operation or a parameter that the fake does not have. Nothing is ignored
// silently. Its error code is UnknownOperationException, on the wire too.
type UnsupportedError struct {
	// Operation is the operation's name, for example "ImportTable".
	Operation string
	// Parameter is the request member that is not supported; "" if the whole operation is not.
	Parameter string
}

// Error names the operation or parameter that is not supported.
func (e *UnsupportedError) Error() string { return e.ErrorCode() + ": " + e.ErrorMessage() }

// ErrorCode is always "UnknownOperationException".
func (e *UnsupportedError) ErrorCode() string { return "UnknownOperationException" }

// ErrorMessage names the operation or parameter that is not supported.
func (e *UnsupportedError) ErrorMessage() string {
	if e.Parameter == "" {
		return "ddbfake does not support the operation " + e.Operation
	}
	return "ddbfake does not support the parameter " + e.Parameter + " of " + e.Operation
}

// ErrorFault is always the client's.
func (e *UnsupportedError) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

// notAFaultError is returned if a fault for the call has a kind that is not one of FaultKinds. The call has no effect.
type notAFaultError struct {
	Fault Fault
}

// Error names what was found and what was expected.
func (e *notAFaultError) Error() string {
	return fmt.Sprintf("ddbfake: found a fault of the kind %d, expected Fault.Kind to be one of FaultKinds (%s)",
		e.Fault.Kind, faultKindList())
}

// NetworkError is the caller's error for a lost request or a lost response. As in real life, its text does not tell
// which: the call may or may not have taken effect. Retryers of the SDK treat it as retryable.
type NetworkError struct {
	// Operation is the operation's name.
	Operation string
	// ResponseLost is for tests, which may know more than a caller. It is true if the call was served and only its
	// response was lost, and false if the call never arrived.
	ResponseLost bool
}

// Error reports that the connection was lost.
func (e *NetworkError) Error() string {
	return "ddbfake: " + e.Operation + ": the connection was lost before a response was read"
}

// Timeout is true: with Temporary it makes this a net.Error that SDKs retry.
func (e *NetworkError) Timeout() bool { return true }

// Temporary is true.
func (e *NetworkError) Temporary() bool { return true }

func invalid(format string, args ...any) error {
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	return &smithy.GenericAPIError{Code: "ValidationException", Message: message, Fault: smithy.FaultClient}
}

// worded is an error about a value of a request, in the service's two wordings.
type worded struct {
	error
	older string
}

// refused returns the ValidationException for a value that is refused.
func refused(err error) error {
	if two, ok := errors.AsType[interface {
		error
		Older() string
	}](err); ok {
		return &worded{invalid("%s", err.Error()), two.Older()}
	}
	return invalid("%s", err.Error())
}

// olderLayer are the operations that still use the older one of the service's two layers of validation. Some regions
// have moved transactions to the newer layer; most have not.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/valueLayers.test.ts
var olderLayer = []string{
	"BatchExecuteStatement", "BatchWriteItem", "ExecuteStatement", "ExecuteTransaction", "Scan",
	"TransactGetItems", "TransactWriteItems",
}

func inWordsOf(operation string, err error) error {
	two, ok := errors.AsType[*worded](err)
	switch {
	case !ok:
		return err
	case slices.Contains(olderLayer, operation):
		return invalid("%s", two.older)
	}
	return two.error
}

// enveloped returns an error of PutItem, UpdateItem or DeleteItem that was found before looking at the table, in the
// wording of these operations since 2026. The text about the size of an item stands alone.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/captures/cross-region-latest.json
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/deleteItem.test.ts
// Source: https://github.com/nubo-db/dynoxide/blob/main/tests/item_operations.rs (the size; from a capture)
func enveloped(err error) error {
	err = inWordsOf("", err)
	refusal, ok := errors.AsType[*smithy.GenericAPIError](err)
	switch {
	case !ok || refusal.Message == itemTooLarge:
		return err
	case strings.HasPrefix(refusal.Message, valuesAlone):
		return invalid(envelope + valuesAlone)
	}
	return invalid("%s", envelope+refusal.Message)
}

const (
	envelope     = "1 validation error detected: "
	itemTooLarge = "Item size has exceeded the maximum allowed size"
)

func messageOf(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorMessage()
	}
	return err.Error()
}

func resourceNotFound(message string) error {
	return &types.ResourceNotFoundException{Message: aws.String(message)}
}

// ongoing is the reason for a conflict. AWS documents the text with a full stop, but its clients report it without one.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
const ongoing = "Transaction is ongoing for the item"

// conflictError refuses a write because a transaction is using its row.
func conflictError() error {
	return &types.TransactionConflictException{Message: aws.String(ongoing)}
}

// duplicateItem refuses an INSERT.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.insert.html
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier2/partiql/executeStatement.test.ts
func duplicateItem() error {
	return &types.DuplicateItemException{Message: aws.String("Duplicate primary key exists in table")}
}

func conditionFailed(item map[string]types.AttributeValue) error {
	return &types.ConditionalCheckFailedException{
		Message: aws.String("The conditional request failed"),
		Item:    item,
	}
}
