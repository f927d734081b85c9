package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/valyala/fasthttp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
)

// chunked is a PutItem whose body comes in chunks.
func chunked(chunks string) string {
	return strings.Replace(head(0), "Content-Length: 0", "Transfer-Encoding: chunked", 1) + chunks
}

// put returns a whole PutItem request of the row with this key.
func put(pk string, headers ...string) string {
	body := strings.Replace(putA, `"a"`, `"`+pk+`"`, 1)
	return head(len(body), headers...) + body
}

// keys returns the keys of the present rows.
func (s *served) keys() string {
	var keys []string
	for _, row := range s.db.Items("cache") {
		keys = append(keys, row["pk"].String())
	}
	return strings.Join(keys, " ")
}

// answered is an answer that was read.
type answered struct {
	status int
	header http.Header
	body   string
}

// answers sends a text and returns all answers that come until the server closes the connection.
func (s *served) answers(text string) (answers []answered) {
	s.t.Helper()
	r := bufio.NewReader(s.open(text))
	method, _, _ := strings.Cut(text, " ")
	for {
		if _, err := r.Peek(1); err != nil {
			return answers
		}
		response, err := http.ReadResponse(r, &http.Request{Method: method})
		must.OK(s.t, err)
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		must.OK(s.t, err)
		answers = append(answers, answered{response.StatusCode, response.Header, string(body)})
	}
}

// HTTP permits everything that these clients do with a request and its connection.
func TestServerSpeaksHTTP(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(w, putA)
	_ = w.Close()
	const last = "Connection: close\r\n"
	for _, test := range []struct {
		name, text string
		want       []int  // the status of each answer, until the server closes the connection
		rows       string // that exist then
	}{
		{"close", put("a", last), []int{200}, `"a"`},
		{"close in capitals, among others", put("a", "Connection: TE, Close\r\n"), []int{200}, `"a"`},
		{"kept", put("a") + put("b", last), []int{200, 200}, `"a" "b"`},
		{"kept after an error", strings.Replace(put("a"), "PutItem", "Frob", 1) + put("b", last),
			[]int{400, 200}, `"b"`},
		{"kept after a wrong method with a body", strings.Replace(put("a"), "POST", "PUT", 1) + put("b", last),
			[]int{404, 200}, `"b"`},
		{"kept after a page's request with a body", put("a", "Origin: http://evil.example\r\n") + put("b", last),
			[]int{403, 200}, `"b"`},
		{"an empty Origin is one", put("a", "Origin:\r\n", last), []int{403}, ``},
		{"HTTP/1.0 closes", strings.Replace(put("a"), "HTTP/1.1", "HTTP/1.0", 1), []int{200}, `"a"`},
		{"HTTP/1.0 that is kept", strings.Replace(put("a", "Connection: keep-alive\r\n"), "HTTP/1.1", "HTTP/1.0", 1) +
			put("b", last), []int{200, 200}, `"a" "b"`},
		{"HTTP/1.0 without a host",
			strings.Replace(strings.Replace(put("a"), "HTTP/1.1", "HTTP/1.0", 1), "Host: 127.0.0.1\r\n", "", 1),
			[]int{403}, ``},
		{"a whole URL", strings.Replace(put("a", last), "POST /", "POST http://127.0.0.1/", 1), []int{200}, `"a"`},
		{"a whole URL of a foreign name",
			strings.Replace(put("a", last), "POST /", "POST http://evil.example/", 1), []int{403}, ``},
		{"any path", strings.Replace(put("a", last), "POST /", "POST /some/path%20x", 1), []int{200}, `"a"`},
		{"header names in any case",
			strings.NewReplacer("X-Amz-Target", "x-amz-TARGET", "Content-Length", "content-length").
				Replace(put("a", last)), []int{200}, `"a"`},
		{"chunks",
			chunked(fmt.Sprintf("%x\r\n%s\r\n%x;ext=1\r\n%s\r\n0\r\nX-Sum: x\r\n\r\n", 10, putA[:10], len(putA)-
				10, putA[10:])) + put("b", last), []int{200, 200}, `"a" "b"`},
		{"no chunk", chunked("0\r\n\r\n") + put("b", last), []int{400, 200}, `"b"`},
		{"gzip", head(zipped.Len(), "Content-Encoding: gzip\r\n") + zipped.String() + put("b", last),
			[]int{200, 200}, `"a" "b"`},
		{"a body of 9 KB", head(9<<10) + putA + strings.Repeat(" ", 9<<10-len(putA)) + put("b", last),
			[]int{200, 200}, `"a" "b"`},
		{"a question before a body that is too long", head(17<<20, "Expect: 100-continue\r\n"), []int{413}, ``},
		{"a control request with a long body",
			"POST /_isr-sim/clock HTTP/1.1\r\nHost: localhost\r\nContent-Length: 17825792\r\n\r\n{", []int{413}, ``},
		{"health", "GET / HTTP/1.1\r\nHost: localhost\r\n" + last + "\r\n", []int{200}, ``},
		{"head", "HEAD /_isr-sim/clock HTTP/1.1\r\nHost: localhost\r\n" + last + "\r\n", []int{200}, ``},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, serveLimits)
			var got []int
			answers := s.answers(test.text)
			for _, answer := range answers {
				got = append(got, answer.status)
				server := "" // the control API has no such header
				if answer.header.Get("X-Amz-Crc32") != "" {
					server = httpdoor.Server
				}
				if answer.header.Get("Date") == "" || answer.header.Get("Server") != server {
					t.Errorf("got headers %v, want a date and the server %q", answer.header, server)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %+v, want answers %v", answers, test.want)
			}
			if got := s.keys(); got != test.rows {
				t.Errorf("got rows %s, want %s", got, test.rows)
			}
		})
	}
}

