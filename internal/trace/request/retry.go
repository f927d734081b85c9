package request

import (
	"errors"
	stdhttp "net/http"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/transport/http"
)

// standard only decides which errors are worth another attempt. It neither waits nor counts attempts here.
var standard = retry.NewStandard()

// Retryable reports whether the SDK's standard retryer would retry the call.
func Retryable(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return standard.IsErrorRetryable(err)
	}
	// The retryer takes microseconds, and a contender gets many refusals, so each exception is classified only once.
	of := exception{api.ErrorCode(), api.ErrorFault()}
	again, known := verdicts.Load(of)
	if !known {
		if of.fault == smithy.FaultServer {
			// The retryer recognises faults of the service itself by their status. A call without HTTP has no status.
			err = &http.ResponseError{Err: err, Response: serverFault}
		}
		again, _ = verdicts.LoadOrStore(of, standard.IsErrorRetryable(err))
	}
	return again == true
}

// verdicts holds the retryer's answer for each exception, as a bool.
var verdicts sync.Map

type exception struct {
	code  string
	fault smithy.ErrorFault
}

// serverFault is the response with an error of the service itself.
var serverFault = &http.Response{Response: &stdhttp.Response{StatusCode: stdhttp.StatusInternalServerError}}

// errInPart is the failure of a batch that was only partly done. Its caller may give up because of it.
var errInPart = errors.New("the batch came back in part")

// InPart returns errInPart if an answer reports that a part of a batch was left undone.
func InPart(out any) error {
	switch out := out.(type) {
	case *dynamodb.BatchGetItemOutput:
		if out != nil && len(out.UnprocessedKeys) > 0 {
			return errInPart
		}
	case *dynamodb.BatchWriteItemOutput:
		if out != nil && len(out.UnprocessedItems) > 0 {
			return errInPart
		}
	case *dynamodb.BatchExecuteStatementOutput:
		if out != nil && slices.ContainsFunc(out.Responses, LeftUndone) {
			return errInPart
		}
	}
	return nil
}

// LeftUndone reports whether a statement of a batch was left undone.
func LeftUndone(r types.BatchStatementResponse) bool {
	return r.Error != nil && (r.Error.Code == types.BatchStatementErrorCodeEnumThrottlingError ||
		r.Error.Code == types.BatchStatementErrorCodeEnumProvisionedThroughputExceeded ||
		r.Error.Code == types.BatchStatementErrorCodeEnumTransactionConflict)
}

// Refusal reports whether an error concerns only failed conditions. For CreateTable, the condition is that the table
// does not exist yet.
func Refusal(err error) bool {
	if _, ok := errors.AsType[*types.ResourceInUseException](err); ok {
		return true
	}
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return true
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok && slices.Contains(refusals, api.ErrorCode()) {
		return true
	}
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return false
	}
	for _, reason := range cancelled.CancellationReasons {
		if code := reason.Code; code != nil && *code != "None" && *code != "ConditionalCheckFailed" {
			return false
		}
	}
	return true
}

// refusals are those of S3: the object does not exist, or does not fulfil a condition. ConditionalRequestConflict means
// neither, and asks for a retry, which no SDK makes.
var refusals = []string{"PreconditionFailed", "NoSuchKey", "NotFound", "NotModified", "ConditionalRequestConflict"}

// Malformed reports whether an error means that the request itself is wrong: its text, or what it does to the row.
func Malformed(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains([]string{"ValidationException", "ResourceNotFoundException", "SerializationException",
		"UnknownOperationException"}, api.ErrorCode())
}

// Writes reports whether a request can write.
func Writes(input any) bool {
	switch input.(type) {
	case *dynamodb.GetItemInput, *dynamodb.BatchGetItemInput, *dynamodb.TransactGetItemsInput, *dynamodb.QueryInput,
		*dynamodb.ScanInput:
		return false
	default:
		return true
	}
}
