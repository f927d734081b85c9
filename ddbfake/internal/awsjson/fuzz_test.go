package awsjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake/internal/sdktest"
)

// FuzzDecodeInput asserts four things. Any body ends in an input or in an error of the service. A body is malformed
// exactly if it is not JSON. Encoding an input as the SDK does, and decoding it, gives the same input. Every value of
// the input is in the body, at the same place.
//
// The seeds catch each of these bugs when planted: an NS is read as an SS, a Limit wraps around, a word for true is
// read as false.
func FuzzDecodeInput(f *testing.F) {
	for i, body := range filledBodies(f) {
		f.Add(uint(i), body)
	}
	f.Add(uint(0), []byte(`{"a":"\\\"","b":[[],{}, -1.5e3 ,null],"TableName":"\ud83d\ude00"}`))
	for _, body := range []string{`{"Limit":4294967296}`, `{"Limit":-1.5e3}`, `{"ConsistentRead":"TRUE"}`,
		`{"Key":{"\u0061":{"B":"AA=="},"b":{"NS":["1"]}}}`,
		`{"Key":{"a":{"S":"x","N":"1"}}}`, `{"Key":{"a":{"L":[{"SS":[]},{"M":{"":{"BOOL":true}}}]}}}`,
		`{"Key":{"a":{"S":"x","S":null}}}`} {
		f.Add(numberOf("GetItem"), []byte(body))
		f.Add(numberOf("Query"), []byte(body))
	}
	for _, timestamp := range []string{"1e300", "-1e18", "253402300800", "0.0005", "-0.1"} {
		f.Add(numberOf("GetShardIterator"), []byte(`{"Timestamp":`+timestamp+`}`))
	}
	f.Fuzz(func(t *testing.T, i uint, body []byte) {
		op := operationOf(fuzzed[i%uint(len(fuzzed))])
		given := string(body)
		in := inputOf(op)
		err := Decode(body, in)
		if string(body) != given {
			t.Fatalf("the body was written to: %q", body)
		}
		if malformed := errors.Is(err, ErrMalformed); malformed == Valid(body) {
			t.Fatalf("malformed: got %t, want %t", malformed, !Valid(body))
		}
		if err != nil {
			if _, ok := errors.AsType[smithy.APIError](err); !ok {
				t.Fatalf("got error %v, want one of the service", err)
			}
			return
		}
		if hasNoValue(reflect.ValueOf(in)) {
			return // there is no JSON for a value without a type: the SDK refuses to send it
		}
		s, ok := in.(Shape)
		if !ok {
			t.Fatalf("got a %T, want the SDK's input of %s", in, op)
		}
		encoded := Append(nil, s)
		again := inputOf(op)
		if err := Decode(encoded, again); err != nil {
			t.Fatalf("%s does not decode: %v", encoded, err)
		}
		if diff := cmp.Diff(in, again, sdktest.Equal); diff != "" {
			t.Errorf("%.1000s, decoded and encoded as\n%.1000s\n(-first +second):\n%s", body, encoded, diff)
		}
		if jsontext.Value(body).IsValid() && !within(anyOf(t, encoded), anyOf(t, body)) { // no member comes twice
			t.Errorf("%.1000s is decoded as %.1000s", body, encoded)
		}
	})
}

