package s3fake

import (
	"context"
	"crypto/md5"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/faults"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// The cases of conformance.txt, one per paragraph: the request, and after => the status and code of the answer.
//
//	case NAME
//	source ADDRESS, which stands for the cases below it, too
//	METHOD PATH
//	HEADER: VALUE
//	body TEXT, with \r and \n; ${x*9} is x nine times
//	=> STATUS CODE
//	HEADER: VALUE, or nothing for a header that must be absent
//	is TEXT, has TEXT, lacks TEXT: the body
//	left KEY TEXT, gone KEY: the objects afterwards
//
// In the world of each case, the bucket pages has the objects home, which was written at 00:00:10.9, a/1, a/2, b/1 and
// "c d&é". An upload of the key parts is in progress: its part 1 is Hello, and its part 3 is World.
//
//go:embed testdata/conformance.txt
var conformanceText string

// provider is a source whose tests compare with answers recorded at the service.
const provider = "https://github.com/localstack/localstack/blob/main/localstack-core/localstack/services/s3/provider.py"

// homeETag is the ETag of Hello.
const (
	homeETag  = `"8b1a9953c4611296a827abf8c47804d7"`
	theUpload = "/pages/parts?uploadId=0000000000000001"
	partHello = "<Part><PartNumber>1</PartNumber><ETag>" + homeETag + "</ETag></Part>"
)

// thePart returns the path of a part of the upload.
func thePart(n int) string { return theUpload + "&partNumber=" + strconv.Itoa(n) }

type conformanceCase struct {
	name, source string
	method, path string
	header       map[string]string
	body         string

	status int
	code   string            // the code of the error in the body, which is XML
	answer map[string]string // headers; "" for a header that must be absent
	want   string            // the body of a success, if it is not XML
	holds  []string          // texts that the body has
	lacks  []string          // texts that it lacks
	after  map[string]string // the bodies of objects afterwards
	gone   []string          // keys without an object
}

var conformance = readCases(conformanceText)

func readCases(text string) (cases []conformanceCase) {
	repeated := regexp.MustCompile(`\$\{(.+)\*(\d+)\}`)
	source := ""
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		c := conformanceCase{header: map[string]string{}, answer: map[string]string{}, after: map[string]string{}}
		headers := c.header
		for line := range strings.SplitSeq(paragraph, "\n") {
			line = repeated.ReplaceAllStringFunc(line, func(s string) string {
				part := repeated.FindStringSubmatch(s)
				n, _ := strconv.Atoi(part[2])
				return strings.Repeat(part[1], n)
			})
			word, rest, _ := strings.Cut(line, " ")
			switch word {
			case "#":
			case "case":
				c.name = rest
			case "source":
				source = rest
			case "body":
				c.body = strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(rest)
			case "=>":
				_, _ = fmt.Sscan(rest, &c.status, &c.code) // most have no code
				headers = c.answer
			case "is":
				c.want = rest
			case "has":
				c.holds = append(c.holds, rest)
			case "lacks":
				c.lacks = append(c.lacks, rest)
			case "left":
				key, body, _ := strings.Cut(rest, " ")
				c.after[key] = body
			case "gone":
				c.gone = append(c.gone, rest)
			default:
				if name, isHeader := strings.CutSuffix(word, ":"); isHeader {
					headers[name] = rest
				} else if c.method != "" {
					panic("found a second request in " + paragraph)
				} else {
					c.method, c.path = word, rest
				}
			}
		}
		switch c.source = source; {
		case c.name != "" && c.status != 0:
			cases = append(cases, c)
		case c.name+c.method != "" || c.status != 0 || len(c.answer) > 0 || c.want != "":
			panic("found a case without a name or a status: " + paragraph)
		}
	}
	return cases
}

// answered is an answer that has been read.
type answered struct {
	status int
	header http.Header
	body   string
}

// read reads an answer, and closes it.
func read(response *http.Response) (answered, error) {
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	return answered{response.StatusCode, response.Header, string(body)}, err
}

// roundTrip sends a request without a socket.
func roundTrip(do func(context.Context, Call) (*Answer, error), r *http.Request) (answered, error) {
	response, err := Transport(do).RoundTrip(r)
	if err != nil {
		return answered{}, err
	}
	return read(response)
}

