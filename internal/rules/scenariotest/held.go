package scenariotest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// LockBugs are the bugs of a [Lock], by the invariant that finds them.
var LockBugs = map[string][]string{
	"mutual-exclusion": {"takes over early", "releases anyone's"},
	"guarded-write":    {"one token for all", "asks a replica for its token"},
	"kept-lease":       {"gives up early"},
	"free-lock":        {"forgets to release"},
	"lock-liveness":    {"never ends"},
}

// Lock is a lock with fencing tokens in one row; "" is the correct one.
func Lock(bug string) isr.Protocol {
	return isr.Protocol{
		Name: "lock " + bug, New: func(c isr.Config) (isr.Handler, error) { return &rowLock{pageless{c, bug}}, nil },
	}
}

// pageless is the part that the lock and the idempotency layer have in common.
type pageless struct {
	isr.Config
	bug string
}

func (pageless) Get(context.Context, string) (isr.Served, error) {
	return isr.Served{}, errors.New("it has no pages")
}

func (p *pageless) key(name string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: name}, "sk": &types.AttributeValueMemberS{Value: "ROW"},
	}
}

type values map[string]types.AttributeValue

func (p *pageless) update(
	ctx context.Context, name, sets, condition string, with values,
) (map[string]types.AttributeValue, error) {
	out, err := p.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &p.Table, Key: p.key(name), UpdateExpression: &sets, ConditionExpression: &condition,
		ExpressionAttributeValues: with, ReturnValues: types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func milli(t time.Time) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(t.UnixMilli(), 10)}
}

type rowLock struct{ pageless }

// Terms implements hooks.LockClient.
func (l *rowLock) Terms() promise.LockTerms {
	return promise.LockTerms{Wait: hooks.DefaultWait, Takeover: l.Lease}
}

// Acquire implements hooks.LockClient.
func (l *rowLock) Acquire(ctx context.Context, name string) (*hooks.Held, error) {
	now, mine := l.Clock.Now(), l.Tokens()
	until, over, count := now.Add(l.Lease), now, ", last_token = if_not_exists(last_token, :none) + :one"
	condition := "attribute_not_exists(held_by) OR held_until <= :now"
	with := values{
		":mine": text(mine), ":until": milli(until), ":one": &types.AttributeValueMemberN{Value: "1"},
		":none": &types.AttributeValueMemberN{Value: "0"},
	}
	switch l.bug {
	case "takes over early":
		over = now.Add(l.Lease / 2)
	case "one token for all":
		count = ", last_token = if_not_exists(last_token, :one)"
		delete(with, ":none")
	case "never ends":
		condition = "attribute_not_exists(held_by)"
	}
	if l.bug != "never ends" {
		with[":now"] = milli(over)
	}
	row, err := l.update(ctx, name, "SET held_by = :mine, held_until = :until"+count, condition, with)
	if err != nil {
		return nil, err
	}
	if l.bug == "asks a replica for its token" {
		out, err := l.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &l.Table, Key: l.key(name)})
		if err != nil {
			return nil, err
		}
		if row = out.Item; row == nil {
			row = values{"last_token": &types.AttributeValueMemberN{Value: "0"}}
		}
	}
	tokens, _ := row["last_token"].(*types.AttributeValueMemberN)
	token, err := strconv.ParseInt(tokens.Value, 10, 64)
	if err != nil {
		return nil, err
	}
	if l.bug == "gives up early" {
		until = until.Add(-l.Lease / 2)
	}
	return &hooks.Held{
		Holds:   func(context.Context) (bool, error) { return l.Clock.Now().Before(until), nil },
		Token:   func() int64 { return token },
		Release: func(ctx context.Context) error { return l.release(ctx, name, mine) },
	}, nil
}

func (l *rowLock) release(ctx context.Context, name, mine string) error {
	condition, with := "held_by = :mine", values{":mine": text(mine)}
	switch l.bug {
	case "releases anyone's":
		condition, with = "attribute_exists(pk)", nil
	case "forgets to release":
		return nil
	}
	_, err := l.update(ctx, name, "REMOVE held_by", condition, with)
	return err
}

// OnceBugs are the bugs of a [Once], by the invariant that finds them.
var OnceBugs = map[string][]string{
	"effect-once":   {"takes over early"},
	"same-result":   {"tells its own result"},
	"same-payload":  {"looks at no payload"},
	"free-call":     {"refuses what is done"},
	"call-liveness": {"never ends"},
}

// Once is an idempotency layer in which a key stands for a payload, with one row per key; "" is the correct one.
func Once(bug string) isr.Protocol {
	return isr.Protocol{
		Name: "once " + bug, New: func(c isr.Config) (isr.Handler, error) { return &rowOnce{pageless{c, bug}}, nil },
	}
}

type rowOnce struct{ pageless }

// OnceTerms implements hooks.OnceClient.
func (o *rowOnce) OnceTerms() promise.OnceTerms {
	return promise.OnceTerms{Payload: true, Wait: hooks.DefaultWait, Takeover: o.Lease}
}

// Once implements hooks.OnceClient.
func (o *rowOnce) Once(
	ctx context.Context, key, payload string, effect func(context.Context) (string, error),
) (string, error) {
	now, mine := o.Clock.Now(), o.Tokens()
	over, condition := now, "attribute_not_exists(pk) OR attribute_not_exists(its_result) AND tried_until <= :now"
	with := values{":mine": text(mine), ":until": milli(now.Add(o.Lease)), ":payload": text(payload)}
	switch o.bug {
	case "takes over early":
		over = now.Add(o.Lease)
	case "never ends":
		condition = "attribute_not_exists(pk)"
	}
	if o.bug != "never ends" {
		with[":now"] = milli(over)
	}
	_, err := o.update(ctx, key, "SET tried_by = :mine, tried_until = :until, its_payload = :payload", condition, with)
	if taken, is := errors.AsType[*types.ConditionalCheckFailedException](err); is {
		return o.known(taken.Item, payload)
	}
	if err != nil {
		return "", err
	}
	result, err := effect(ctx)
	if err != nil {
		return "", err
	}
	_, err = o.update(ctx, key, "SET its_result = :result", "tried_by = :mine",
		values{":mine": text(mine), ":result": text(result)})
	if lost, is := errors.AsType[*types.ConditionalCheckFailedException](err); is && o.bug != "tells its own result" {
		return o.known(lost.Item, payload)
	}
	if err != nil && o.bug != "tells its own result" {
		return "", err
	}
	return result, nil
}

func (o *rowOnce) known(row map[string]types.AttributeValue, payload string) (string, error) {
	if of, _ := row["its_payload"].(*types.AttributeValueMemberS); of.Value != payload &&
		o.bug != "looks at no payload" {
		return "", fmt.Errorf("%s: %w", of.Value, isr.ErrOtherInputs)
	}
	told, is := row["its_result"].(*types.AttributeValueMemberS)
	if !is || o.bug == "refuses what is done" {
		return "", errors.New("somebody else is at it")
	}
	return told.Value, nil
}