func anyOf(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// within reports whether the body has everything that got has. The body may have more: unknown members, and null. Its
// numbers may have decimals, and its booleans may be words.
func within(got, body any) bool {
	switch got := got.(type) {
	case map[string]any:
		given, ok := body.(map[string]any)
		for name, v := range got {
			ok = ok && within(v, given[name])
		}
		return ok || body == nil && len(got) == 0
	case []any:
		given, ok := body.([]any)
		return ok && slices.EqualFunc(got, given, within)
	case bool:
		word, ok := body.(string)
		return body == got || ok && strings.EqualFold(word, strconv.FormatBool(got))
	case json.Number:
		given, _ := body.(json.Number)
		x, errX := got.Float64()
		y, errY := given.Float64()
		return errX == nil && errY == nil && (x == math.Trunc(y) || math.Abs(x-y) <= 0.001) // a time has milliseconds
	}
	return got == body
}

// fuzzed are the inputs of the supported operations, sorted by name: the numbers in testdata are their indexes.
var fuzzed = []any{
	&dynamodb.BatchGetItemInput{},
	&dynamodb.BatchWriteItemInput{},
	&dynamodb.CreateTableInput{},
	&dynamodb.DeleteItemInput{},
	&dynamodb.DeleteTableInput{},
	&dynamodb.DescribeContinuousBackupsInput{},
	&dynamodb.UpdateContinuousBackupsInput{},
	&dynamodb.DescribeContributorInsightsInput{},
	&dynamodb.DescribeKinesisStreamingDestinationInput{},
	&dynamodb.ListBackupsInput{},
	&dynamodb.ListExportsInput{},
	&dynamodb.ListGlobalTablesInput{},
	&dynamodb.ListImportsInput{},
	&dynamodb.DescribeEndpointsInput{},
	&dynamodb.DescribeLimitsInput{},
	&dynamodbstreams.DescribeStreamInput{},
	&dynamodb.DescribeTableInput{},
	&dynamodb.DescribeTimeToLiveInput{},
	&dynamodb.GetItemInput{},
	&dynamodbstreams.GetRecordsInput{},
	&dynamodbstreams.GetShardIteratorInput{},
	&dynamodbstreams.ListStreamsInput{},
	&dynamodb.ListTablesInput{},
	&dynamodb.ListTagsOfResourceInput{},
	&dynamodb.PutItemInput{},
	&dynamodb.QueryInput{},
	&dynamodb.ScanInput{},
	&dynamodb.TagResourceInput{},
	&dynamodb.TransactGetItemsInput{},
	&dynamodb.TransactWriteItemsInput{},
	&dynamodb.UntagResourceInput{},
	&dynamodb.UpdateItemInput{},
	&dynamodb.UpdateTableInput{},
	&dynamodb.UpdateTimeToLiveInput{},
	// Operations that were added later.
	&dynamodb.CreateBackupInput{},
	&dynamodb.DeleteBackupInput{},
	&dynamodb.DescribeBackupInput{},
	&dynamodb.RestoreTableFromBackupInput{},
	&dynamodb.RestoreTableToPointInTimeInput{},
}

func operationOf(in any) string { return strings.TrimSuffix(reflect.TypeOf(in).Elem().Name(), "Input") }

// numberOf returns the index of an operation's input in fuzzed.
func numberOf(op string) uint {
	return uint(slices.IndexFunc(fuzzed, func(in any) bool { return operationOf(in) == op }))
}

// inputOf returns an empty input of an operation.
func inputOf(op string) any {
	return reflect.New(reflect.TypeOf(fuzzed[numberOf(op)]).Elem()).Interface()
}

// filledBodies returns, for each operation, the body that the SDK sends for an input in which every member is set.
func filledBodies(tb testing.TB) [][]byte {
	tb.Helper()
	var body []byte
	clients := clientsOver(func(r *http.Request) (*http.Response, error) {
		var err error
		body, err = io.ReadAll(r.Body)
		return response([]byte("{}")), err
	})
	bodies := make([][]byte, len(fuzzed))
	for i, in := range fuzzed {
		for _, c := range clients {
			if strings.HasSuffix(reflect.TypeOf(in).Elem().PkgPath(), "/"+c.name) {
				c.invoke(tb, operationOf(in), filled(reflect.TypeOf(in)))
			}
		}
		bodies[i] = body
	}
	return bodies
}

// hasNoValue reports whether an input has attribute values without a type.
func hasNoValue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Interface:
		return v.IsNil() && v.Type() == reflect.TypeFor[types.AttributeValue]() || !v.IsNil() && hasNoValue(v.Elem())
	case reflect.Pointer:
		return !v.IsNil() && hasNoValue(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && hasNoValue(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if hasNoValue(v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if hasNoValue(v.MapIndex(key)) {
				return true
			}
		}
	}
	return false
}
