package scenariotest

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Renamed is a protocol whose rows, keys and attributes all have other names, which RenamedRows describe.
func Renamed(p isr.Protocol) isr.Protocol {
	own := p
	own.New = func(cfg isr.Config) (isr.Handler, error) {
		cfg.Client = renamed{cfg.Client}
		return p.New(cfg)
	}
	return own
}

// RenamedRows are the rows of a Renamed protocol.
var RenamedRows = isr.Schema{Rows: []isr.Row{
	{Partition: "my_pk = page/{key}", Sort: "my_sk = PAGE", BodyKey: "my_s3_key", Current: "my_current_sk",
		Generated: "my_generated_at", Window: "my_revalidate_seconds", ETag: "my_etag",
		Version: "my_version", TTL: "my_ttl"},
	{Partition: "my_pk = page/{key}", Sort: "my_sk = LEASE", Token: "my_lease_token",
		Expires: "my_lease_expires_at", TTL: "my_ttl"},
	{Partition: "my_pk = page/{key}", Sort: "my_sk = V/{version}", BodyKey: "my_s3_key", Generated: "my_generated_at",
		Window: "my_revalidate_seconds", ETag: "my_etag", TTL: "my_ttl"},
	{Partition: "my_pk = page/{key}", Sort: "my_sk = R/{request}", RequestHash: "my_request_hash",
		RequestStatus: "my_status", RequestBody: "my_result_s3_key", TTL: "my_ttl"},
}}

// renamed gives all rows, keys and attributes of a cache other names on their way to the store.
type renamed struct{ isr.Client }

// renamings are the beginnings of keys, with their replacements.
var renamings = []struct{ from, to string }{{"META", "PAGE"}, {"LOCK", "LEASE"}, {"VER#", "V/"}, {"REQ#", "R/"}}

// item renames attributes, and the values of keys; back undoes it.
func (renamed) item(item map[string]types.AttributeValue, back bool) map[string]types.AttributeValue {
	if item == nil {
		return nil
	}
	to := make(map[string]types.AttributeValue, len(item))
	//isrsim:unordered each by itself
	for name, v := range item {
		own := strings.TrimPrefix(name, "my_")
		if text, is := v.(*types.AttributeValueMemberS); is {
			v = &types.AttributeValueMemberS{Value: renameValue(own, text.Value, back)}
		}
		if !back {
			own = "my_" + name
		}
		to[own] = v
	}
	return to
}

func renameValue(name, value string, back bool) string {
	switch name {
	case "pk":
		if back {
			return strings.TrimPrefix(value, "page/")
		}
		return "page/" + value
	case "sk", "current_sk":
		for _, r := range renamings {
			from, to := r.from, r.to
			if back {
				from, to = to, from
			}
			if rest, ok := strings.CutPrefix(value, from); ok {
				return to + rest
			}
		}
	}
	return value
}

// ofExpressions matches the lower-case words of expressions: attributes and functions. Keywords are in capitals.
var ofExpressions = regexp.MustCompile(`(^|[^#:\w])([a-z]\w*)`)

// functions are the words of expressions that are no attributes.
var functions = []string{"attribute_exists", "attribute_not_exists", "if_not_exists", "begins_with", "size",
	"contains", "attribute_type"}

func (renamed) expression(e *string) *string {
	if e == nil {
		return nil
	}
	text := ofExpressions.ReplaceAllStringFunc(*e, func(word string) string {
		name := strings.TrimLeftFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
		if slices.Contains(functions, name) {
			return word
		}
		return strings.TrimSuffix(word, name) + "my_" + name
	})
	return &text
}

func (renamed) names(names map[string]string) map[string]string {
	if names == nil {
		return nil
	}
	to := map[string]string{}
	//isrsim:unordered each by itself
	for alias, name := range names {
		to[alias] = "my_" + name
	}
	return to
}

// values renames the values of expressions that are keys.
func (renamed) values(values map[string]types.AttributeValue) map[string]types.AttributeValue {
	if values == nil {
		return nil
	}
	to := map[string]types.AttributeValue{}
	//isrsim:unordered each by itself
	for name, v := range values {
		if text, is := v.(*types.AttributeValueMemberS); is {
			value := text.Value
			if strings.HasPrefix(value, "CACHE#") || strings.HasPrefix(value, "TENANT#") {
				value = renameValue("pk", value, false)
			} else {
				value = renameValue("sk", value, false)
			}
			v = &types.AttributeValueMemberS{Value: value}
		}
		to[name] = v
	}
	return to
}

func (c renamed) err(err error) error {
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok && failed.Item != nil {
		same := *failed
		same.Item = c.item(failed.Item, true)
		return &same
	}
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		same := *cancelled
		same.CancellationReasons = slices.Clone(cancelled.CancellationReasons)
		for i := range same.CancellationReasons {
			same.CancellationReasons[i].Item = c.item(same.CancellationReasons[i].Item, true)
		}
		return &same
	}
	return err
}