// A request is not served if its client disconnects before the end of the body, wherever the body broke off.
func TestServerClientGone(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a length":              head(len(putA)+1) + putA,
		"a length of 9 KB":      head(9<<10+1) + putA + strings.Repeat(" ", 9<<10-len(putA)),
		"in a chunk":            chunked(fmt.Sprintf("%x\r\n%s", len(putA), putA)),
		"before the last chunk": chunked(fmt.Sprintf("%x\r\n%s\r\n", len(putA), putA)),
		"in the last chunk":     chunked(fmt.Sprintf("%x\r\n%s\r\n0\r\n", len(putA), putA)),
		"in the body of a control": "POST /_isr-sim/faults HTTP/1.1\r\nHost: localhost\r\n" +
			"Content-Type: application/json\r\nContent-Length: 90\r\n\r\n" + `{"faults":["throttled"]}`,
		"in the header":             put("a")[:30],
		"before it sends anything":  "",
		"in a body of another host": put("a", "Host: evil.example\r\n")[:200],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, serveLimits)
			conn := s.dial()
			send(t, conn, text)
			must.OK(t, conn.(*net.TCPConn).CloseWrite())
			cutOff(t, conn)
			if rows, faults := s.keys(), s.db.Injected(); rows != "" || len(faults) > 0 {
				t.Errorf("half a request made rows %s and faults %v", rows, faults)
			}
		})
	}
}

// A client may close its side of the connection after sending its whole request.
func TestServerHalfClosed(t *testing.T) {
	t.Parallel()
	s := startServer(t, serveLimits)
	conn := s.dial()
	send(t, conn, put("a"))
	must.OK(t, conn.(*net.TCPConn).CloseWrite())
	if got := statusOf(t, bufio.NewReader(conn)); got != http.StatusOK {
		t.Errorf("got %d, want 200", got)
	}
}

// A lost request and a lost response reset the connection; earlier answers arrive.
func TestServerBreaksConnections(t *testing.T) {
	t.Parallel()
	for kind, rows := range map[ddbfake.FaultKind]string{
		ddbfake.FaultRequestLost: `"a"`, ddbfake.FaultResponseLost: `"a" "b"`,
	} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			s := startServer(t, serveLimits)
			s.db.Inject(ddbfake.Fault{Kind: kind, Nth: 2})
			conn := s.dial()
			send(t, conn, put("a")+put("b")+put("c"))
			r := bufio.NewReader(conn)
			if got := statusOf(t, r); got != http.StatusOK {
				t.Errorf("before: got %d, want 200", got)
			}
			if _, err := r.ReadByte(); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("got %v, want the connection reset", err)
			}
			if got := s.keys(); got != rows {
				t.Errorf("got rows %s, want %s", got, rows)
			}
			if got := statusOf(t, bufio.NewReader(s.open(put("d")))); got != http.StatusOK {
				t.Errorf("after: got %d, want 200", got)
			}
		})
	}
}

// open sends a text over a new connection.
func (s *served) open(text string) net.Conn {
	s.t.Helper()
	conn := s.dial()
	send(s.t, conn, text)
	return conn
}

