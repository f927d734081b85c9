package s3fake

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// once is a client that makes only one attempt of each call.
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

// A call that meets a fault of a kind that is only for rows fails with an error, and so does one that meets an unknown
// kind.
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
