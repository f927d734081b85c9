// Package sdktest has what the tests of ddbfake and of its codec share: a comparison of the SDK's structs, and values
// of every type.
package sdktest

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Equal compares structs of the SDK. It compares unexported fields, too, because the SDK's markers are unexported. It
// ignores the metadata, which is not part of an answer.
var Equal = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmpopts.IgnoreTypes(middleware.Metadata{}),
}

// Value returns a value that has every type of DynamoDB in it, nested to a depth.
func Value(depth int) types.AttributeValue {
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
		"L":    &types.AttributeValueMemberL{Value: []types.AttributeValue{Value(depth - 1), Value(0)}},
		"SS":   &types.AttributeValueMemberSS{Value: []string{"a", ""}},
		"NS":   &types.AttributeValueMemberNS{Value: []string{"1", "2"}},
		"BS":   &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2, 3}}},
		" ":    &types.AttributeValueMemberS{Value: ""},
	}}
}

// StreamValue is Value with the types of the SDK's client for streams.
func StreamValue(depth int) streamtypes.AttributeValue {
	if depth == 0 {
		return &streamtypes.AttributeValueMemberNULL{Value: true}
	}
	return &streamtypes.AttributeValueMemberM{Value: map[string]streamtypes.AttributeValue{
		"S":    &streamtypes.AttributeValueMemberS{Value: "é\n\"\\"},
		"N":    &streamtypes.AttributeValueMemberN{Value: "1E-130"},
		"B":    &streamtypes.AttributeValueMemberB{Value: []byte{0xff, 0}},
		"BOOL": &streamtypes.AttributeValueMemberBOOL{Value: false},
		"NULL": &streamtypes.AttributeValueMemberNULL{Value: true},
		"M":    &streamtypes.AttributeValueMemberM{Value: map[string]streamtypes.AttributeValue{}},
		"L": &streamtypes.AttributeValueMemberL{
			Value: []streamtypes.AttributeValue{StreamValue(depth - 1), StreamValue(0)},
		},
		"SS": &streamtypes.AttributeValueMemberSS{Value: []string{"a", ""}},
		"NS": &streamtypes.AttributeValueMemberNS{Value: []string{"1", "2"}},
		"BS": &streamtypes.AttributeValueMemberBS{Value: [][]byte{{1}, {2, 3}}},
		" ":  &streamtypes.AttributeValueMemberS{Value: ""},
	}}
}
