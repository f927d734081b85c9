package ddbfake

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/wire/httpbody"
)

func zipped(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.Bytes()
}

// clientOver returns a client as users of the HTTP door make it: over a socket, signing with an access key id.
func clientOver(url, actor string, attempts int) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(url),
		Credentials:  credentials.NewStaticCredentialsProvider(actor, "secret", ""),
		HTTPClient:   &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		Retryer:      Retryer(attempts),
	})
}

// posted is a request of alice for the HTTP door.
func posted(operation string, body io.Reader) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", body)
	r.Header.Set("Content-Type", awsjson.ContentType)
	r.Header.Set("X-Amz-Target", awsjson.TargetPrefix+operation)
	r.Header.Set("Authorization", awsjson.Authorization("alice", DefaultRegion))
	return r
}

func TestHandlerRaw(t *testing.T) {
	effort.Long(t)
	const coral = `{"__type":"com.amazon.coral.service#`
	type headers map[string]string
	tests := []struct {
		name    string
		method  string
		headers headers
		body    string
		status  int
		want    string
	}{
		{"health", "GET", nil, "", 200, "healthy: dynamodb.us-east-1.amazonaws.com "},
		{"put", "PUT", nil, "{}", 404, "<UnknownOperationException/>\n"},
		{"no content type", "POST", headers{"Content-Type": ""}, "{}", 404, "<UnknownOperationException/>\n"},
		{"html", "POST", headers{"Content-Type": "text/html"}, "{}", 404, "<UnknownOperationException/>\n"},
		{"plain json", "POST", headers{"Content-Type": "application/json; charset=utf-8"}, "{}", 200,
			`{"TableNames":["alice"]}`},
		{"fine", "POST", nil, "{}", 200, `{"TableNames":["alice"]}`},
		{"gzip", "POST", headers{"Content-Encoding": "gzip"}, string(zipped("{}")), 200, `{"TableNames":["alice"]}`},
		{"deflate that is none", "POST", headers{"Content-Encoding": "deflate"}, "{}", 400,
			coral + `SerializationException"}`},
		{"gzip that is none", "POST", headers{"Content-Encoding": "gzip"}, "{}", 400,
			coral + `SerializationException"}`},
		{"gzip that is none, of a health check", "GET", headers{"Content-Encoding": "gzip"}, "{}", 200,
			"healthy: dynamodb.us-east-1.amazonaws.com "},
		{"gzip that is none, put", "PUT", headers{"Content-Encoding": "gzip"}, "{}", 404,
			"<UnknownOperationException/>\n"},
		{"gzip that is none, html", "POST", headers{"Content-Encoding": "gzip", "Content-Type": "text/html"}, "{}", 404,
			"<UnknownOperationException/>\n"},
		{"no target", "POST", headers{"X-Amz-Target": ""}, "{}", 400, coral + `UnknownOperationException"}`},
		{"another service's target", "POST", headers{"X-Amz-Target": "Kinesis_20131202.ListStreams"}, "{}", 400,
			coral + `UnknownOperationException"}`},
		{"unknown operation", "POST", headers{"X-Amz-Target": "DynamoDB_20120810.Frob"}, "{}", 400,
			coral + `UnknownOperationException","message":"ddbfake does not support the operation Frob"}`},
		{"unknown operation on streams", "POST", headers{"X-Amz-Target": "DynamoDBStreams_20120810.Frob"}, "{}", 400,
			coral + `UnknownOperationException","message":"ddbfake does not support the operation Frob"}`},
		{"an operation on streams elsewhere", "POST", headers{"X-Amz-Target": "DynamoDB_20120810.GetRecords"}, "{}",
			400, coral + `UnknownOperationException","message":"ddbfake does not support the operation GetRecords"}`},
		{"no credentials", "POST", headers{"Authorization": ""}, "{}", 400,
			coral + `MissingAuthenticationTokenException","message":"Request is missing Authentication Token"}`},
		{"half credentials", "POST", headers{"Authorization": "AWS4-HMAC-SHA256 Credential=alice"}, "{}", 400,
			coral + `MissingAuthenticationTokenException","message":"Request is missing Authentication Token"}`},
		{"malformed", "POST", nil, "{", 400, coral + `SerializationException"}`},
		{"null", "POST", nil, "null", 400, coral + `SerializationException"}`},
		{"headers of 15 KB", "POST", headers{"X-Long": strings.Repeat("x", 15<<10)}, "{}", 200, `{"TableNames":["alice"]}`},
		{"headers of 16 KB", "POST", headers{"X-Long": strings.Repeat("x", 16<<10)}, "{}", 400,
			"the headers are larger than 16 KB\n"},
		{"empty", "POST", nil, "", 400, coral + `SerializationException"}`},
		{"nothing, and no credentials", "POST", headers{"Authorization": ""}, "", 400,
			coral + `MissingAuthenticationTokenException","message":"Request is missing Authentication Token"}`},
		{"malformed wins over no target and no credentials", "POST", headers{"X-Amz-Target": "", "Authorization": ""},
			"{", 400, coral + `SerializationException"}`},
		{"no target wins over no credentials", "POST", headers{"X-Amz-Target": "", "Authorization": ""}, "{}", 400,
			coral + `UnknownOperationException"}`},
		{"wrong type", "POST", nil, `{"Limit":"1"}`, 400,
			coral + `SerializationException","Message":"STRING_VALUE cannot be converted to Integer"}`},
		{"the largest", "POST", nil, strings.Repeat(" ", httpbody.MaxBytes-2) + "{}", 200, `{"TableNames":["alice"]}`},
		{"the largest unpacked", "POST", headers{"Content-Encoding": "gzip"},
			string(zipped(strings.Repeat(" ", httpbody.MaxBytes-2) + "{}")), 200, `{"TableNames":["alice"]}`},
		{"gzip that breaks off", "POST", headers{"Content-Encoding": "gzip"}, string(zipped("{}")[:15]), 400,
			coral + `SerializationException"}`},
		{"too large", "POST", nil, strings.Repeat(" ", httpbody.MaxBytes) + "{}", 413, ""},
		{"too large unpacked", "POST", headers{"Content-Encoding": "gzip"},
			string(zipped(strings.Repeat(" ", httpbody.MaxBytes) + "{}")), 413, ""},
	}
	h := &handler{do: func(_ context.Context, c Call) (any, error) {
		return &dynamodb.ListTablesOutput{TableNames: []string{c.Actor}}, nil
	}}
	id := regexp.MustCompile(`^[0-9A-Z]{52}$`)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := posted("ListTables", strings.NewReader(test.body))
			r.Method = test.method
			for name, value := range test.headers {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			got := w.Result()
			if got.StatusCode != test.status || w.Body.String() != test.want {
				t.Errorf("got  %d %s\nwant %d %s", got.StatusCode, w.Body, test.status, test.want)
			}
			if sum := strconv.FormatUint(uint64(crc32.ChecksumIEEE(w.Body.Bytes())),
				10); got.Header.Get("X-Amz-Crc32") != sum {
				t.Errorf("X-Amz-Crc32: got %s, want %s", got.Header.Get("X-Amz-Crc32"), sum)
			}
			if got := got.Header.Get("X-Amzn-RequestId"); !id.MatchString(got) {
				t.Errorf("X-Amzn-RequestId: got %q, want a match of %s", got, id)
			}
			if want := awsjson.ContentType; strings.HasPrefix(test.want, "{") &&
				got.Header.Get("Content-Type") != want {
				t.Errorf("Content-Type: got %q, want %q", got.Header.Get("Content-Type"), want)
			}
		})
	}
}

