package scenariotest

import (
	"context"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Renamed is a protocol whose rows, keys and attributes all have other names, described by RenamedRows.
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

// renamed renames all rows, keys and attributes of a cache on their way to the store.
type renamed struct{ isr.Client }

// renamings are the prefixes of keys, with their replacements.
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

// functions are the words of expressions that are not attributes.
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
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return whole(c, failed, true)
	}
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return whole(c, cancelled, true)
	}
	return err
}

// whole returns a copy of a request, an answer or an error in which everything is renamed.
func whole[T any](c renamed, of T, back bool) T {
	return c.copied(reflect.ValueOf(of), back).Interface().(T)
}

func (c renamed) copied(v reflect.Value, back bool) reflect.Value {
	if item, ok := v.Interface().(map[string]types.AttributeValue); ok {
		return reflect.ValueOf(c.item(item, back))
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().Kind() != reflect.Struct {
			return v
		}
		to := reflect.New(v.Type().Elem())
		to.Elem().Set(c.copied(v.Elem(), back))
		return to
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		to := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			to.Index(i).Set(c.copied(v.Index(i), back))
		}
		return to
	case reflect.Struct:
		to := reflect.New(v.Type()).Elem()
		to.Set(v)
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Type().Field(i).IsExported() {
				to.Field(i).Set(c.field(name, v.Field(i), back))
			}
		}
		return to
	}
	return v
}

func (c renamed) field(name string, v reflect.Value, back bool) reflect.Value {
	switch of := v.Interface().(type) {
	case map[string]string:
		return reflect.ValueOf(c.names(of))
	case map[string]types.AttributeValue:
		if name == "ExpressionAttributeValues" {
			return reflect.ValueOf(c.values(of))
		}
	case *string:
		if strings.HasSuffix(name, "Expression") {
			return reflect.ValueOf(c.expression(of))
		}
	}
	return c.copied(v, back)
}

// call sends a request by one of the client's methods.
func call[In, Out any](
	ctx context.Context, c renamed, in *In,
	do func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error), o []func(*dynamodb.Options),
) (*Out, error) {
	out, err := do(ctx, whole(c, in, false), o...)
	if err != nil {
		return nil, c.err(err)
	}
	return whole(c, out, true), nil
}

// Options returns the options of the cache's own client. They have its region.
func (c renamed) Options() (o dynamodb.Options) {
	if own, ok := c.Client.(interface{ Options() dynamodb.Options }); ok {
		o = own.Options()
	}
	return o
}

func (c renamed) GetItem(
	ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.GetItemOutput, error) {
	return call(ctx, c, in, c.Client.GetItem, o)
}

func (c renamed) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	return call(ctx, c, in, c.Client.PutItem, o)
}

func (c renamed) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	return call(ctx, c, in, c.Client.UpdateItem, o)
}

func (c renamed) DeleteItem(
	ctx context.Context, in *dynamodb.DeleteItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.DeleteItemOutput, error) {
	return call(ctx, c, in, c.Client.DeleteItem, o)
}

func (c renamed) Query(
	ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	return call(ctx, c, in, c.Client.Query, o)
}

func (c renamed) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	return call(ctx, c, in, c.Client.TransactWriteItems, o)
}
