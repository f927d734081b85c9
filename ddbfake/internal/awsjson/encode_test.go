package awsjson

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Equal answers have equal bytes, and members that must be there are written even if they are zero.
func TestAppend(t *testing.T) {
	tests := []struct {
		name string
		out  Shape
		want string
	}{
		{"no item", &dynamodb.GetItemOutput{}, `{}`},
		{"metadata stays out", func() Shape {
			out := &dynamodb.GetItemOutput{}
			out.ResultMetadata.Set("secret", "secret")
			return out
		}(), `{}`},
		{"empty query", &dynamodb.QueryOutput{}, `{"Count":0,"ScannedCount":0}`},
		{"query", &dynamodb.QueryOutput{Count: 1, Items: []map[string]types.AttributeValue{{}}},
			`{"Count":1,"Items":[{}],"ScannedCount":0}`},
		{"empty scan", &dynamodb.ScanOutput{}, `{"Count":0,"ScannedCount":0}`},
		{"empty batch write", &dynamodb.BatchWriteItemOutput{}, `{"UnprocessedItems":{}}`},
		{"empty batch get", &dynamodb.BatchGetItemOutput{}, `{"Responses":{},"UnprocessedKeys":{}}`},
		{"maps are sorted at every level", &dynamodb.GetItemOutput{Item: map[string]types.AttributeValue{
			"b": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
				"z": &types.AttributeValueMemberN{Value: "1"},
				"y": &types.AttributeValueMemberBOOL{Value: false},
				"x": &types.AttributeValueMemberL{Value: []types.AttributeValue{}},
			}},
			"a": &types.AttributeValueMemberB{Value: nil},
			"c": &types.AttributeValueMemberSS{Value: []string{"q", "p"}},
		}}, `{"Item":{"a":{"B":""},"b":{"M":{"x":{"L":[]},"y":{"BOOL":false},"z":{"N":"1"}}},"c":{"SS":["q","p"]}}}`},
		{"whole floats and times", &dynamodb.DescribeTableOutput{Table: &types.TableDescription{
			CreationDateTime: aws.Time(time.Unix(2208988800, 0)),
			ItemCount:        aws.Int64(0),
		}}, `{"Table":{"CreationDateTime":2208988800.0,"ItemCount":0}}`},
		{"capacity", &dynamodb.GetItemOutput{ConsumedCapacity: &types.ConsumedCapacity{CapacityUnits: aws.Float64(0.5)}},
			`{"ConsumedCapacity":{"CapacityUnits":0.5}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for range 10 { // map order is random
				if got := string(Append(nil, test.out)); got != test.want {
					t.Fatalf("got  %s\nwant %s", got, test.want)
				}
			}
		})
	}
}

func apiError(code, message string) error {
	return &smithy.GenericAPIError{Code: code, Message: message, Fault: smithy.FaultClient}
}

func TestAppendError(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		status int
		want   string
	}{
		{"validation", apiError("ValidationException", "no"), 400, `{"__type":"com.amazon.coral.validate#ValidationException","message":"no"}`},
		{"serialization", serialization("no"), 400, `{"__type":"com.amazon.coral.service#SerializationException","Message":"no"}`},
		{"malformed", ErrMalformed, 400, `{"__type":"com.amazon.coral.service#SerializationException"}`},
		{"unsupported", apiError("UnknownOperationException", "no"), 400,
			`{"__type":"com.amazon.coral.service#UnknownOperationException","message":"no"}`},
		{"wrapped", fmt.Errorf("context: %w", &types.ConditionalCheckFailedException{Message: aws.String("The conditional request failed")}), 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"}`},
		{"condition with the item", &types.ConditionalCheckFailedException{Message: aws.String("The conditional request failed"), Item: map[string]types.AttributeValue{"b": &types.AttributeValueMemberN{Value: "1"}, "a": &types.AttributeValueMemberS{Value: "x"}}}, 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","Item":{"a":{"S":"x"},"b":{"N":"1"}},"message":"The conditional request failed"}`},
		{"transaction", &types.TransactionCanceledException{
			Message: aws.String("Transaction cancelled"),
			CancellationReasons: []types.CancellationReason{
				{Code: aws.String("None")},
				{Code: aws.String("ConditionalCheckFailed"), Message: aws.String("m"), Item: map[string]types.AttributeValue{"a": &types.AttributeValueMemberS{Value: "x"}}},
			},
		}, 400, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed","Item":{"a":{"S":"x"}},"Message":"m"}],"Message":"Transaction cancelled"}`},
		{"throttling of streams", apiError("ThrottlingException", "no"), 400, `{"__type":"com.amazon.coral.availability#ThrottlingException","message":"no"}`},
		{"no credentials", apiError("MissingAuthenticationTokenException", "no"), 400,
			`{"__type":"com.amazon.coral.service#MissingAuthenticationTokenException","message":"no"}`},
		{"server", &types.InternalServerError{Message: aws.String("oops")}, 500,
			`{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"oops"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, status := AppendError([]byte("before"), test.err)
			if want := "before" + test.want; status != test.status || string(got) != want {
				t.Errorf("got  %d %s\nwant %d %s", status, got, test.status, want)
			}
		})
	}
	for _, err := range []error{errors.New("the connection was lost"), context.Canceled} {
		if got, status := AppendError([]byte("before"), err); status != 0 || string(got) != "before" {
			t.Errorf("%v: got %d %s, want no answer", err, status, got)
		}
	}
}
