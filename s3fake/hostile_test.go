package s3fake

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/wire/httpbody"
)

// Requests that no SDK sends get an answer in the form of the service, and change nothing.
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

// A call that was not made by a door is refused, and a caller who has gone is not served.
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

// A long body in XML takes at most a few times its length of memory, whatever its content.
func TestLongXML(t *testing.T) {
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
