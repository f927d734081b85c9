package s3fake

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/wire/httpbody"
)

// Requests that no SDK sends get an answer in the service's form, and change nothing.
func TestHostile(t *testing.T) {
	deep := strings.Repeat("<Object>", 100_000)
	long := strings.Repeat("k", 1<<20)
	for _, c := range []struct {
		name, method, target, body string
		header                     http.Header
		status                     int
		code                       string
	}{
		{name: "a key of 1 MB", method: "PUT", target: "/pages/" + long, body: "x", status: 400,
			code: "KeyTooLongError"},
		{name: "a bucket of 1 MB", method: "PUT", target: "/" + long, status: 400, code: "InvalidBucketName"},
		{name: "deep XML", method: "POST", target: "/pages?delete", body: "<Delete>" + deep,
			status: 400, code: "MalformedXML"},
		{name: "a billion laughs", method: "POST", target: "/pages?delete", status: 400, code: "MalformedXML",
			body: `<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><Delete><Object><Key>&b;</Key></Object></Delete>`},
		{name: "keys of 1 MB in XML", method: "POST", target: "/pages?delete",
			header: http.Header{"Content-Md5": {"x"}}, status: 400, code: "InvalidDigest",
			body: "<Delete><Object><Key>" + long + "</Key></Object></Delete>"},
		{name: "a token of 1 MB", method: "GET", target: "/pages?list-type=2&continuation-token=" + long, status: 400,
			code: "InvalidArgument"},
		{name: "a negative chunk", method: "PUT", target: "/pages/x", header: chunks, body: "-5\r\nHello\r\n0\r\n\r\n",
			status: 400, code: "IncompleteBody"},
		{name: "a huge chunk", method: "PUT", target: "/pages/x", header: chunks, body: "ffffffffffffffff\r\nHello\r\n",
			status: 400, code: "IncompleteBody"},
		{name: "a chunk of 2 GB", method: "PUT", target: "/pages/x", header: chunks, body: "7fffffff\r\nHello\r\n",
			status: 400, code: "IncompleteBody"},
		{name: "control characters", method: "GET", target: "/pages/%00%01%0d%0a", status: 404, code: "NoSuchKey"},
		{name: "no credentials that are any", method: "GET", target: "/pages/home",
			header: http.Header{"Authorization": {"Bearer x"}}, status: 200},
		{name: "half a signature", method: "GET", target: "/pages/home",
			header: http.Header{"Authorization": {"AWS4-HMAC-SHA256 Credential="}}, status: 200},
		{name: "an encoded slash", method: "GET", target: "/pages%2Fhome", status: 404, code: "NoSuchBucket"},
		{name: "many headers", method: "GET", target: "/pages/home",
			header: http.Header{"If-None-Match": {strings.Repeat(`"x",`, 100_000)}}, status: 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newWorld(t)
			r := httptest.NewRequest(c.method, c.target, strings.NewReader(c.body))
			if c.header != nil {
				r.Header = c.header
			}
			got := must.Of(roundTrip(s.Do, r))(t)
			if got.status != c.status || c.code != "" && !strings.Contains(got.body, "<Code>"+c.code+"</Code>") {
				t.Errorf("got %d and %.300s, want %d %s", got.status, got.body, c.status, c.code)
			}
			if n := s.buckets["pages"].objects.Len(); n != 5 {
				t.Errorf("got %d objects, want 5", n)
			}
		})
	}
}

var chunks = http.Header{
	"X-Amz-Content-Sha256": {"STREAMING-UNSIGNED-PAYLOAD-TRAILER"}, "X-Amz-Decoded-Content-Length": {"5"},
}