func newWorld(t *testing.T) *Store {
	t.Helper()
	clock := fakeclock.New(fakeclock.Epoch)
	s := New(Options{Clock: clock, Buckets: []string{"pages"}})
	clock.Advance(10*time.Second + 900*time.Millisecond)
	for _, o := range []struct{ path, body string }{{"home", "Hello"}, {"a/1", "a1"}, {"a/2", "a2"}, {"b/1", "b1"},
		{"c%20d&%C3%A9", "escaped"}} {
		r := httptest.NewRequest(http.MethodPut, "/pages/"+o.path, strings.NewReader(o.body))
		if o.path == "home" {
			r.Header = http.Header{
				"Content-Type": {"text/html"}, "Cache-Control": {"max-age=60"}, "X-Amz-Meta-Generation": {"7"},
			}
		}
		if got, err := roundTrip(s.Do, r); err != nil || got.status != http.StatusOK {
			t.Fatalf("%s: %v and %v", o.path, got, err)
		}
	}
	for _, r := range []*http.Request{
		httptest.NewRequest(http.MethodPost, "/pages/parts?uploads", nil),
		httptest.NewRequest(http.MethodPut, thePart(1), strings.NewReader("Hello")),
		httptest.NewRequest(http.MethodPut, thePart(3), strings.NewReader("World")),
	} {
		if got, err := roundTrip(s.Do, r); err != nil || got.status != http.StatusOK {
			t.Fatalf("%s: %v and %v", r.URL, got, err)
		}
	}
	clock.Advance(time.Hour)
	return s
}

