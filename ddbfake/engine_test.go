package ddbfake_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// values is how the SDK writes an item or a key.
type values = map[string]types.AttributeValue

func s(v string) types.AttributeValue     { return &types.AttributeValueMemberS{Value: v} }
func n(v string) types.AttributeValue     { return &types.AttributeValueMemberN{Value: v} }
func b(v string) types.AttributeValue     { return &types.AttributeValueMemberB{Value: []byte(v)} }
func ss(v ...string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: v} }
func m(v values) types.AttributeValue     { return &types.AttributeValueMemberM{Value: v} }

// key is a row of the table "cache".
func key(pk, sk string) values { return values{"pk": s(pk), "sk": s(sk)} }

// with returns a copy of an item with more attributes: name, value, ...
func with(item values, more ...any) values {
	out := values{}
	for name, v := range item {
		out[name] = v
	}
	for i := 0; i < len(more); i += 2 {
		out[more[i].(string)] = more[i+1].(types.AttributeValue)
	}
	return out
}

// tableInput creates a table, without a sort key if sort is "".
func tableInput(
	name, hash string, hashType types.ScalarAttributeType, sort string, sortType types.ScalarAttributeType,
) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{keyElement(hash, "HASH")},
		AttributeDefinitions: []types.AttributeDefinition{definition(hash, hashType)},
	}
	if sort != "" {
		in.KeySchema = append(in.KeySchema, keyElement(sort, "RANGE"))
		in.AttributeDefinitions = append(in.AttributeDefinitions, definition(sort, sortType))
	}
	return in
}

func table(t testing.TB, db *ddbfake.DB, name, hash string, hashType types.ScalarAttributeType, sort string,
	sortType types.ScalarAttributeType) {
	t.Helper()
	must.Done(t)(db.As("setup").CreateTable(t.Context(), tableInput(name, hash, hashType, sort, sortType)))
}

// world is a DB at fakeclock.Epoch with the table "cache" (pk S, sk S).
type world struct {
	testing.TB
	db    *ddbfake.DB
	clock *fakeclock.Clock
	c     *ddbfake.Door
}

func newWorld(t testing.TB, lag ddbfake.Lag) *world {
	t.Helper()
	return worldOf(t, ddbfake.Options{Lag: lag})
}

// worldOf returns a world with other options and a new clock.
func worldOf(t testing.TB, o ddbfake.Options) *world {
	t.Helper()
	clock := fakeclock.New(fakeclock.Epoch)
	o.Clock = clock
	db := ddbfake.New(o)
	table(t, db, "cache", "pk", "S", "sk", "S")
	return &world{TB: t, db: db, clock: clock, c: db.As("alice")}
}

// ttlOn enables TTL by the attribute ttl.
func ttlOn(table string) *dynamodb.UpdateTimeToLiveInput {
	return &dynamodb.UpdateTimeToLiveInput{
		TableName: &table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("ttl"), Enabled: aws.Bool(true),
		},
	}
}

func (w *world) enableTTL() {
	w.Helper()
	_, err := w.c.UpdateTimeToLive(w.Context(), ttlOn("cache"))
	must.OK(w, err)
}

func (w *world) put(items ...values) {
	w.Helper()
	for _, item := range items {
		must.Done(w)(w.c.PutItem(w.Context(), &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: item}))
	}
}

func (w *world) get(key values) attr.Item {
	w.Helper()
	out := must.Of(w.c.GetItem(w.Context(), &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key}))(w)
	return fromSDK(w, out.Item)
}

// fromSDK converts to the form that compares and prints well.
func fromSDK(t testing.TB, v values) attr.Item {
	t.Helper()
	return must.Of(attr.ItemFromSDK(v))(t)
}

// code returns an error's code and message, "" for nil.
func code(err error) (code, message string) {
	if err == nil {
		return "", ""
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return "not an API error", err.Error()
	}
	return api.ErrorCode(), api.ErrorMessage()
}

const validation = "ValidationException"

// wantError fails the test unless err has this code and message.
func wantError(t testing.TB, err error, wantCode, wantMessage string) {
	t.Helper()
	gotCode, gotMessage := code(err)
	if gotCode != wantCode || gotMessage != wantMessage {
		t.Errorf("got  %s: %s\nwant %s: %s", gotCode, gotMessage, wantCode, wantMessage)
	}
}
