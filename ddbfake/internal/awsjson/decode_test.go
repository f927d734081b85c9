package awsjson

import (
	_ "embed"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake/internal/sdktest"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func TestDecode(t *testing.T) {
	type item = map[string]types.AttributeValue
	name := aws.String("t")
	tests := []struct {
		name, op, body string
		want           any
	}{
		{"empty object", "GetItem", `{}`, &dynamodb.GetItemInput{}},
		{"null members are absent", "GetItem", `{"TableName":null,"Key":null,"ConsistentRead":null}`,
			&dynamodb.GetItemInput{}},
		{"unknown members are ignored", "GetItem", `{"Frob":[{"a":"]}\""},2],"TableName":"t","tablename":7}`,
			&dynamodb.GetItemInput{TableName: name}},
		{"of two the last counts", "GetItem", `{"TableName":"s","TableName":"t"}`,
			&dynamodb.GetItemInput{TableName: name}},
		{"white space", "GetItem", " {\n\t\"TableName\" :\r \"t\" , \"Key\" : { } } ",
			&dynamodb.GetItemInput{TableName: name, Key: item{}}},
		{"escapes", "GetItem", `{"TableName":"t","Key":{"\u0061\"":{"S":"\\\"\ud83d\ude00\\"}}}`,
			&dynamodb.GetItemInput{TableName: name, Key: item{`a"`: &types.AttributeValueMemberS{Value: "\\\"😀\\"}}}},
		{"a value of no type is nil", "PutItem", `{"Item":{"a":{},"b":{"S":null},"c":null,"d":{"X":1},"e":{"X":"x"}}}`,
			&dynamodb.PutItemInput{Item: item{"a": nil, "b": nil, "c": nil, "d": nil, "e": nil}}},
		{"null together with a type", "PutItem", `{"Item":{"a":{"S":"x","N":null}}}`,
			&dynamodb.PutItemInput{Item: item{"a": &types.AttributeValueMemberS{Value: "x"}}}},
		{"empty is not absent", "UpdateItem", `{"ExpressionAttributeNames":{},"ExpressionAttributeValues":{}}`,
			&dynamodb.UpdateItemInput{
				ExpressionAttributeNames: map[string]string{}, ExpressionAttributeValues: item{},
			}},
		{"decimals are dropped", "Query", `{"Limit":10.9}`, &dynamodb.QueryInput{Limit: aws.Int32(10)}},
		{"exponents", "Query", `{"Limit":1e2}`, &dynamodb.QueryInput{Limit: aws.Int32(100)}},
		{"words for booleans", "GetItem", `{"ConsistentRead":"TRUE"}`,
			&dynamodb.GetItemInput{ConsistentRead: aws.Bool(true)}},
		{"nested lists", "TransactWriteItems",
			`{"TransactItems":[{"Put":{"Item":{"l":{"L":[{"L":[]},{"SS":[]}]}}}},{}]}`,
			&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{Item: item{"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{
					&types.AttributeValueMemberL{Value: []types.AttributeValue{}},
					&types.AttributeValueMemberSS{Value: []string{}},
				}}}}},
				{},
			}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := inputOf(test.op)
			must.OK(t, Decode([]byte(test.body), got))
			if diff := cmp.Diff(test.want, got, sdktest.Equal); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

//go:embed testdata/refused.txt
var refused string

// Each line of refused.txt has an operation, its body and the message of the error. DynamoDB Local 3.3.1 cannot serve
// as a reference: it answers most of these bodies with status 500 and accepts the others.
func TestDecodeRefuses(t *testing.T) {
	item := func(value string) string { return `{"Item":{"a":` + value + `}}` }
	for line := range strings.Lines(refused + "GetItem  =>\nGetItem {\"TableName\":\"\xff\"} =>\n") {
		request, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " =>")
		op, body, _ := strings.Cut(request, " ")
		err := Decode([]byte(body), inputOf(op))
		var api smithy.APIError
		if !errors.As(err, &api) {
			t.Errorf("%s: got error %v, want one of the service", request, err)
			continue
		}
		got, want := api.ErrorCode()+" "+api.ErrorMessage(), "SerializationException "+strings.TrimSpace(message)
		if got != want {
			t.Errorf("%s:\ngot  %q\nwant %q", request, got, want)
		}
	}

	var api smithy.APIError
	err := Decode([]byte(`{"Timestamp":1e300}`), &dynamodbstreams.GetShardIteratorInput{})
	if !errors.As(err, &api) || api.ErrorMessage() != "NUMBER_VALUE cannot be converted to Date" {
		t.Errorf("a time that is too late for milliseconds: got %v", err)
	}

	err = Decode([]byte(item(`{"S":"a","N":"1"}`)), &dynamodb.PutItemInput{})
	const two = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the " +
		"supported datatypes"
	if !errors.As(err, &api) || api.ErrorCode() != "ValidationException" || api.ErrorMessage() != two {
		t.Errorf("a value of two types: got %v, want ValidationException %q", err, two)
	}
}

