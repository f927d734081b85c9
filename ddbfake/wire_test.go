package ddbfake

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// sdkEqual compares structs of the SDK: their markers are unexported, their
// metadata is no part of an answer.
var sdkEqual = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmpopts.IgnoreTypes(middleware.Metadata{}),
}

// bothClients has the methods of the SDK's two clients: those for streams where
// the other has none.
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

// fill sets every exported field below v to something that is not zero.
func fill(v reflect.Value, depth int) {
	switch p := v.Addr().Interface().(type) {
	case *middleware.Metadata:
		return
	case *time.Time:
		*p = time.UnixMilli(1700000000123).UTC()
		return
	case *types.AttributeValue:
		*p = everyValue(depth)
		return
	case *streamtypes.AttributeValue:
		all, err := attr.FromSDK(everyValue(depth))
		if err != nil {
			panic(err)
		}
		*p = streamValue(all)
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

func filled(t reflect.Type) any {
	v := reflect.New(t.Elem())
	fill(v.Elem(), 2)
	return v.Interface()
}

// Every member of every input arrives as the SDK sent it, and every member of
// every output as the engine gave it.
func TestWireCarriesEveryMember(t *testing.T) {
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			in := filled(op.input)
			method, _ := reflect.TypeFor[bothClients]().MethodByName(op.name)
			want := filled(method.Type.Out(0))
			var got any
			do := func(_ context.Context, c Call) (any, error) {
				got = c.Input
				return want, nil
			}
			client := bothClients{NewClient(do), streamsClient{NewStreamsClient(do)}}
			out, err := invoke(client, op.name, in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(in, got, sdkEqual); diff != "" {
				t.Errorf("input (-sent +received):\n%s", diff)
			}
			if diff := cmp.Diff(want, out, sdkEqual); diff != "" {
				t.Errorf("output (-given +received):\n%s", diff)
			}
		})
	}
}

func TestSignerOf(t *testing.T) {
	signed := func(authorization string) *HTTPRequest { return &HTTPRequest{Authorization: authorization} }
	for _, actor := range []string{"alice", "AKIAIOSFODNN7EXAMPLE", "", "a/b, c%d é=;"} {
		want := signer{actor, "eu-west-1"}
		if got, ok := signerOf(signed(authorization(actor, "eu-west-1"))); !ok || got != want {
			t.Errorf("%q came back as %q, %t", want, got, ok)
		}
	}
	const spaceless = "AWS4-HMAC-SHA256 Credential=AKID/20130524/us-east-1/dynamodb/aws4_request,SignedHeaders=host,Signature=fe5f"
	const asymmetric = "AWS4-ECDSA-P256-SHA256 Credential=AKID/20130524/dynamodb/aws4_request, SignedHeaders=host;x-amz-region-set, Signature=fe5f"
	const presigned = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKID%2F20130524%2Feu-west-1%2Fdynamodb%2Faws4_request&X-Amz-Signature=fe5f"
	for _, c := range []struct {
		name    string
		request *HTTPRequest
		want    signer
	}{
		{"without spaces", signed(spaceless), signer{"AKID", "us-east-1"}},
		{"version 4A", &HTTPRequest{Authorization: asymmetric, RegionSet: "eu-west-1"}, signer{"AKID", "eu-west-1"}},
		{"version 4A, two regions", &HTTPRequest{Authorization: asymmetric, RegionSet: "eu-west-1,eu-west-2"}, signer{"AKID", "eu-west-1"}},
		{"version 4A, all regions", &HTTPRequest{Authorization: asymmetric, RegionSet: "*"}, signer{"AKID", ""}},
		{"presigned", &HTTPRequest{Query: presigned}, signer{"AKID", "eu-west-1"}},
		{"header before query", &HTTPRequest{Authorization: spaceless, Query: presigned}, signer{"AKID", "us-east-1"}},
	} {
		if got, ok := signerOf(c.request); !ok || got != c.want {
			t.Errorf("%s: got %q, %t, want %q", c.name, got, ok, c.want)
		}
	}
	for _, header := range []string{"", "AWS4-", "Bearer Credential=a/b/c/d/e", "AWS4-HMAC-SHA256 Credential=alice"} {
		if got, ok := signerOf(signed(header)); ok {
			t.Errorf("%q names the signer %q", header, got)
		}
	}
	if got, ok := signerOf(&HTTPRequest{Query: "X-Amz-Credential=a"}); ok {
		t.Errorf("a query without an algorithm names the signer %q", got)
	}
}

func TestRequestID(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range []uint64{1, 2, 35, 36, 1 << 40, 1<<64 - 1} {
		unique := requestID(n)
		id := string(unique[:])
		if strings.Trim(id, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || seen[id] {
			t.Errorf("request %d: got id %q, want 52 digits and capital letters that no other request has", n, id)
		}
		seen[id] = true
	}
}