// A handler's panic does not end the server, and is reported.
func TestServerSurvivesPanics(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	d := newDoor(t.Context(), nil,
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("no control") }), nil, &said)
	listener := must.Of(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(t.Context())
	s := &served{t: t, address: listener.Addr().String()}
	ended := make(chan error, 1)
	go func() { ended <- serveHTTP(ctx, listener, d.serve, statusTooLarge, serveLimits, nil) }()
	for _, text := range []string{put("a"), "GET /_isr-sim HTTP/1.1\r\nHost: localhost\r\n\r\n"} {
		if _, err := io.ReadAll(s.open(text)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %v, want the connection reset", err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if n := strings.Count(said.String(), "a request broke the server"); n != 2 {
		t.Errorf("%d panics are reported, want 2: %s", n, said.String())
	}
}

// A request's context derives from the server's. If it derived from fasthttp's, it would race with fasthttp.
func TestRequestsHaveTheContextOfTheServer(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	seen := make(chan context.Context, 1)
	d := newDoor(ctx, nil, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Context() }), nil,
		io.Discard)
	var request fasthttp.RequestCtx
	request.Init(&fasthttp.Request{}, nil, nil)
	d.others(&request)
	got := <-seen
	if _, ok := got.(*fasthttp.RequestCtx); ok {
		t.Error("got the context of fasthttp")
	}
	stop()
	if got.Err() == nil {
		t.Error("the context of a request outlives the server")
	}
}

// flaky fails before it accepts.
type flaky struct {
	net.Listener
	failures []error
}

// Accept fails the given number of times, and then accepts.
func (f *flaky) Accept() (net.Conn, error) {
	if len(f.failures) > 0 {
		err := f.failures[0]
		f.failures = f.failures[1:]
		return nil, &net.OpError{Op: "accept", Err: err}
	}
	return f.Listener.Accept()
}

// With too many open files the server waits, and then continues.
func TestServerAcceptFails(t *testing.T) {
	t.Parallel()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	handler := func(ctx *fasthttp.RequestCtx) { ctx.SetStatusCode(http.StatusOK) }
	go func() {
		ended <- serveHTTP(ctx, &flaky{socket, []error{syscall.EMFILE, syscall.ECONNABORTED}}, handler,
			statusTooLarge, serveLimits, nil)
	}()
	s := &served{t: t, address: socket.Addr().String()}
	if got := statusOf(t, bufio.NewReader(s.open("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"))); got != http.StatusOK {
		t.Errorf("got %d, want 200", got)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}

	broken := errors.New("broken")
	err = serveHTTP(t.Context(), &flaky{socket, []error{broken}}, handler, statusTooLarge, serveLimits, nil)
	if !errors.Is(err, broken) {
		t.Errorf("the server ended with %v, want %v", err, broken)
	}
}

// A deadline that moves only slightly later is not set again. One that moves earlier is always set.
func TestDeadlineDue(t *testing.T) {
	start := time.Unix(2208988800, 0)
	d := deadline{slack: time.Second}
	for _, step := range []struct {
		at   time.Duration
		want bool
	}{
		{time.Minute, true}, {time.Minute, false}, {time.Minute + time.Second, false},
		{time.Minute + time.Second + 1, true}, {time.Minute, true}, {10 * time.Second, true}, {11 * time.Second, false},
		{9 * time.Second, true},
	} {
		d.at = start.Add(step.at)
		if got := d.due(); got != step.want {
			t.Errorf("moved to %v: got %t, want %t", step.at, got, step.want)
		}
	}
	d.at = time.Time{} // none
	if !d.due() || d.due() {
		t.Error("taking the deadline away is not due once")
	}
}

