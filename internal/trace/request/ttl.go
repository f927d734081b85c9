package request

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// ttlAttribute is the ttl of a LOCK row.
const ttlAttribute = "ttl"

// WithLockTTL returns a copy of an answer in which the ttl of each LOCK row is replaced; found is false if there is no
// such row. A row whose sort key is not in the answer counts as a LOCK row.
func WithLockTTL(out any, err error, ttl types.AttributeValue) (veiled any, found bool, refusal error) {
	changed := func(item map[string]types.AttributeValue) map[string]types.AttributeValue {
		sk, has := item["sk"].(*types.AttributeValueMemberS)
		if item[ttlAttribute] == nil || has && sk.Value != isr.SortLock {
			return item
		}
		found = true
		item = maps.Clone(item)
		item[ttlAttribute] = ttl
		return item
	}
	switch o := out.(type) {
	case *dynamodb.GetItemOutput:
		now := *o
		now.Item = changed(o.Item)
		out = &now
	case *dynamodb.PutItemOutput:
		now := *o
		now.Attributes = changed(o.Attributes)
		out = &now
	case *dynamodb.UpdateItemOutput:
		now := *o
		now.Attributes = changed(o.Attributes)
		out = &now
	case *dynamodb.DeleteItemOutput:
		now := *o
		now.Attributes = changed(o.Attributes)
		out = &now
	case *dynamodb.QueryOutput:
		now := *o
		now.Items = slices.Clone(o.Items)
		for i := range now.Items {
			now.Items[i] = changed(now.Items[i])
		}
		out = &now
	}
	if refused, is := errors.AsType[*types.ConditionalCheckFailedException](err); is {
		now := *refused
		now.Item = changed(refused.Item)
		err = &now
	}
	if cancelled, is := errors.AsType[*types.TransactionCanceledException](err); is {
		now := *cancelled
		now.CancellationReasons = slices.Clone(cancelled.CancellationReasons)
		for i := range now.CancellationReasons {
			now.CancellationReasons[i].Item = changed(now.CancellationReasons[i].Item)
		}
		err = &now
	}
	return out, found, err
}

// AsksLockTTL reports whether the effect of a request may depend on the ttl of a LOCK row: a condition or a filter
// names it, or an update reads it.
func AsksLockTTL(input any) bool {
	asks := func(
		key map[string]types.AttributeValue, names map[string]string, update, condition *string, legacy bool,
	) bool {
		sk, has := key["sk"].(*types.AttributeValueMemberS)
		return (!has || sk.Value == isr.SortLock) &&
			(legacy || readsTTL(update, names, true) || readsTTL(condition, names, false))
	}
	switch in := input.(type) {
	case *dynamodb.PutItemInput:
		return asks(in.Item, in.ExpressionAttributeNames, nil, in.ConditionExpression, in.Expected != nil)
	case *dynamodb.UpdateItemInput:
		return asks(in.Key, in.ExpressionAttributeNames, in.UpdateExpression, in.ConditionExpression,
			in.Expected != nil || in.AttributeUpdates != nil)
	case *dynamodb.DeleteItemInput:
		return asks(in.Key, in.ExpressionAttributeNames, nil, in.ConditionExpression, in.Expected != nil)
	case *dynamodb.QueryInput:
		return asks(nil, in.ExpressionAttributeNames, nil, in.FilterExpression,
			in.QueryFilter != nil || in.IndexName != nil)
	case *dynamodb.TransactWriteItemsInput:
		return slices.ContainsFunc(in.TransactItems, func(t types.TransactWriteItem) bool {
			return t.Put != nil &&
				asks(t.Put.Item, t.Put.ExpressionAttributeNames, nil, t.Put.ConditionExpression, false) ||
				t.Update != nil && asks(t.Update.Key, t.Update.ExpressionAttributeNames, t.Update.UpdateExpression,
					t.Update.ConditionExpression, false) ||
				t.Delete != nil && asks(t.Delete.Key, t.Delete.ExpressionAttributeNames, nil,
					t.Delete.ConditionExpression, false) ||
				t.ConditionCheck != nil && asks(t.ConditionCheck.Key, t.ConditionCheck.ExpressionAttributeNames, nil,
					t.ConditionCheck.ConditionExpression, false)
		})
	}
	return false
}

// inExpression matches the names in an expression, each with the assignment sign after it, if there is one.
var inExpression = regexp.MustCompile(`[#:]?\w+(\s*=)?`)

// readsTTL reports whether an expression reads the attribute ttl. An update may assign it.
func readsTTL(expression *string, names map[string]string, update bool) bool {
	for _, found := range inExpression.FindAllString(aws.ToString(expression), -1) {
		name, assigned := strings.CutSuffix(found, "=")
		name = strings.TrimSpace(name)
		if (name == ttlAttribute || names[name] == ttlAttribute) && !(update && assigned) {
			return true
		}
	}
	return false
}