type countingReader struct {
	io.Reader
	n int
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += n
	return n, err
}

// The limit on a body applies to the bytes read and to the bytes unpacked, with and without a Content-Length.
func TestHandlerBoundsBodies(t *testing.T) {
	bomb := bytes.Repeat(zipped(strings.Repeat(" ", 1<<20)), 1000) // 1 GB in a thousand members
	large := bytes.Repeat([]byte(" "), 20<<20)
	var packed bytes.Buffer // gzip without compression: just as many bytes
	w, _ := gzip.NewWriterLevel(&packed, gzip.NoCompression)
	_, _ = w.Write(large)
	_ = w.Close()
	for _, test := range []struct {
		name    string
		body    []byte
		gzip    bool
		atMost  int // bytes of the body that are read
		declare bool
	}{
		{"a bomb", bomb, true, len(bomb) / 10, false},
		{"a large body", large, false, httpbody.MaxBytes + 1024, false},
		{"a large body that says so", large, false, 0, true},
		{"a large packed body", packed.Bytes(), true, httpbody.MaxBytes + 1024, false},
		{"a large packed body that says so", packed.Bytes(), true, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &handler{do: func(context.Context, Call) (any, error) {
				t.Error("it was served")
				return nil, nil
			}}
			body := &countingReader{Reader: bytes.NewReader(test.body)}
			r := posted("ListTables", body)
			if test.declare {
				r.ContentLength = int64(len(test.body))
			}
			if test.gzip {
				r.Header.Set("Content-Encoding", "gzip")
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusRequestEntityTooLarge || w.Header().Get("Connection") != "close" {
				t.Errorf("got %d, Connection: %q, want 413 and close", w.Code, w.Header().Get("Connection"))
			}
			if body.n > test.atMost {
				t.Errorf("%d bytes were read of %d, want %d at most", body.n, len(test.body), test.atMost)
			}
		})
	}
}

