package pagecache

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A holder's write that gets a transaction conflict is sent at most conflictAttempts times. Between them it waits,
// conflictWait at first and twice as long each time: 350 ms in all, a small part of a lease.
const (
	conflictAttempts = 4
	conflictWait     = 50 * time.Millisecond
)

// pastConflicts writes, and repeats the write while another request for the same rows is in the way. DynamoDB answers
// with a conflict only if the write did not happen, and the SDK leaves the repetition to the caller. A holder that took
// a conflict for a failure would throw away a good page. The lease refuses the other request, so a few attempts are
// enough. The function write must judge its guards again each time.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
func (s *leases) pastConflicts(ctx context.Context, write func() error) error {
	wait := conflictWait
	for attempt := 1; ; attempt++ {
		err := write()
		if !conflicts(err) || attempt == conflictAttempts || ctx.Err() != nil {
			return err
		}
		s.cfg.Clock.Sleep(wait)
		wait *= 2
	}
}

// conflicts reports whether a write was refused only because of another request for the same rows, so that a repetition
// can succeed.
func conflicts(err error) bool {
	if _, ok := errors.AsType[*types.TransactionConflictException](err); ok {
		return true
	}
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return false
	}
	met := false
	for _, reason := range cancelled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "TransactionConflict":
			met = true
		case "", "None":
		default:
			return false
		}
	}
	return met
}

// Refused reports whether err is DynamoDB's answer to a write whose condition did not hold, alone or in a transaction,
// and returns the row that the condition was checked against, if the writer asked for it.
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