// A body over the limit is refused before it is read, and a body that breaks off makes no object.
func TestBodiesThatAreNone(t *testing.T) {
	s := newWorld(t)
	r := httptest.NewRequest(http.MethodPut, "/pages/new", io.LimitReader(zeros{}, httpbody.MaxBytes+1))
	r.ContentLength, r.TransferEncoding = httpbody.MaxBytes+1, nil
	got, err := roundTrip(s.Do, r)
	if err != nil || got.status != http.StatusBadRequest {
		t.Errorf("too large: got %v and %v, want 400", got, err)
	}
	broken := errors.New("the connection broke")
	r = httptest.NewRequest(http.MethodPut, "/pages/new",
		io.MultiReader(strings.NewReader("Hel"), iotest.ErrReader(broken)))
	r.ContentLength, r.TransferEncoding = 5, nil
	if _, err := roundTrip(s.Do, r); !errors.Is(err, broken) {
		t.Errorf("broken off: got %v, want the error", err)
	}
	r = httptest.NewRequest(http.MethodPut, "/pages/new", strings.NewReader("Hel"))
	r.ContentLength = 5
	got, err = roundTrip(s.Do, r)
	if err != nil || got.status != http.StatusBadRequest {
		t.Errorf("too short: got %v and %v, want 400", got, err)
	}
	r = httptest.NewRequest(http.MethodPut, "/pages/new", strings.NewReader("Hello"))
	r.ContentLength, r.TransferEncoding = -1, []string{"chunked"}
	got, err = roundTrip(s.Do, r)
	if err != nil || got.status != http.StatusNotImplemented {
		t.Errorf("of unknown length: got %v and %v, want 501", got, err)
	}
	if objectAt(s, "new") != nil {
		t.Error("half a body was stored")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A call that no door has made is refused, and a caller that is gone is not served.
func TestDoRefuses(t *testing.T) {
	s := newWorld(t)
	for _, c := range []Call{{}, {Operation: "PutObject", Bucket: "pages", Keys: []string{"x"}}} {
		if a, err := s.Do(t.Context(), c); err != nil || a.Status != http.StatusNotImplemented {
			t.Errorf("%v: got %v and %v, want 501", c, a, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Do(ctx, Call{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// A request that the fake does not serve is refused by the name of its operation.
func TestUnsupportedOperationsAreNamed(t *testing.T) {
	s := newWorld(t)
	for request, want := range map[string]string{
		"GET /pages?abac":                                          "GetBucketAbac",
		"GET /pages?inventory":                                     "ListBucketInventoryConfigurations",
		"GET /pages?inventory&id=a":                                "GetBucketInventoryConfiguration",
		"DELETE /pages?lifecycle":                                  "DeleteBucketLifecycle",
		"POST /pages?metadataConfiguration":                        "CreateBucketMetadataConfiguration",
		"PUT /pages?metadataInventoryTable":                        "UpdateBucketMetadataInventoryTableConfiguration",
		"PUT /pages?metadataJournalTable":                          "UpdateBucketMetadataJournalTableConfiguration",
		"DELETE /pages?metadataTable":                              "DeleteBucketMetadataTableConfiguration",
		"GET /pages?session":                                       "CreateSession",
		"PUT /pages?versioning":                                    "PutBucketVersioning",
		"PUT /pages/home?encryption":                               "UpdateObjectEncryption",
		"PUT /pages/home?renameObject":                             "RenameObject",
		"POST /pages/home?restore":                                 "RestoreObject",
		"POST /pages/home?select&select-type=2":                    "SelectObjectContent",
		"PUT /pages/home?tagging":                                  "PutObjectTagging",
		"GET /?x-id=ListDirectoryBuckets":                          "ListDirectoryBuckets",
		"POST /WriteGetObjectResponse?x-id=WriteGetObjectResponse": "WriteGetObjectResponse",
	} {
		method, target, _ := strings.Cut(request, " ")
		got, err := roundTrip(s.Do, httptest.NewRequest(method, target, nil))
		if err != nil || got.status != http.StatusNotImplemented ||
			!strings.Contains(got.body, "the S3 fake does not have the operation "+want+"<") {
			t.Errorf("%s: got %d %v\n%s\nwant %s", request, got.status, err, got.body, want)
		}
	}
	got, err := roundTrip(s.Do, httptest.NewRequest(http.MethodPost, "/pages/home", nil))
	if err != nil || !strings.Contains(got.body, "the operation of this POST") {
		t.Errorf("without a subresource: got %s, %v", got.body, err)
	}
}

// No request breaks the door, whatever its content.
func FuzzRequest(f *testing.F) {
	for _, c := range conformance {
		header := ""
		for _, name := range []string{"Range", "If-Match", "If-None-Match", "x-amz-content-sha256",
			"x-amz-checksum-crc32"} {
			if v := c.header[name]; v != "" {
				header = name + ":" + v
			}
		}
		f.Add(c.method, c.path, header, c.body)
	}
	f.Fuzz(func(t *testing.T, method, path, header, body string) {
		r, err := http.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
		if err != nil {
			t.Skip()
		}
		name, value, _ := strings.Cut(header, ":")
		r.Header[http.CanonicalHeaderKey(name)] = []string{value}
		s := New(Options{Buckets: []string{"pages"}})
		got, err := roundTrip(s.Do, r)
		must.OK(t, err)
		if got.status < 200 || got.status > 599 || got.status == 500 {
			t.Errorf("got status %d", got.status)
		}
	})
}

// A long XML body takes at most a few times its length in memory, whatever its content.
func TestLongXML(t *testing.T) {
	effort.Long(t)
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC says
	const size = 6 << 20
	for name, piece := range map[string]string{
		"objects": "<Object><Key>a</Key></Object>", "empty objects": "<Object/>", "depth": "<x>",
		"attributes": ` a=""`, "text": "x",
	} {
		t.Run(name, func(t *testing.T) {
			body := "<Delete>"
			if name == "attributes" {
				body = "<Delete"
			}
			body += strings.Repeat(piece, size/len(piece))
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, refusal := parseDeletes([]byte(body))
			runtime.ReadMemStats(&after)
			if refusal != errMalformedXML {
				t.Errorf("got %v, want MalformedXML", refusal)
			}
			if made := max(after.HeapAlloc, before.HeapAlloc) - before.HeapAlloc; made > 12*size {
				t.Errorf("%d MB of memory, want at most %d", made>>20, 12*size>>20)
			}
		})
	}
}

// once returns a client that makes only one attempt per call.
func once(s *Store, actor string) *s3.Client {
	return clientOf(s.Do, actor, func(o *s3.Options) { o.Retryer = ddbfake.Retryer(1) })
}

// Each kind of fault has its documented effect on the store and on the caller.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		kind    ddbfake.FaultKind
		code    string // the code of the answer; "" for a success, "lost" if there is no answer
		written bool
	}{
		{ddbfake.FaultThrottled, "SlowDown", false},
		{ddbfake.FaultRequestLost, "lost", false},
		{ddbfake.FaultResponseLost, "lost", true},
		{ddbfake.FaultErrorBefore, "InternalError", false},
		{ddbfake.FaultErrorAfter, "InternalError", true},
		{ddbfake.FaultConflict, "ConditionalRequestConflict", false},
		{ddbfake.FaultDuplicate, "PreconditionFailed", true},
	} {
		t.Run(c.kind.String(), func(t *testing.T) {
			s := New(Options{Buckets: []string{"pages"}, LogRequests: 1})
			s.Inject(Fault{Kind: c.kind, Op: "PutObject", Key: "ho*"})
			in := put("home", "Hello")
			in.IfNoneMatch = aws.String("*")
			_, err := once(s, "alice").PutObject(t.Context(), in)
			if c.code == "lost" {
				if err == nil || !strings.Contains(err.Error(), "the connection was lost") {
					t.Errorf("got %v, want a lost connection", err)
				}
			} else {
				wantCode(t, err, c.code)
			}
			if written := objectAt(s, "home") != nil; written != c.written {
				t.Errorf("got written %t, want %t", written, c.written)
			}
			if r := s.Requests()[0]; r.Fault == nil || r.Fault.Kind != c.kind {
				t.Errorf("got the request %s, want its fault", r)
			}
			if left := s.Injected(); len(left) != 0 {
				t.Errorf("got %v, want no fault left", left)
			}
		})
	}
}

// The SDK retries some failures. If the first attempt of a conditional write took effect, the retry is refused: that is
// the trap of conditional writes.
func TestFaultsAndRetries(t *testing.T) {
	s := New(Options{Buckets: []string{"pages"}, LogRequests: 10})
	client := clientOf(s.Do, "alice")
	s.Inject(Fault{Kind: ddbfake.FaultThrottled, Times: 2})
	if _, err := client.PutObject(t.Context(), put("home", "Hello")); err != nil {
		t.Errorf("got %v, want the third attempt to succeed", err)
	}
	if n := len(s.Requests()); n != 3 {
		t.Errorf("got %d requests, want 3", n)
	}
	s.Inject(Fault{Kind: ddbfake.FaultResponseLost})
	in := put("new", "Hello")
	in.IfNoneMatch = aws.String("*")
	_, err := client.PutObject(t.Context(), in)
	wantCode(t, err, "PreconditionFailed")
}

// A lost answer breaks the connection of a client over HTTP.
func TestFaultsOverHTTP(t *testing.T) {
	s := New(Options{Buckets: []string{"pages"}})
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	s.Inject(Fault{Kind: ddbfake.FaultResponseLost})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+"/pages/home",
		strings.NewReader("Hello"))
	must.OK(t, err)
	if response, err := server.Client().Do(r); err == nil {
		response.Body.Close()
		t.Errorf("got status %d, want a broken connection", response.StatusCode)
	}
	if objectAt(s, "home") == nil {
		t.Error("the object was not written")
	}
}

// A call fails with an error if it is hit by a fault whose kind is only for rows, or unknown.
func TestFaultsOfRows(t *testing.T) {
	for _, kind := range []ddbfake.FaultKind{ddbfake.FaultStaleRead, ddbfake.FaultUnprocessed, 0, 99} {
		s := New(Options{Buckets: []string{"pages"}})
		s.Inject(Fault{Kind: kind})
		if _, err := once(s, "").PutObject(t.Context(), put("home", "x")); err == nil ||
			!strings.Contains(err.Error(), "throttled") {
			t.Errorf("%s: got %v, want an error with the kinds", kind, err)
		}
		s.ClearFaults()
		if _, err := once(s, "").PutObject(t.Context(), put("home", "x")); err != nil {
			t.Errorf("%s, cleared: %v", kind, err)
		}
	}
}

func TestFaultPredicates(t *testing.T) {
	call := Call{Actor: "alice.2", Operation: "PutObject", Bucket: "pages", Keys: []string{"a/1"}, in: &input{
		header: http.Header{},
	}}
	two := Call{Actor: "bob", Operation: "DeleteObjects", Bucket: "pages", Keys: []string{"a", "b"}, in: &input{}}
	for _, c := range []struct {
		text      string
		call, two bool
	}{
		{"throttled", true, true},
		{"throttled op=PutObject", true, false},
		{"throttled actor=alice", true, false},
		{"throttled actor=alice.2", true, false},
		{"throttled actor=al", false, false},
		{"throttled bucket=pages", true, true},
		{"throttled bucket=others", false, false},
		{"throttled key=a/*", true, false},
		{"throttled key=b", false, true},
		{"throttled key=*", true, true},
		{"conflict", false, false},
	} {
		f := must.Of(ParseFault(c.text))(t)
		if got := f.matches(&call); got != c.call {
			t.Errorf("%s: got %t for one key, want %t", c.text, got, c.call)
		}
		if got := f.matches(&two); got != c.two {
			t.Errorf("%s: got %t for two keys, want %t", c.text, got, c.two)
		}
	}
	s := New(Options{Buckets: []string{"pages"}})
	s.Inject(Fault{Kind: ddbfake.FaultThrottled, Key: "home", Nth: 2, Times: 2})
	var got []bool
	for range 5 {
		_, err := once(s, "").PutObject(t.Context(), put("home", "x"))
		got = append(got, err != nil)
	}
	if want := []bool{false, true, true, false, false}; !slices.Equal(got, want) {
		t.Errorf("nth=2 times=2: got %v, want %v", got, want)
	}
}

func TestParseFault(t *testing.T) {
	for _, text := range []string{
		"throttled", "response-lost op=PutObject bucket=pages key=a/* actor=alice nth=2 times=3",
		`error-before key="two words" times=always`, "conflict op=DeleteObject",
	} {
		f, err := ParseFault(text)
		if err != nil || f.String() != text {
			t.Errorf("%s: got %s and %v", text, f, err)
		}
	}
	for text, want := range map[string]string{
		"":                                   "is empty",
		"frob":                               "throttled, request-lost",
		"stale-read":                         "want a kind of S3's",
		"throttled op=PutItem":               "want a supported operation",
		"throttled op=PutObjet":              "perhaps PutObject",
		"throttled op":                       "name=value",
		"throttled table=x":                  "op, bucket, key",
		"throttled key=":                     "no value",
		"throttled key=a key=b":              "given twice",
		"throttled nth=0":                    "a whole number from 1",
		"throttled times=-1":                 "a whole number from 1",
		"throttled nth=99999999999999999999": "a whole number from 1",
		`throttled key="half`:                "a closing quote",
	} {
		if _, err := ParseFault(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", text, err, want)
		}
	}
}