// A body is malformed if any part of its text is not JSON, whether the member is read or skipped, before or after a
// value of a wrong type. Package jsontext decides what is JSON.
func TestDecodeMalformed(t *testing.T) {
	bodies := []string{
		``, ` `, `null`, `{`, `"`, `"\`, `nullx`, `{}{}`, `{}]`, "{}\x00", "\x00", "\ufeff{}", `{,}`, `{"a"}`, `{"a" 1}`,
		`{"a":}`, `{"a":1,}`, `{"a":1]`, `{"a":1 "b":2}`,
		`{"a":[}`, `{"a":[,]}`, `{"a":[1,]}`, `{"a":[1 2]}`, `{"a":[[1][2]]}`, `{"a":[[1][2]}`, `{"a":{"b":1}{}}`,
		`{"a":nul}`, `{"a":truex}`, `{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":+1}`, `{"a":1e}`, `{"a":0x1}`, `{"a":NaN}`,
		`{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\ud800"}`, `{"a":"\ud800\u0041"}`, `{"a":"\udc00"}`, `{"a":"\"}`,
		"{\"a\":\"\x01\"}", "{\"a\":\"\xc3\"}", "{\"a\":\"\xed\xa0\x80\"}", "{\"\xff\":1}",
		`{"TableName":5`, `{"TableName":5}}`, `{"Item":{`, `{"Item":{"a"`, `{"Item":{"a":{"L":[`,
		`{"Item":{"a":{"S":"x"}`, `{"Item":{"a":{"S":"x"`, `{"Item":{"a":{"N":"1"]}}`, `{"Item":{"a":{"S":"\q"}}}`,
		`{"Item":{"a":{"SS":["a",]}}}`, `{"Item":{"a":{"BOOL":tru}}}`,
		`{"Item":{"a":5},"b":[}}`, `{"ExpressionAttributeNames":{"a":"b"`, `{"ExpressionAttributeNames":{"a":nul}}`,
		`{"Limit":01}`, `{"Limit":1.}`,
	}
	whole := []string{
		`{}`, " {\t} ", `{"a":-0}`, `{"a":1.5E+3}`, `{"a":[[],{},[1,"]"],null,true,false]}`,
		`{"a":"\ud83d\ude00\/\b\u0000"}`, "{\"a\":\"\x7f é \u2028\"}", `{"\u0061":1}`,
		`{"ExpressionAttributeNames":{"a":null}}`,
	}
	for _, body := range append(bodies, whole...) {
		for _, op := range []string{"PutItem", "Query"} {
			err := Decode([]byte(body), inputOf(op))
			if got, want := errors.Is(err, ErrMalformed), !Valid([]byte(body)); got != want {
				t.Errorf("%s %q: malformed %t, want %t (%v)", op, body, got, want, err)
			}
		}
	}
	for _, body := range whole {
		if err := Decode([]byte(body), &dynamodb.PutItemInput{}); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// An input keeps its values when the next request is decoded.
func TestDecodeKeeps(t *testing.T) {
	body := func(s string) []byte {
		return []byte(`{"TableName":"` + s + `","Item":{"\u0061":{"S":"\"` + s + `"},"n":{"N":"` + s + `"}}}`)
	}
	got := &dynamodb.PutItemInput{}
	must.OK(t, Decode(body("1"), got))
	must.OK(t, Decode(body("2"), &dynamodb.PutItemInput{}))
	want := &dynamodb.PutItemInput{TableName: aws.String("1"), Item: map[string]types.AttributeValue{
		"a": &types.AttributeValueMemberS{Value: `"1`}, "n": &types.AttributeValueMemberN{Value: "1"},
	}}
	if diff := cmp.Diff(want, got, sdktest.Equal); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The decoder reads documents that are too deep for the service: the engine refuses them. A document beyond maxDepth is
// malformed.
func TestDecodeDeep(t *testing.T) {
	deep := func(n int, inside string) []byte {
		return []byte(`{"Item":{"a":` + strings.Repeat(`{"L":[`, n) + inside + strings.Repeat(`]}`, n) + `}}`)
	}
	if err := Decode(deep(1000, ``), &dynamodb.PutItemInput{}); err != nil {
		t.Errorf("depth 1000: %v", err)
	}
	if err := Decode(deep(1_000_000, ``), &dynamodb.PutItemInput{}); !errors.Is(err, ErrMalformed) {
		t.Errorf("depth 1000000: got %v, want %v", err, ErrMalformed)
	}
	// Reading and skipping a value agree with package jsontext on the depth that is too great.
	for n := maxDepth - 2; n <= maxDepth+2; n++ {
		skipped := []byte(`{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
		for _, body := range [][]byte{deep(n/2, ``), deep(n/2, `{"S":"x"}`), skipped} {
			err := Decode(body, &dynamodb.PutItemInput{})
			if got, want := errors.Is(err, ErrMalformed), !Valid(body); got != want {
				t.Errorf("%d open: malformed %t, want %t", n, got, want)
			}
		}
	}
}

func TestOperationIn(t *testing.T) {
	for _, test := range []struct {
		target, want string
		ok           bool
	}{
		{TargetPrefix + "PutItem", "PutItem", true},
		{StreamsTargetPrefix + "GetRecords", "GetRecords", true},
		{TargetPrefix, "", true},
		{"Kinesis_20131202.GetRecords", "", false},
		{"PutItem", "", false},
		{"", "", false},
	} {
		got, ok := OperationIn(test.target)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%q: got %q, %t, want %q, %t", test.target, got, ok, test.want, test.ok)
		}
	}
}

func TestRequestID(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range []uint64{1, 2, 35, 36, 1 << 40, 1<<64 - 1} {
		unique := RequestID(n)
		id := string(unique[:])
		if strings.Trim(id, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || seen[id] {
			t.Errorf("request %d: got id %q, want 52 digits and capital letters that no other request has", n, id)
		}
		seen[id] = true
	}
}
