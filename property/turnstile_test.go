package property_test

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/property"
)

// turnstile is a lock by a team that has read docs/LOCKS.md and nothing else: one
// row a lock, in a table with one key, times in milliseconds. Each field is a bug.
type turnstile struct {
	property.LockNode

	grabs          bool // it looks first, and then takes the lock without a condition
	openToAll      bool // a release does not ask whose lock it is
	early          bool // the lock counts as over a second before its end
	wholeSeconds   bool // the end of the lease is floored to a second: over 9.1 s into 10
	forgetsItself  bool // what an earlier attempt has taken, its answer lost, counts as taken by another
	neverOver      bool // a lock that was not given back is never taken over
	neverGivesBack bool // a release does nothing
	sharedFence    bool // a takeover gets no token of its own
	fenceRestarts  bool // a release deletes the row, and with it the count
	alwaysSure     bool // it says that it holds the lock without a look at the clock
	countsLate     bool // it counts the lease from the answer, and not from the request
	extendsAnyones bool // an extension does not ask whose lock it is
	otherUnit      bool // an extension writes the end of the lease in seconds
	dozes          bool // it waits for a lease before it says that the lock is taken
	swallowsErrors bool // what fails to extend says that it has
}

// turnstileTable is the table that it wants.
var turnstileTable = &dynamodb.CreateTableInput{
	KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("gate"), KeyType: types.KeyTypeHash}},
	AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("gate"), AttributeType: types.ScalarAttributeTypeS}},
	BillingMode:          types.BillingModePayPerRequest,
}

// newTurnstiles returns what makes such locks.
func newTurnstiles(bugs turnstile) func(property.LockNode) (property.Lock, error) {
	return func(n property.LockNode) (property.Lock, error) {
		lock := bugs
		lock.LockNode = n
		return &lock, nil
	}
}

// passage is a lock that was taken.
type passage struct {
	of    *turnstile
	gate  string
	badge string
	until time.Time
	count int64
}

var errTaken = errors.New("somebody else is in")

func (l *turnstile) key(gate string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"gate": &types.AttributeValueMemberS{Value: gate}}
}

// end returns the end of a lease from now on, as rows hold it.
func (l *turnstile) end(now time.Time) (time.Time, types.AttributeValue) {
	until := now.Add(l.Lease)
	if l.wholeSeconds {
		until = until.Truncate(time.Second)
	}
	return until, number(until.UnixMilli())
}

// Acquire implements property.Lock.
func (l *turnstile) Acquire(ctx context.Context, gate string) (property.Held, error) {
	now := l.Clock.Now()
	until, end := l.end(now)
	p := &passage{of: l, gate: gate, badge: l.Tokens(), until: until}
	update := &dynamodb.UpdateItemInput{
		TableName: &l.Table, Key: l.key(gate), ReturnValues: types.ReturnValueAllNew,
		UpdateExpression:    aws.String("SET badge = :mine, inside_until = :end ADD passages :one"),
		ConditionExpression: aws.String("attribute_not_exists(badge) OR inside_until <= :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":mine": &types.AttributeValueMemberS{Value: p.badge}, ":end": end, ":one": number(1), ":now": number(now.UnixMilli()),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	switch {
	case l.early:
		update.ExpressionAttributeValues[":now"] = number(now.Add(time.Second).UnixMilli())
	case l.neverOver:
		update.ConditionExpression = aws.String("attribute_not_exists(badge)")
		delete(update.ExpressionAttributeValues, ":now")
	case l.sharedFence:
		update.UpdateExpression = aws.String("SET badge = :mine, inside_until = :end, passages = if_not_exists(passages, :one)")
	case l.grabs:
		out, err := l.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &l.Table, Key: l.key(gate), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return nil, err
		}
		if until, ok := out.Item["inside_until"].(*types.AttributeValueMemberN); ok && milli(until).After(now) {
			return nil, errTaken
		}
		update.ConditionExpression = nil
		delete(update.ExpressionAttributeValues, ":now")
	}
	out, err := l.Client.UpdateItem(ctx, update)
	if taken, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		if badge, ok := taken.Item["badge"].(*types.AttributeValueMemberS); ok && badge.Value == p.badge && !l.forgetsItself {
			return p.in(taken.Item), nil // by an earlier attempt of this call
		}
		if l.dozes {
			l.Clock.Sleep(l.Lease)
		}
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	if l.countsLate {
		p.until = l.Clock.Now().Add(l.Lease)
	}
	return p.in(out.Attributes), nil
}

// in reads the count of passages from the row.
func (p *passage) in(row map[string]types.AttributeValue) *passage {
	if n, ok := row["passages"].(*types.AttributeValueMemberN); ok {
		p.count, _ = strconv.ParseInt(n.Value, 10, 64)
	}
	return p
}

func milli(n *types.AttributeValueMemberN) time.Time {
	ms, _ := strconv.ParseInt(n.Value, 10, 64)
	return time.UnixMilli(ms)
}

// StillHeld implements property.HeldChecker.
func (p *passage) StillHeld(context.Context) (bool, error) {
	return p.of.alwaysSure || p.of.Clock.Now().Before(p.until), nil
}

// Token implements property.HeldFencer.
func (p *passage) Token() int64 { return p.count }

