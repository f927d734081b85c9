package scenario

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// With sim.UnreadDeadlines a search assumes that the ttl of LOCK rows is not looked at: by no code of a node, by no
// expression in a request, and by no invariant. This file has the instants at which time then need not stop. It also
// finds the code and the expressions that look after all.

// noteTTL makes time stop at the ttl of a row. If no code looks at it, it matters only that the row may be deleted from
// the second after it on: by the schedule, or by a lag at whose end no time stops (see sweeper.Next).
func (w *world) noteTTL(key, row attr.Item) {
	if at, has := row.Int(defaultTTL); has && w.ttl != defaultTTL {
		w.deadlines.add(at)
	}
	ttl, has := row.Int(w.ttl)
	if !has {
		return
	}
	if sk, _ := key.Str("sk"); sk != isr.SortLock || !w.unread {
		w.deadlines.add(ttl)
		return
	}
	w.deadlines.unread = insertStops(w.deadlines.unread, ttl-1, ttl+1)
	if w.scenario.Lag.Scheduler || len(w.scenario.CompareLags) > 0 {
		w.deadlines.at = insertStops(w.deadlines.at, ttl+1, ttl+1)
	}
}

// Idle implements sim.Idle. The last stop of all is not idle: code may compare the clock with an instant of its own,
// such as some time after the end of a lease, and there time is past it.
func (d *deadlines) Idle(t time.Time) bool {
	_, unread := slices.BinarySearch(d.unread, t.Unix())
	_, read := slices.BinarySearch(d.at, t.Unix())
	return unread && !read && !slices.Contains(d.fine, t.UnixNano()) && t.Nanosecond() == 0 && t.Unix() != d.last() &&
		!slices.ContainsFunc(d.windows, t.Equal)
}

// last returns the last second at which time stops if that is for a deadline at which no code looks; else 0.
func (d *deadlines) last() int64 {
	n, unread := len(d.at), len(d.unread)
	if unread == 0 || n > 0 && d.at[n-1] >= d.unread[unread-1] {
		return 0
	}
	return d.unread[unread-1]
}

// Veiled implements sim.Veiled: other values are in the place of the ttl of a LOCK row. It is a second from now, now,
// or a second ago, as at the instants to which no tick goes, by true time and by the node's clock. Or it was long ago,
// or is no number, for code that reads it in another way.
func (r *storeRequest) Veiled(answer any, now, local time.Time) (veiled []any) {
	a, is := answer.(storeAnswer)
	if !is || !r.node.world.unread {
		return nil
	}
	values := []types.AttributeValue{&types.AttributeValueMemberN{Value: "1"},
		&types.AttributeValueMemberS{Value: "veiled"}}
	around := func(at time.Time) {
		for _, d := range []int64{1, 0, -1} {
			values = append(values, &types.AttributeValueMemberN{Value: strconv.FormatInt(at.Unix()+d, 10)})
		}
	}
	if around(now); r.node.world.skewed {
		around(local)
	}
	for _, ttl := range values {
		out, found, err := withLockTTL(a.out, a.err, ttl)
		if !found {
			return nil
		}
		print, _ := answerFingerprint(out, err, asItIs)
		veiled = append(veiled, storeAnswer{out, err, print})
	}
	return veiled
}

// withLockTTL returns a copy of an answer in which the ttl of each LOCK row is another one; false if there is none. A
// row whose sort key is not in the answer counts as a LOCK row.
func withLockTTL(out any, err error, ttl types.AttributeValue) (veiled any, found bool, refusal error) {
	changed := func(item map[string]types.AttributeValue) map[string]types.AttributeValue {
		sk, has := item["sk"].(*types.AttributeValueMemberS)
		if item[defaultTTL] == nil || has && sk.Value != isr.SortLock {
			return item
		}
		found = true
		item = maps.Clone(item)
		item[defaultTTL] = ttl
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

// asksLockTTL says whether what a request does may depend on the ttl of a LOCK row: a condition or a filter names it,
// or an update reads it.
func asksLockTTL(input any) bool {
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

// inExpression finds the names of an expression, each with the sign of an assignment behind it, if there is one.
var inExpression = regexp.MustCompile(`[#:]?\w+(\s*=)?`)

// readsTTL says whether an expression names the attribute ttl. An update may assign it.
func readsTTL(expression *string, names map[string]string, update bool) bool {
	for _, found := range inExpression.FindAllString(aws.ToString(expression), -1) {
		name, assigned := strings.CutSuffix(found, "=")
		name = strings.TrimSpace(name)
		if (name == defaultTTL || names[name] == defaultTTL) && !(update && assigned) {
			return true
		}
	}
	return false
}