// Options are the options of the cache's own client. They say its region.
func (c renamed) Options() (o dynamodb.Options) {
	if own, ok := c.Client.(interface{ Options() dynamodb.Options }); ok {
		o = own.Options()
	}
	return o
}

func (c renamed) GetItem(
	ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.GetItemOutput, error) {
	to := *in
	to.Key = c.item(in.Key, false)
	out, err := c.Client.GetItem(ctx, &to, o...)
	if err != nil {
		return nil, c.err(err)
	}
	back := *out
	back.Item = c.item(out.Item, true)
	return &back, nil
}

func (c renamed) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	to := *in
	to.Item, to.ConditionExpression = c.item(in.Item, false), c.expression(in.ConditionExpression)
	to.ExpressionAttributeNames, to.ExpressionAttributeValues = c.names(in.ExpressionAttributeNames),
		c.values(in.ExpressionAttributeValues)
	out, err := c.Client.PutItem(ctx, &to, o...)
	if err != nil {
		return nil, c.err(err)
	}
	back := *out
	back.Attributes = c.item(out.Attributes, true)
	return &back, nil
}

func (c renamed) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	to := *in
	to.Key, to.ConditionExpression, to.UpdateExpression = c.item(in.Key, false), c.expression(in.ConditionExpression),
		c.expression(in.UpdateExpression)
	to.ExpressionAttributeNames, to.ExpressionAttributeValues = c.names(in.ExpressionAttributeNames),
		c.values(in.ExpressionAttributeValues)
	out, err := c.Client.UpdateItem(ctx, &to, o...)
	if err != nil {
		return nil, c.err(err)
	}
	back := *out
	back.Attributes = c.item(out.Attributes, true)
	return &back, nil
}

func (c renamed) DeleteItem(
	ctx context.Context, in *dynamodb.DeleteItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.DeleteItemOutput, error) {
	to := *in
	to.Key, to.ConditionExpression = c.item(in.Key, false), c.expression(in.ConditionExpression)
	to.ExpressionAttributeNames, to.ExpressionAttributeValues = c.names(in.ExpressionAttributeNames),
		c.values(in.ExpressionAttributeValues)
	out, err := c.Client.DeleteItem(ctx, &to, o...)
	if err != nil {
		return nil, c.err(err)
	}
	back := *out
	back.Attributes = c.item(out.Attributes, true)
	return &back, nil
}

func (c renamed) Query(
	ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	to := *in
	to.KeyConditionExpression, to.FilterExpression, to.ProjectionExpression = c.expression(in.KeyConditionExpression),
		c.expression(in.FilterExpression), c.expression(in.ProjectionExpression)
	to.ExpressionAttributeNames, to.ExpressionAttributeValues = c.names(in.ExpressionAttributeNames),
		c.values(in.ExpressionAttributeValues)
	to.ExclusiveStartKey = c.item(in.ExclusiveStartKey, false)
	out, err := c.Client.Query(ctx, &to, o...)
	if err != nil {
		return nil, c.err(err)
	}
	back := *out
	back.Items, back.LastEvaluatedKey = slices.Clone(out.Items), c.item(out.LastEvaluatedKey, true)
	for i := range back.Items {
		back.Items[i] = c.item(back.Items[i], true)
	}
	return &back, nil
}

func (c renamed) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	to := *in
	to.TransactItems = slices.Clone(in.TransactItems)
	for i := range to.TransactItems {
		action := &to.TransactItems[i]
		if p := action.Put; p != nil {
			same := *p
			same.Item, same.ConditionExpression = c.item(p.Item, false), c.expression(p.ConditionExpression)
			same.ExpressionAttributeNames, same.ExpressionAttributeValues = c.names(p.ExpressionAttributeNames),
				c.values(p.ExpressionAttributeValues)
			action.Put = &same
		}
		if u := action.Update; u != nil {
			same := *u
			same.Key, same.ConditionExpression, same.UpdateExpression = c.item(u.Key, false),
				c.expression(u.ConditionExpression), c.expression(u.UpdateExpression)
			same.ExpressionAttributeNames, same.ExpressionAttributeValues = c.names(u.ExpressionAttributeNames),
				c.values(u.ExpressionAttributeValues)
			action.Update = &same
		}
		if d := action.Delete; d != nil {
			same := *d
			same.Key, same.ConditionExpression = c.item(d.Key, false), c.expression(d.ConditionExpression)
			same.ExpressionAttributeNames, same.ExpressionAttributeValues = c.names(d.ExpressionAttributeNames),
				c.values(d.ExpressionAttributeValues)
			action.Delete = &same
		}
		if k := action.ConditionCheck; k != nil {
			same := *k
			same.Key, same.ConditionExpression = c.item(k.Key, false), c.expression(k.ConditionExpression)
			same.ExpressionAttributeNames, same.ExpressionAttributeValues = c.names(k.ExpressionAttributeNames),
				c.values(k.ExpressionAttributeValues)
			action.ConditionCheck = &same
		}
	}
	out, err := c.Client.TransactWriteItems(ctx, &to, o...)
	return out, c.err(err)
}