// A lost response breaks the connection; the SDK retries, and its attempts share an invocation.
func TestHandlerDropsTheConnection(t *testing.T) {
	var invocations []string
	h := &handler{do: func(ctx context.Context, c Call) (any, error) {
		invocations = append(invocations, Invocation(ctx))
		if len(invocations) < 3 {
			return nil, &NetworkError{Operation: "ListTables"}
		}
		return &dynamodb.ListTablesOutput{TableNames: []string{c.Actor}}, nil
	}}
	server := httptest.NewServer(h)
	defer server.Close()

	if _, err := clientOver(server.URL, "bob", 1).ListTables(t.Context(), &dynamodb.ListTablesInput{}); err == nil {
		t.Error("a dropped connection was no error")
	}
	out := must.Of(clientOver(server.URL, "bob", 3).ListTables(t.Context(), &dynamodb.ListTablesInput{}))(t)
	if len(out.TableNames) != 1 || out.TableNames[0] != "bob" {
		t.Errorf("got %q, want the actor bob", out.TableNames)
	}
	if len(invocations) != 3 || invocations[0] == invocations[1] || invocations[1] != invocations[2] ||
		invocations[1] == "" {
		t.Errorf("got invocations %q, want those of the second and third attempt alike", invocations)
	}
}

// Without a socket to break, the handler panics with http.ErrAbortHandler, as net/http asks of handlers.
func TestHandlerAborts(t *testing.T) {
	h := &handler{do: func(context.Context, Call) (any, error) { return nil, &NetworkError{} }}
	checkAborts(t, h, strings.NewReader("{}"))
}

// If the caller goes away before its body ends, it gets nothing, and nothing happens.
func TestHandlerCallerGone(t *testing.T) {
	h := &handler{do: func(context.Context, Call) (any, error) {
		t.Error("a request whose body broke off was served")
		return nil, nil
	}}
	checkAborts(t, h, io.MultiReader(strings.NewReader("{}"), brokenReader{}))
}

func checkAborts(t *testing.T, h *handler, body io.Reader) {
	t.Helper()
	r := posted("ListTables", body)
	defer func() {
		if got, _ := recover().(error); !errors.Is(got, http.ErrAbortHandler) {
			t.Errorf("got panic %v, want http.ErrAbortHandler", got)
		}
	}()
	h.ServeHTTP(httptest.NewRecorder(), r)
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("the connection broke") }