// request makes the request of a case, for a server at an address.
func (c *conformanceCase) request(t *testing.T, at string) *http.Request {
	t.Helper()
	r := must.Of(http.NewRequestWithContext(t.Context(), c.method, at+c.path, strings.NewReader(c.body)))(t)
	if strings.HasSuffix(c.path, "?delete") {
		sum := md5.Sum([]byte(c.body))
		r.Header.Set("Content-MD5", base64.StdEncoding.EncodeToString(sum[:]))
	}
	for name, value := range c.header {
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	return r
}

// check compares an answer with that of a case.
func (c *conformanceCase) check(t *testing.T, s *Store, got answered) {
	t.Helper()
	text := got.body
	if got.status != c.status {
		t.Fatalf("got status %d, want %d: %s", got.status, c.status, text)
	}
	if c.code != "" && !strings.Contains(text, "<Error><Code>"+c.code+"</Code>") {
		t.Errorf("got %s, want the code %s", text, c.code)
	}
	if (c.want != "" || c.method == http.MethodHead) && text != c.want {
		t.Errorf("got body %q, want %q", text, c.want)
	}
	for name, want := range c.answer {
		if have := got.header.Get(name); have != want {
			t.Errorf("got %s %q, want %q", name, have, want)
		}
	}
	for _, want := range c.holds {
		if !strings.Contains(text, want) {
			t.Errorf("got %s, want %s in it", text, want)
		}
	}
	for _, not := range c.lacks {
		if strings.Contains(text, not) {
			t.Errorf("got %s, want no %s in it", text, not)
		}
	}
	for key, want := range c.after {
		o, ok := s.buckets["pages"].objects.Get(key)
		if !ok || string(o.body) != want {
			t.Errorf("afterwards: got %v %v at %s, want %s", ok, o, key, want)
		}
	}
	for _, key := range c.gone {
		if _, ok := s.buckets["pages"].objects.Get(key); ok {
			t.Errorf("afterwards: got an object at %s, want none", key)
		}
	}
}

// Both doors obey every rule of the table.
func TestConformance(t *testing.T) {
	for _, c := range conformance {
		t.Run(c.name, func(t *testing.T) {
			if !strings.HasPrefix(c.source, "https://docs.aws.amazon.com/") && c.source != provider {
				t.Errorf("the source is %q", c.source)
			}
			s := newWorld(t)
			got, err := roundTrip(s.Do, c.request(t, "https://s3.us-east-1.isr-sim.invalid"))
			must.OK(t, err)
			c.check(t, s, got)

			s = newWorld(t)
			server := httptest.NewServer(s.Handler())
			defer server.Close()
			response, err := server.Client().Do(c.request(t, server.URL))
			must.OK(t, err)
			if got, err = read(response); err != nil {
				t.Fatal(err)
			}
			c.check(t, s, got)
		})
	}
}

// The table has a success and a refusal of each operation.
func TestConformanceIsWhole(t *testing.T) {
	seen := map[string]map[bool]bool{}
	for _, c := range conformance {
		s := newWorld(t)
		do := func(ctx context.Context, call Call) (*Answer, error) {
			a, err := s.Do(ctx, call)
			if seen[call.Operation] == nil {
				seen[call.Operation] = map[bool]bool{}
			}
			seen[call.Operation][a.Code == ""] = true
			return a, err
		}
		must.Done(t)(roundTrip(do, c.request(t, "https://s3.us-east-1.isr-sim.invalid")))
	}
	if !slices.Equal(operationNames(), faults.ObjectOperations) {
		t.Errorf("faults of scenarios know %v, want %v", faults.ObjectOperations, operationNames())
	}
	for _, op := range operationNames() {
		if !seen[op][true] && op != "DeleteBucket" || !seen[op][false] && op != "ListBuckets" {
			t.Errorf("%s: got %v, want a success and a refusal in the table", op, slices.Collect(maps.Keys(seen[op])))
		}
	}
}

// Pages of every size, with and without a delimiter, have every key and common prefix once, in order.
func TestListPages(t *testing.T) {
	s := New(Options{Buckets: []string{"pages"}})
	for _, key := range []string{"a", "a/", "a/1", "a/2/3", "ab", "b/1", "b/2", "c", "é", "\U0001F600"} {
		s.buckets["pages"].objects.Set(key, &object{checksum: checksum{algorithm: algorithms[0]}})
	}
	for _, q := range []string{"", "&delimiter=%2F", "&prefix=a", "&prefix=a%2F&delimiter=%2F",
		"&delimiter=%2F&start-after=a%2F1", "&delimiter=b"} {
		want := listed(t, s, q, "1000")
		for _, size := range []string{"1", "2", "3", "7"} {
			if got := listed(t, s, q, size); !slices.Equal(got, want) {
				t.Errorf("%s in pages of %s: got %q, want %q", q, size, got, want)
			}
		}
	}
}

func listed(t *testing.T, s *Store, query, size string) (names []string) {
	t.Helper()
	token := ""
	for range 20 {
		r := httptest.NewRequest(http.MethodGet, "/pages?list-type=2&max-keys="+size+query+token, nil)
		got := must.Of(roundTrip(s.Do, r))(t)
		for piece := range strings.SplitSeq(got.body, "<") {
			for _, tag := range []string{"Key>", "Prefix>"} {
				if rest, ok := strings.CutPrefix(piece, tag); ok {
					names = append(names, rest)
				}
			}
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
		_, rest, more := strings.Cut(got.body, "<NextContinuationToken>")
		if !more {
			// Each page also has the prefix of the request as an element, once.
			own := r.URL.Query().Get("prefix")
			names = slices.DeleteFunc(names, func(n string) bool { return n == own })
			slices.Sort(names)
			return names
		}
		next, _, _ := strings.Cut(rest, "<")
		token = "&continuation-token=" + next
	}
	t.Fatalf("%s in pages of %s does not end", query, size)
	return nil
}

// An object without a given checksum gets CRC-64/NVME; the expected value is the catalogue's check value.
//
// Source: https://reveng.sourceforge.io/crc-catalogue/all.htm#crc.cat.crc-64-nvme
func TestNVME(t *testing.T) {
	h := algorithms[len(algorithms)-1].new()
	h.Write([]byte("123456789"))
	if got := hex.EncodeToString(h.Sum(nil)); got != "ae8b14860a799888" {
		t.Errorf("got %s, want ae8b14860a799888", got)
	}
}

// A store that ignores a condition answers as if it held, and keeps all others.
func TestStoresThatIgnoreConditions(t *testing.T) {
	const other = `"00000000000000000000000000000000"`
	requests := []struct{ method, path, condition, value, ignoredBy string }{
		{http.MethodPut, "/pages/home", "If-Match", other, "digitalocean"},
		{http.MethodPut, "/pages/none", "If-Match", other, "digitalocean minio"},
		{http.MethodPut, "/pages/home", "If-None-Match", "*", "incus"},
		{http.MethodDelete, "/pages/home", "If-Match", other, "hetzner minio"},
		{http.MethodGet, "/pages/home", "If-Match", other, ""},
	}
	for _, like := range append(promise.ObjectStores(), "") {
		for _, c := range requests {
			s := newWorld(t)
			s.like = New(Options{Like: like}).like
			r := httptest.NewRequest(c.method, c.path, strings.NewReader("new"))
			r.Header.Set(c.condition, c.value)
			got, err := roundTrip(s.Do, r)
			ignored := like != "" && strings.Contains(c.ignoredBy, like)
			if err != nil || got.status < 300 != ignored {
				t.Errorf("%s: %+v: got %v and %v", like, c, got, err)
			}
		}
	}
	defer func() {
		if said := fmt.Sprint(recover()); !strings.Contains(said, "found mini, expected one of aws, ") {
			t.Errorf("got %q", said)
		}
	}()
	New(Options{Like: "mini"})
}
