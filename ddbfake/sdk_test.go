package ddbfake

import (
	"context"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sdkEqual compares structs of the SDK: their markers are unexported, their
// metadata is no part of an answer.
var sdkEqual = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmpopts.IgnoreTypes(middleware.Metadata{}),
}

// bothClients has the methods of the SDK's two clients: including those for
// streams, which one of them lacks.
type bothClients struct {
	*dynamodb.Client
	streamsClient
}

type streamsClient struct{ *dynamodbstreams.Client }

// invoke calls a client's method by the operation's name.
func invoke(client any, op string, in any) (out any, err error) {
	results := reflect.ValueOf(client).MethodByName(op).Call([]reflect.Value{
		reflect.ValueOf(context.Background()), reflect.ValueOf(in),
	})
	err, _ = results[1].Interface().(error)
	return results[0].Interface(), err
}

// everyValue is a value with every type of DynamoDB in it.
func everyValue(depth int) types.AttributeValue {
	if depth == 0 {
		return &types.AttributeValueMemberNULL{Value: true}
	}
	return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
		"S":    &types.AttributeValueMemberS{Value: "é\n\"\\"},
		"N":    &types.AttributeValueMemberN{Value: "1E-130"},
		"B":    &types.AttributeValueMemberB{Value: []byte{0xff, 0}},
		"BOOL": &types.AttributeValueMemberBOOL{Value: false},
		"NULL": &types.AttributeValueMemberNULL{Value: true},
		"M":    &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}},
		"L":    &types.AttributeValueMemberL{Value: []types.AttributeValue{everyValue(depth - 1), everyValue(0)}},
		"SS":   &types.AttributeValueMemberSS{Value: []string{"a", ""}},
		"NS":   &types.AttributeValueMemberNS{Value: []string{"1", "2"}},
		"BS":   &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2, 3}}},
		" ":    &types.AttributeValueMemberS{Value: ""},
	}}
}