// A client cannot tell this server from net/http's with the same handlers.
func TestServerAnswersAsNetHTTP(t *testing.T) {
	t.Parallel()
	const last = "Connection: close\r\n"
	control := func(method, path, body string) string {
		return fmt.Sprintf("%s /_isr-sim%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
			"Content-Length: %d\r\n%s\r\n%s", method, path, len(body), last, body)
	}
	replace := func(old, now string) string { return strings.Replace(put("a", last), old, now, 1) }
	for name, text := range map[string]string{
		"a put":                  put("a", last),
		"a condition that fails": replace(`"a"}}`, `"a"}},"ConditionExpression":"attribute_exists(pk)"`),
		"no table":               replace(`"TableName":"cache"`, `"TableName":"other"`),
		"no target":              replace("X-Amz-Target", "X-Nothing"),
		"no credentials":         replace("Authorization", "X-Nothing"),
		"presigned": strings.Replace(replace("Authorization", "X-Nothing"), "POST /",
			"POST /?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a%2F20400101%2Fus-east-1%2Fdynamodb%2Faws4_request", 1),
		"no content type":         replace("Content-Type", "X-Nothing"),
		"another path":            replace("POST /", "POST /a//b/../c"),
		"an escaped path":         replace("POST /", "POST /%5Fisr-sim/clock"),
		"a path that is nearly":   replace("POST /", "POST /_isr-simulator"),
		"a wrong method":          replace("POST", "DELETE"),
		"a page's":                replace("Host:", "Origin: http://evil.example\r\nHost:"),
		"a page's, by its site":   replace("Host:", "Sec-Fetch-Site: cross-site\r\nHost:"),
		"a page's, of this site":  replace("Host:", "Sec-Fetch-Site: same-origin\r\nHost:"),
		"a foreign name":          replace("127.0.0.1", "evil.example"),
		"a name with a port":      replace("127.0.0.1", "LOCALHOST.:8000"),
		"an IPv6 address":         replace("127.0.0.1", "[::1]:8000"),
		"health":                  "GET / HTTP/1.1\r\nHost: localhost\r\n" + last + "\r\n",
		"health with a query":     "GET /?a=b HTTP/1.1\r\nHost: localhost\r\n" + last + "\r\n",
		"head":                    "HEAD / HTTP/1.1\r\nHost: localhost\r\n" + last + "\r\n",
		"the control API":         control("GET", "", ""),
		"its clock":               control("GET", "/clock", ""),
		"its clock, by head":      control("HEAD", "/clock", ""),
		"its clock, moved":        control("POST", "/clock", `{"advance":"90s"}`),
		"its clock, not moved":    control("POST", "/clock", `{"advance":"-90s"}`),
		"its faults":              control("DELETE", "/faults", ""),
		"a wrong method of it":    control("PATCH", "/faults", ""),
		"a query of it":           control("GET", "/changes?since=0", ""),
		"a wrong query of it":     control("GET", "/changes?since=x&sinse=1", ""),
		"a path of it that is no": control("GET", "/clocks", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, serveLimits)
			theirs := startServer(t, serveLimits)
			clock := fakeclock.New(fakeclock.Epoch)
			reference := httptest.NewServer(netHTTP(theirs.db.Handler(),
				Options{DB: theirs.db, Control: manual(clock)}))
			defer reference.Close()
			theirs.address = reference.Listener.Addr().String()

			got, want := s.answers(text), theirs.answers(text)
			for _, answers := range [][]answered{got, want} {
				for _, a := range answers {
					a.header.Del("Date")
				}
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(answered{})); diff != "" {
				t.Errorf("(-net/http +this):\n%s", diff)
			}
			if got, want := s.keys(), theirs.keys(); got != want {
				t.Errorf("got rows %s, want %s", got, want)
			}
		})
	}
}

// A request to a proxy, or without a path, is refused.
func TestServerRefusesTargets(t *testing.T) {
	t.Parallel()
	s := startServer(t, serveLimits)
	for _, test := range []struct {
		line string
		want int
	}{
		{"CONNECT 127.0.0.1:443 HTTP/1.1", 405}, {"CONNECT / HTTP/1.1", 405}, {"CONNECT /_isr-sim HTTP/1.1", 405},
		{"GET 127.0.0.1:443 HTTP/1.1", 400}, {"OPTIONS * HTTP/1.1", 400}, {"GET :// HTTP/1.1", 400},
		{"GET http://127.0.0.1/_isr-sim HTTP/1.1", 200},
	} {
		if got := statusOf(t, bufio.NewReader(s.open(test.line+"\r\nHost: 127.0.0.1:443\r\n\r\n"))); got != test.want {
			t.Errorf("%s: got %d, want %d", test.line, got, test.want)
		}
	}
}

// A server that is stopped before it has started ends.
func TestServerStopsAtOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		s := startServer(t, serveLimits)
		s.stop()
		if err := <-s.ended; err != nil {
			t.Errorf("the server ended with %v, want nil", err)
		}
		s.ended <- nil
	}
}

// Request ids are unique, even if some requests go through net/http.
func TestServerRequestIDs(t *testing.T) {
	t.Parallel()
	s := startServer(t, serveLimits)
	elsewhere := strings.Replace(put("a"), "POST /", "POST /%61", 1)
	ids := map[string]bool{}
	for _, answer := range s.answers(put("a") + elsewhere + put("a") + strings.Replace(elsewhere, "Host:",
		"Connection: close\r\nHost:", 1)) {
		ids[answer.header.Get("X-Amzn-Requestid")] = true
	}
	if len(ids) != 4 {
		t.Errorf("four requests have the ids %v", ids)
	}
}
