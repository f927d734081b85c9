package ddbfake

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
)

// FuzzDecodeInput holds that any body ends in an input or in an error of the
// service, that exactly what is no JSON is malformed, that an input, encoded as
// the SDK does it, is read as the same input again, and that whatever is in the
// input stood in the body, at the same place.
//
// Each of these is caught by the seeds when it is planted: an NS that is read
// as an SS, a Limit that wraps around, a word for true that is taken for false.
func FuzzDecodeInput(f *testing.F) {
	for i, body := range filledBodies(f) {
		f.Add(uint(i), body)
	}
	f.Add(uint(0), []byte(`{"a":"\\\"","b":[[],{}, -1.5e3 ,null],"TableName":"\ud83d\ude00"}`))
	for _, body := range []string{`{"Limit":4294967296}`, `{"Limit":-1.5e3}`, `{"ConsistentRead":"TRUE"}`, `{"Key":{"\u0061":{"B":"AA=="},"b":{"NS":["1"]}}}`,
		`{"Key":{"a":{"S":"x","N":"1"}}}`, `{"Key":{"a":{"L":[{"SS":[]},{"M":{"":{"BOOL":true}}}]}}}`, `{"Key":{"a":{"S":"x","S":null}}}`} {
		f.Add(uint(slices.Index(Operations(), "GetItem")), []byte(body))
		f.Add(uint(slices.Index(Operations(), "Query")), []byte(body))
	}
	for _, timestamp := range []string{"1e300", "-1e18", "253402300800", "0.0005", "-0.1"} {
		f.Add(uint(slices.Index(Operations(), "GetShardIterator")), []byte(`{"Timestamp":`+timestamp+`}`))
	}
	f.Fuzz(func(t *testing.T, i uint, body []byte) {
		op := operations[i%uint(len(operations))]
		given := string(body)
		in, err := decodeInput(op, body)
		if string(body) != given {
			t.Fatalf("the body was written to: %q", body)
		}
		if malformed := errors.Is(err, errMalformed); malformed == validJSON(body) {
			t.Fatalf("malformed: got %t, want %t", malformed, !validJSON(body))
		}
		if err != nil {
			var api smithy.APIError
			if !errors.As(err, &api) || in != nil {
				t.Fatalf("got input %v and error %v, want an error of the service", in, err)
			}
			return
		}
		if hasNoValue(reflect.ValueOf(in)) {
			return // there is no JSON for a value of no type: the SDK refuses to send it
		}
		s, ok := in.(shape)
		if !ok {
			t.Fatalf("got a %T, want the SDK's input of %s", in, op.name)
		}
		encoded := appendOutput(nil, s)
		again, err := decodeInput(op, encoded)
		if err != nil {
			t.Fatalf("%s does not decode: %v", encoded, err)
		}
		if diff := cmp.Diff(in, again, sdkEqual); diff != "" {
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

// within tells that JSON has nothing that does not stand in a body. The body may
// have more: members that are not known, and null. Its numbers may have
// decimals, and its booleans may be words.
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

// filledBodies returns for each operation the body that the SDK sends of an
// input with every member set.
func filledBodies(tb testing.TB) [][]byte {
	bodies := make([][]byte, len(operations))
	for i, op := range operations {
		sent := doFunc(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				tb.Fatal(err)
			}
			bodies[i] = body
			return canned{[]byte("{}")}.Do(r)
		})
		client := bothClients{
			NewClient(nil, func(o *dynamodb.Options) { o.HTTPClient = sent }),
			streamsClient{NewStreamsClient(nil, func(o *dynamodbstreams.Options) { o.HTTPClient = sent })},
		}
		if _, err := invoke(client, op.name, filled(op.input)); err != nil {
			tb.Fatal(err)
		}
	}
	return bodies
}

// hasNoValue looks for attribute values of no type in an input.
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
