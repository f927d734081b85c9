package pagecache

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// commit makes m visible and gives the lease back, in one transaction: the writes of page, the delete of LOCK, and the
// answer to the request that the lease is for, if any. After a conflict it is sent again, and its guards are judged
// again: under a lease that has ended meanwhile nothing is published.
//
// Without a guard on LOCK, the page is published even if the lease is gone. The lease is given back if it exists.
func (s *leases) commit(ctx context.Context, l Lease, m Meta, page func() []types.TransactWriteItem) error {
	release := func() *types.Delete {
		condition, values := s.onLease(l)
		return &types.Delete{
			TableName: &s.cfg.Table, Key: Key(s.PK(l.Key), isr.SortLock), ConditionExpression: condition,
			ExpressionAttributeValues: values,
		}
	}
	err := s.transact(ctx, l, m, page, release)
	if s.Guards&onLock == 0 && errors.Is(err, isr.ErrLeaseLost) {
		err = s.transact(ctx, l, m, page, nil)
	}
	if err != nil {
		return storeError("publish", l.Key, err)
	}
	return nil
}

// transact sends the transaction until there is no conflict. If release is nil, LOCK does not change.
func (s *leases) transact(
	ctx context.Context, l Lease, m Meta, page func() []types.TransactWriteItem, release func() *types.Delete,
) error {
	var actions []types.TransactWriteItem
	err := s.pastConflicts(ctx, func() error {
		actions = page()
		if release != nil {
			actions = append(actions, types.TransactWriteItem{Delete: release()})
		}
		if l.Request.ID != "" {
			actions = append(actions, s.answer(l, m))
		}
		_, err := s.cfg.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions})
		return err
	})
	if err != nil {
		return refusal(err, actions)
	}
	return nil
}

// numbered is m with a version, if versions are counted: one more than the version seen, or the present second as a
// number. No earlier count has reached the present second.
func (s *leases) numbered(l Lease, m Meta) Meta {
	switch {
	case !has(s.Guards, guard.Version):
		m.Version = 0
	case l.Seen > 0:
		m.Version = l.Seen + 1
	default:
		m.Version = int64(s.Now())
	}
	return m
}

// refusal returns the reason why a publish was refused: ErrOvertaken if the guard on META did not hold, ErrAnswered if
// the condition on the request did not, ErrLeaseLost if the guard on LOCK did not. Any other error is returned
// unchanged.
func refusal(err error, actions []types.TransactWriteItem) error {
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return err
	}
	what := err
	for i, reason := range cancelled.CancellationReasons {
		if aws.ToString(reason.Code) != "ConditionalCheckFailed" || i >= len(actions) {
			continue
		}
		switch sk := sortKey(actions[i]); {
		case sk == isr.SortLock:
			if !errors.Is(what, ErrAnswered) {
				what = isr.ErrLeaseLost
			}
		case strings.HasPrefix(sk, SortRequest):
			what = ErrAnswered
		default:
			return ErrOvertaken
		}
	}
	return what
}

// sortKey returns the sort key of an action's row.
func sortKey(action types.TransactWriteItem) string {
	var key map[string]types.AttributeValue
	switch {
	case action.Put != nil:
		key = action.Put.Item
	case action.Update != nil:
		key = action.Update.Key
	case action.Delete != nil:
		key = action.Delete.Key
	case action.ConditionCheck != nil:
		key = action.ConditionCheck.Key
	}
	sk, _ := key[attrSK].(*types.AttributeValueMemberS)
	if sk == nil {
		return ""
	}
	return sk.Value
}

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