// Extend implements property.HeldExtender.
func (p *passage) Extend(ctx context.Context) error {
	l := p.of
	now := l.Clock.Now()
	until, end := l.end(now)
	if l.otherUnit {
		end = number(until.Unix())
	}
	update := &dynamodb.UpdateItemInput{
		TableName: &l.Table, Key: l.key(p.gate),
		UpdateExpression:    aws.String("SET inside_until = :end"),
		ConditionExpression: aws.String("badge = :mine AND inside_until > :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":mine": &types.AttributeValueMemberS{Value: p.badge}, ":end": end, ":now": number(now.UnixMilli()),
		},
	}
	if l.extendsAnyones {
		update.ConditionExpression = aws.String("attribute_exists(badge)")
		delete(update.ExpressionAttributeValues, ":mine")
		delete(update.ExpressionAttributeValues, ":now")
	}
	_, err := l.Client.UpdateItem(ctx, update)
	if err != nil && !l.swallowsErrors {
		return err
	}
	p.until = until
	return nil
}

// extendFrom extends the lease if it has been extended as often as the holder knows.
func (p *passage) extendFrom(ctx context.Context, nth int) error {
	l := p.of
	until, end := l.end(l.Clock.Now())
	_, err := l.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &l.Table, Key: l.key(p.gate),
		UpdateExpression:    aws.String("SET inside_until = :end, beats = :nth"),
		ConditionExpression: aws.String("badge = :mine AND (attribute_not_exists(beats) OR beats <> :nth)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":mine": &types.AttributeValueMemberS{Value: p.badge}, ":end": end,
			":nth": &types.AttributeValueMemberS{Value: p.badge + "#" + strconv.Itoa(nth)},
		},
	})
	if err == nil {
		p.until = until
	}
	return err
}

// Release implements property.Held.
func (p *passage) Release(ctx context.Context) error {
	l := p.of
	if l.neverGivesBack {
		return nil
	}
	if l.fenceRestarts {
		_, err := l.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &l.Table, Key: l.key(p.gate), ConditionExpression: aws.String("badge = :mine"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":mine": &types.AttributeValueMemberS{Value: p.badge}},
		})
		return notMine(err)
	}
	update := &dynamodb.UpdateItemInput{
		TableName: &l.Table, Key: l.key(p.gate), UpdateExpression: aws.String("REMOVE badge, inside_until"),
	}
	if !l.openToAll {
		update.ConditionExpression = aws.String("badge = :mine")
		update.ExpressionAttributeValues = map[string]types.AttributeValue{":mine": &types.AttributeValueMemberS{Value: p.badge}}
	}
	_, err := l.Client.UpdateItem(ctx, update)
	return notMine(err)
}

// notMine leaves out the refusal of a release: the lock was over, or an earlier
// attempt has given it back.
func notMine(err error) error {
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return nil
	}
	return err
}

// turnstiles are locks of that kind, by what is wrong with them.
func turnstiles() map[string]turnstile {
	return map[string]turnstile{
		"lock: correct":                    {},
		"lock: takes without a condition":  {grabs: true},
		"lock: releases anyone's":          {openToAll: true},
		"lock: over a second early":        {early: true},
		"lock: lease in whole seconds":     {wholeSeconds: true},
		"lock: own lock taken for another": {forgetsItself: true},
		"lock: never taken over":           {neverOver: true},
		"lock: never given back":           {neverGivesBack: true},
		"lock: one token for two":          {sharedFence: true},
		"lock: tokens begin anew":          {fenceRestarts: true},
		"lock: always sure":                {alwaysSure: true},
		"lock: counts from the answer":     {countsLate: true},
		"lock: extends anyone's":           {extendsAnyones: true},
		"lock: extends in seconds":         {otherUnit: true},
		"lock: dozes":                      {dozes: true},
		"lock: swallows errors":            {swallowsErrors: true},
	}
}

// acquirer is a lock made of its Acquire.
type acquirer func(ctx context.Context, name string) (property.Held, error)

func (a acquirer) Acquire(ctx context.Context, name string) (property.Held, error) {
	return a(ctx, name)
}

// nothing is a lock that was taken from nobody.
type nothing struct{}

func (nothing) Release(context.Context) error { return nil }

// badLocks are locks that a check must refuse.
func badLocks() map[string]func(property.LockNode) (property.Lock, error) {
	answer := func(a acquirer) func(property.LockNode) (property.Lock, error) {
		return func(property.LockNode) (property.Lock, error) { return a, nil }
	}
	return map[string]func(property.LockNode) (property.Lock, error){
		"lock: always refuses":  answer(func(context.Context, string) (property.Held, error) { return nil, errTaken }),
		"lock: neither nor":     answer(func(context.Context, string) (property.Held, error) { return nil, nil }),
		"lock: a lock for each": answer(func(context.Context, string) (property.Held, error) { return nothing{}, nil }),
		"lock: panics":          answer(func(context.Context, string) (property.Held, error) { panic("no such lock") }),
		"lock: in no table": func(n property.LockNode) (property.Lock, error) {
			n.Table = "the-real-one"
			return &turnstile{LockNode: n}, nil
		},
		"lock: cannot be made": func(property.LockNode) (property.Lock, error) { return nil, errors.New("no region") },
		"lock: is nil":         func(property.LockNode) (property.Lock, error) { return nil, nil },
	}
}