// An attribute value without a type, or with two, is refused at any depth. The error names the parameter.
func TestHandlerRefusesValues(t *testing.T) {
	const (
		none = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
		two  = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the " +
			"supported datatypes"
	)
	db := New(Options{})
	createTable(t, db, "cache")
	tests := []struct{ op, body, want string }{
		{"PutItem", `{"TableName":"cache","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"v":{}}}`, envelope + none},
		{"PutItem", `{"TableName":"cache","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"v":{"L":[null]}}}`, envelope + none},
		{"GetItem", `{"TableName":"cache","Key":{"pk":{"S":"a"},"sk":{}}}`, none},
		{"Query", `{"TableName":"cache","KeyConditionExpression":"pk = :pk","ExpressionAttributeValues":{":pk":{}}}`,
			"ExpressionAttributeValues contains invalid value: " + none + " for key :pk"},
		{"PutItem", `{"TableName":"cache","Item":{"pk":{"S":"a","N":"1"},"sk":{"S":"b"}}}`, two},
	}
	for _, test := range tests {
		r := posted(test.op, strings.NewReader(test.body))
		w := httptest.NewRecorder()
		db.Handler().ServeHTTP(w, r)
		want := `{"__type":"com.amazon.coral.validate#ValidationException","message":"` + test.want + `"}`
		if w.Code != http.StatusBadRequest || w.Body.String() != want {
			t.Errorf("%s %s:\ngot  %d %s\nwant 400 %s", test.op, test.body, w.Code, w.Body, want)
		}
	}
	if n := len(db.Changes()); n != 0 {
		t.Errorf("got %d changes, want none", n)
	}
}

// DescribeEndpoints answers the address that the client has called.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Endpoint.html
func TestDescribeEndpointsNamesThisServer(t *testing.T) {
	server := httptest.NewServer(New(Options{}).Handler())
	defer server.Close()
	out, err := clientOver(server.URL, "alice", 1).DescribeEndpoints(t.Context(), &dynamodb.DescribeEndpointsInput{})
	must.OK(t, err)
	if got, want := aws.ToString(out.Endpoints[0].Address), strings.TrimPrefix(server.URL, "http://"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A long answer is compressed for a client that accepts that, and the checksum is that of the compressed bytes.
func TestLongAnswersArePacked(t *testing.T) {
	names := slices.Repeat([]string{strings.Repeat("x", 100)}, 60)
	for _, test := range []struct {
		accepted string
		names    int
		want     bool
	}{
		{"", 60, false}, {"identity", 60, false}, {"gzip", 60, true}, {"deflate, GZIP;q=0.5", 60, true},
		{"gzip;q=0", 60, false}, {"gzip; q=0.0, *", 60, false},
		{"gzip", 10, false},
	} {
		h := &handler{do: func(context.Context, Call) (any, error) {
			return &dynamodb.ListTablesOutput{TableNames: names[:test.names]}, nil
		}}
		r := posted("ListTables", strings.NewReader("{}"))
		r.Header.Set("Accept-Encoding", test.accepted)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		body := w.Body.Bytes()
		if got, want := w.Header().Get("X-Amz-Crc32"), fmt.Sprint(crc32.ChecksumIEEE(body)); got != want {
			t.Errorf("%q: the checksum is %s, want %s", test.accepted, got, want)
		}
		if packed := w.Header().Get("Content-Encoding") == "gzip"; packed != test.want {
			t.Errorf("%q: packed: %t, want %t", test.accepted, packed, test.want)
		}
		if test.want {
			unpacked, err := gzip.NewReader(bytes.NewReader(body))
			if err == nil {
				body, err = io.ReadAll(unpacked)
			}
			must.OK(t, err)
		}
		if !bytes.HasPrefix(body, []byte(`{"TableNames":["xxx`)) {
			t.Errorf("%q: got %.30s", test.accepted, body)
		}
	}
}
