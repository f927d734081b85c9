package awsjson

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
	"github.com/isr-sim/isr-sim/ddbfake/internal/sdktest"
	"github.com/isr-sim/isr-sim/internal/rules/must"
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
		{"capacity",
			&dynamodb.GetItemOutput{ConsumedCapacity: &types.ConsumedCapacity{CapacityUnits: aws.Float64(0.5)}},
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
		{"validation", apiError("ValidationException", "no"), 400,
			`{"__type":"com.amazon.coral.validate#ValidationException","message":"no"}`},
		{"serialization", serialization("no"), 400,
			`{"__type":"com.amazon.coral.service#SerializationException","Message":"no"}`},
		{"malformed", ErrMalformed, 400, `{"__type":"com.amazon.coral.service#SerializationException"}`},
		{"unsupported", apiError("UnknownOperationException", "no"), 400,
			`{"__type":"com.amazon.coral.service#UnknownOperationException","message":"no"}`},
		{"wrapped",
			fmt.Errorf("context: %w",
				&types.ConditionalCheckFailedException{Message: aws.String("The conditional request failed")}), 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"}`},
		{"condition with the item",
			&types.ConditionalCheckFailedException{Message: aws.String("The conditional " +
				"request failed"), Item: map[string]types.AttributeValue{
				"b": &types.AttributeValueMemberN{Value: "1"}, "a": &types.AttributeValueMemberS{Value: "x"},
			}}, 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","Item":{"a":{"S":"x"},"b":{"N":"1"}},"message":"The conditional request failed"}`},
		{"transaction", &types.TransactionCanceledException{
			Message: aws.String("Transaction cancelled"),
			CancellationReasons: []types.CancellationReason{
				{Code: aws.String("None")},
				{Code: aws.String("ConditionalCheckFailed"), Message: aws.String("m"),
					Item: map[string]types.AttributeValue{"a": &types.AttributeValueMemberS{Value: "x"}}},
			},
		}, 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed","Item":{"a":{"S":"x"}},"Message":"m"}],"Message":"Transaction cancelled"}`},
		{"throttling of streams", apiError("ThrottlingException", "no"), 400,
			`{"__type":"com.amazon.coral.availability#ThrottlingException","message":"no"}`},
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

// A record of the engine is encoded to the same bytes as the SDK's output.
func TestRecordOutput(t *testing.T) {
	all := must.Of(attr.FromSDK(sdktest.Value(2)))(t)
	consumed := &types.ConsumedCapacity{TableName: aws.String("cache"), CapacityUnits: aws.Float64(0.5)}
	for _, it := range []attr.Item{
		{},
		{"pk": attr.S("a")},
		{"all": all, "pk": attr.S("é\"\\\n\x00\u2028<>&"), `a "quoted" key`: attr.BOOL(true), "ключ": attr.NULL{}},
		{"n": attr.Int(-42), "empty": attr.M{}, "none": attr.L{}, "blob": attr.B{}},
	} {
		for _, read := range []*dynamodb.GetItemOutput{{}, {ConsumedCapacity: consumed}} {
			want := Append(nil, &dynamodb.GetItemOutput{Item: it.ToSDK(), ConsumedCapacity: read.ConsumedCapacity})
			record := packed.Of(it)
			got := Append(nil, &RecordOutput{read, &record})
			if string(got) != string(want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	}
}

func TestPlainPrefix(t *testing.T) {
	for c := range 256 {
		special := c < 0x20 || c >= 0x7f || c == '"' || c == '\\'
		for _, others := range []string{" ", "a", "~", "!", "#", "[", "]"} {
			for length := range 20 {
				for at := range length {
					b := []byte(strings.Repeat(others, length))
					b[at] = byte(c)
					want := length
					if special {
						want = at
					}
					if got := plainPrefix(string(b)); got != want {
						t.Fatalf("%q: got %d, want %d", b, got, want)
					}
				}
			}
		}
	}
	if got := plainPrefix("12345678\x00\xff"); got != 8 { // the first of several
		t.Errorf("got %d, want 8", got)
	}
}

// Strings are quoted as package jsontext quotes them.
func TestQuote(t *testing.T) {
	for _, s := range []string{
		"", "a", `"`, `\`, `a"b`, `"5d41402abc4b2a76b9719d911017c592"`, `\\\"`, "a\"\nb", "é", "\"\xff\"", "\u2028\"",
		"\x7f", strings.Repeat(`a"`, 50),
	} {
		want, _ := jsontext.AppendQuote([]byte("["), s)
		e := newEncoder([]byte("["))
		e.quote(s)
		if got := string(e.release()); got != string(want) {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	}
}
