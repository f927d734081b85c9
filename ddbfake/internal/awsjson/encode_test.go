package awsjson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
	"github.com/isr-sim/isr-sim/ddbfake/internal/sdktest"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// Equal answers have equal bytes, and required members are written even if they are zero.
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
		{"long": attr.S(strings.Repeat("a", maxText))},
	} {
		for _, read := range []*dynamodb.GetItemOutput{{}, {ConsumedCapacity: consumed}} {
			want := Append(nil, &dynamodb.GetItemOutput{Item: it.ToSDK(), ConsumedCapacity: read.ConsumedCapacity})
			record := packed.Of(it)
			out := &RecordOutput{read, &record, new(Text)}
			for range 3 { // the third time, the text is known
				if got := Append(nil, out); string(got) != string(want) {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			if kept := *out.Text.Load() != nil; kept != (len(want) <= maxText) {
				t.Errorf("text of %d bytes: kept %t", len(want), kept)
			}
		}
	}
}

func TestPlainPrefix(t *testing.T) {
	for c := range 256 {
		special := c < 0x20 || c >= 0x80 || c == '"' || c == '\\'
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

// The SDK's own clients test the codec: they write the inputs that it reads, and read the outputs that it writes.
type client struct {
	name    string // the name in the API
	methods reflect.Value
}

// clientsOver returns the SDK's two clients. The function `do` answers their requests.
func clientsOver(do func(*http.Request) (*http.Response, error)) []client {
	const nowhere = "https://nowhere.invalid"
	return []client{
		{"dynamodb", reflect.ValueOf(dynamodb.New(dynamodb.Options{
			Region: "us-east-1", BaseEndpoint: aws.String(nowhere), HTTPClient: doFunc(do),
			Credentials: aws.AnonymousCredentials{}, RetryMaxAttempts: 1,
		}))},
		{"dynamodbstreams", reflect.ValueOf(dynamodbstreams.New(dynamodbstreams.Options{
			Region: "us-east-1", BaseEndpoint: aws.String(nowhere), HTTPClient: doFunc(do),
			Credentials: aws.AnonymousCredentials{}, RetryMaxAttempts: 1,
		}))},
	}
}

type doFunc func(*http.Request) (*http.Response, error)

func (f doFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

// invoke calls a client's method.
func (c client) invoke(tb testing.TB, method string, in any) any {
	tb.Helper()
	results := c.methods.MethodByName(method).Call([]reflect.Value{reflect.ValueOf(tb.Context()), reflect.ValueOf(in)})
	if err, _ := results[1].Interface().(error); err != nil {
		tb.Fatalf("%s: %v", method, err)
	}
	return results[0].Interface()
}

// response is an answer of the service, in memory.
func response(body []byte) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK,
		Header: http.Header{
			"X-Amz-Crc32":      {strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)},
			"X-Amzn-Requestid": {strings.Repeat("0", 52)},
		},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}

// fill sets every exported field below v to a non-zero value.
func fill(v reflect.Value, depth int) {
	switch p := v.Addr().Interface().(type) {
	case *middleware.Metadata:
		return
	case *time.Time:
		*p = time.UnixMilli(1700000000123).UTC()
		return
	case *types.AttributeValue:
		*p = sdktest.Value(depth)
		return
	case *streamtypes.AttributeValue:
		*p = sdktest.StreamValue(depth)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "ErrorCodeOverride" {
				fill(v.Field(i), depth)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte{0, 1, 0xfe, 0xff})
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), depth)
		fill(v.Index(1), depth)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range []string{"b", `a "quoted" key`, "ключ"} {
			element := reflect.New(v.Type().Elem()).Elem()
			fill(element, depth)
			v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), element)
		}
	case reflect.String:
		v.SetString("text \\ \" \u2028 \x00 😀")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(-42)
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}

func filled(t reflect.Type) any {
	v := reflect.New(t.Elem())
	fill(v.Elem(), 2)
	return v.Interface()
}

// For all operations of the SDK, supported or not, the codec reads every member of every input as the SDK sends it, and
// the SDK reads every member of every output as the codec got it.
func TestEveryMember(t *testing.T) {
	var got, want any
	clients := clientsOver(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = Decode(body, got)
		}
		if err != nil {
			return nil, err
		}
		shape, ok := want.(Shape)
		if !ok {
			t.Fatalf("a %T is no shape", want)
		}
		return response(Append(nil, shape)), nil
	})
	operations := 0
	for _, c := range clients {
		for i := range c.methods.NumMethod() {
			method := c.methods.Type().Method(i)
			if method.Type.NumOut() != 2 {
				continue // Options
			}
			operations++
			t.Run(c.name+"/"+method.Name, func(t *testing.T) {
				in := filled(method.Type.In(2))
				got, want = reflect.New(method.Type.In(2).Elem()).Interface(), filled(method.Type.Out(0))
				out := c.invoke(t, method.Name, in)
				if diff := cmp.Diff(in, got, sdktest.Equal); diff != "" {
					t.Errorf("input (-sent +received):\n%s", diff)
				}
				if diff := cmp.Diff(want, out, sdktest.Equal); diff != "" {
					t.Errorf("output (-given +received):\n%s", diff)
				}
			})
		}
	}
	if operations < 50 {
		t.Errorf("got %d operations, want all that the SDK has", operations)
	}
}
