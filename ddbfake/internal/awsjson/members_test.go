package awsjson

import (
	"bytes"
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
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake/internal/sdktest"
)

// The SDK's own clients test the codec: they write the inputs that it reads, and read the outputs that it writes.
type client struct {
	name    string // the name in the API
	methods reflect.Value
}

// clientsOver returns the SDK's two clients; do answers their requests.
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

// fill sets every exported field below v to something that is not zero.
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

// The codec reads every member of every input as the SDK sends it, and the SDK reads every member of every output as
// the codec was given it, for all operations of the SDK, supported or not.
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
