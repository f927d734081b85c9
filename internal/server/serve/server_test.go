package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/server/control"
)

// patience is how long a test waits for an event that should come much earlier.
const patience = 10 * time.Second

// served is a server under test: the server of isr-sim serve, with other limits.
type served struct {
	t       *testing.T
	address string
	db      *ddbfake.DB
	stop    context.CancelFunc
	ended   chan error
}

func startServer(t *testing.T, l limits) *served {
	t.Helper()
	return startWith(t, l, func(*Options) {})
}

func startWith(t *testing.T, l limits, change func(*Options)) *served {
	t.Helper()
	clock := fakeclock.New(fakeclock.Epoch)
	o := Options{DB: ddbfake.New(ddbfake.Options{Clock: clock}), Control: manual(clock), Log: io.Discard}
	create(t, o.DB)
	change(&o)
	listener := must.Of(Listen(t.Context(), "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(t.Context())
	s := &served{t, listener.Addr().String(), o.DB, stop, make(chan error, 1)}
	handler := newHandler(ctx, o)
	go func() { s.ended <- serveHTTP(ctx, listener, handler, statusTooLarge, l, o.Certificate) }()
	t.Cleanup(func() {
		stop()
		if err := <-s.ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		s.ended <- nil
	})
	return s
}

// running runs a server until the test is over, and returns its address.
func running(t *testing.T, o Options) string {
	t.Helper()
	socket := must.Of(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, socket, o) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return socket.Addr().String()
}

// manual returns the options of a control API whose clock only requests move.
func manual(clock control.Clock) control.Options { return control.Options{Clock: clock} }

// dial opens a connection that cannot hang a test.
func (s *served) dial() net.Conn {
	s.t.Helper()
	deadline, _ := s.t.Deadline()
	return dial(s.t, s.address, deadline.Add(-time.Second))
}

// dial opens a connection with a deadline, which the test closes at its end.
func dial(t *testing.T, address string, until time.Time) net.Conn {
	t.Helper()
	conn := must.Of(net.Dial("tcp", address))(t)
	t.Cleanup(func() { conn.Close() })
	must.OK(t, conn.SetDeadline(until))
	return conn
}

func head(bodyBytes int, more ...string) string {
	return "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-amz-json-1.0\r\n" +
		"X-Amz-Target: DynamoDB_20120810.PutItem\r\n" +
		"Authorization: AWS4-HMAC-SHA256 Credential=alice/20400101/us-east-1/dynamodb/aws4_request, " +
		"SignedHeaders=host, Signature=0\r\n" +
		fmt.Sprintf("Content-Length: %d\r\n", bodyBytes) + strings.Join(append(more, "\r\n"), "")
}

const putA = `{"TableName":"cache","Item":{"pk":{"S":"a"}}}`

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	must.Done(t)(io.WriteString(conn, text))
}

func statusOf(t *testing.T, r *bufio.Reader) int {
	t.Helper()
	response, err := http.ReadResponse(r, nil)
	must.OK(t, err)
	defer response.Body.Close()
	must.Done(t)(io.Copy(io.Discard, response.Body))
	return response.StatusCode
}

// cutOff asserts that the server closes a connection without an answer, or with a refusal.
func cutOff(t *testing.T, conn net.Conn) {
	t.Helper()
	got, err := io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("the server did not close the connection")
	}
	if strings.HasPrefix(string(got), "HTTP/1.1 200") {
		t.Errorf("got %q, want no answer to half a request", got)
	}
}

func TestServerCutsOffSlowRequests(t *testing.T) {
	t.Parallel()
	l := serveLimits
	l.header, l.body, l.idle = 50*time.Millisecond, 100*time.Millisecond, 50*time.Millisecond
	for name, text := range map[string]string{
		"silent from the start": "",
		"half a request line":   "POS",
		"half a header":         "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
		"no body":               head(len(putA)),
		"half a body":           head(len(putA)) + putA[:10],
		"a chunk that is none": strings.Replace(head(0), "Content-Length: 0", "Transfer-Encoding: chunked", 1) +
			"zz\r\n\r\n",
		"half a chunk": strings.Replace(head(0), "Content-Length: 0", "Transfer-Encoding: chunked", 1) +
			"ffff\r\n{",
		"half a control body": "POST /_isr-sim/clock HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
			"Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, l)
			conn := s.dial()
			send(t, conn, text)
			cutOff(t, conn)
			if n := len(s.db.Changes()); n != 0 {
				t.Errorf("half a request made %d changes", n)
			}
		})
	}
	t.Run("idle after a request", func(t *testing.T) {
		t.Parallel()
		s := startServer(t, l)
		conn := s.dial()
		send(t, conn, head(len(putA))+putA)
		r := bufio.NewReader(conn)
		if got := statusOf(t, r); got != http.StatusOK {
			t.Errorf("got %d, want 200", got)
		}
		if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("got %v, want the connection closed", err)
		}
	})
}

// A request with a mistake is refused with a status, and the next one is served.
func TestServerRefuses(t *testing.T) {
	t.Parallel()
	s := startServer(t, serveLimits)
	const target = "DynamoDB_20120810.PutItem"
	replace := func(old, now string) string { return strings.Replace(head(len(putA)), old, now, 1) + putA }
	for _, test := range []struct {
		name, text string
		want       int
	}{
		{"no HTTP", "\x16\x03\x01\r\n\r\n", 400},
		{"a header of 1 MB", head(0, "X-Long: "+strings.Repeat("x", 1<<20)+"\r\n"), 431},
		{"a body of 17 MB, of which little is sent", head(17<<20) + "{", 413},
		{"a body of 17 MB in one chunk",
			strings.Replace(head(0), "Content-Length: 0", "Transfer-Encoding: chunked", 1) +
				"1100000\r\n" + strings.Repeat(" ", 17<<20) + "\r\n0\r\n\r\n", 413},
		{"two lengths", head(len(putA), "Content-Length: 7\r\n") + putA, 400},
		{"a length and chunks", head(len(putA), "Transfer-Encoding: chunked\r\n") +
			fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(putA), putA), 400},
		{"chunks and a length",
			"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTRANSFER-ENCODING: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n",
			400},
		{"a length and chunks, asked before",
			head(len(putA), "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n"), 400},
		{"a length and no chunks", head(len(putA), "Transfer-Encoding: identity\r\n") + putA, 400},
		{"gzip that is none", head(len(putA), "Content-Encoding: gzip\r\n") + putA, 400},
		{"a region that is none", replace("us-east-1", "us:east"), 400},
		{"a thousand headers", head(len(putA), strings.Repeat("X-One: more\r\n", 1000)) + putA, 200},
		{"bad JSON", head(1) + "{", 400},
		{"no JSON at all", head(0), 400},
		{"deep JSON", head(200_000) + strings.Repeat("[", 200_000), 400},
		{"a wrong target", replace(target, "Kinesis_20131202.PutRecord"), 400},
		{"an unknown operation", replace(target, "DynamoDB_20120810.Frob"), 400},
		{"a wrong method", replace("POST", "PUT"), 404},
		{"a browser's question", replace("POST", "OPTIONS"), 404},
		{"a page's form", replace("application/x-amz-json-1.0", "text/plain"), 404},
		{"a browser", replace("Host:", "Origin: http://evil.example\r\nHost:"), 403},
		{"a foreign name", replace("127.0.0.1", "evil.example"), 403},
		{"no host", replace("Host: 127.0.0.1\r\n", ""), 400},
		{"no credentials", replace("Authorization", "X-Nothing"), 400},
		{"a control path that is none", "GET /_isr-sim/x HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
		{"unknown members are ignored, as the service does", head(len(putA)+8) + `{"X":{},` + putA[1:] + " ", 200},
		{"what is right", head(len(putA)) + putA, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn := s.dial()
			defer conn.Close()
			// The refusal may come, and break the connection, before the whole text is sent.
			go func() { _, _ = io.WriteString(conn, test.text) }()
			if got := statusOf(t, bufio.NewReader(conn)); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
	if n := len(s.db.Changes()); n != 1 {
		t.Errorf("got %d changes, want 1: what is refused changes nothing", n)
	}
}

// A client that does not take its answer delays no others, and is cut off.
func TestServerCutsOffSlowReaders(t *testing.T) {
	t.Parallel()
	l := serveLimits
	l.answer = 200 * time.Millisecond
	s := startServer(t, l)
	var keys []string
	for i := range 40 { // 16 MB, more than the buffers of a connection hold
		pk := fmt.Sprint(i)
		row := attr.Item{"pk": attr.S(pk), "body": attr.S(strings.Repeat("x", 390<<10))}
		must.OK(t, s.db.Put("cache", row))
		keys = append(keys, `{"pk":{"S":"`+pk+`"}}`)
	}
	get := `{"RequestItems":{"cache":{"Keys":[` + strings.Join(keys, ",") + `]}}}`
	slow := s.dial()
	send(t, slow, strings.Replace(head(len(get)), "PutItem", "BatchGetItem", 1)+get)
	other := s.dial()
	send(t, other, head(len(putA))+putA)
	if got := statusOf(t, bufio.NewReader(other)); got != http.StatusOK {
		t.Errorf("another client: got %d, want 200", got)
	}
	// A client that sends and never reads learns that it was cut off.
	more := make([]byte, 64<<10)
	for {
		if _, err := slow.Write(more); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the server did not close the connection")
			}
			return
		}
	}
}

// There may be more clients than connections: those over the limit wait, and all are served.
func TestServerManyConnections(t *testing.T) {
	t.Parallel()
	l := serveLimits
	l.connections = 4
	l.unproven, l.silence = patience, patience // a slow machine must not make a client seem slow
	s := startServer(t, l)
	var held []net.Conn
	for range l.connections {
		conn := s.dial()
		send(t, conn, head(len(putA))+putA)
		if got := statusOf(t, bufio.NewReader(conn)); got != http.StatusOK {
			t.Fatalf("got %d, want 200", got)
		}
		held = append(held, conn)
	}
	waiting := s.dial()
	send(t, waiting, head(len(putA))+putA)
	// a socket knows only real time
	if err := waiting.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := waiting.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the fifth of four connections: got %v, want it to wait", err)
	}
	must.OK(t, waiting.SetReadDeadline(time.Time{}))
	for _, conn := range held {
		conn.Close()
	}
	if got := statusOf(t, bufio.NewReader(waiting)); got != http.StatusOK {
		t.Errorf("once there is room: got %d, want 200", got)
	}
	waiting.Close()

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			response, err := client.Get("http://" + s.address + "/")
			if err != nil {
				t.Error(err)
				return
			}
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("got %d, want 200", response.StatusCode)
			}
		})
	}
	all.Wait()
}

// inFlight sends half a request and returns once the server reads its body.
func (s *served) inFlight() (net.Conn, *bufio.Reader) {
	s.t.Helper()
	conn := s.dial()
	send(s.t, conn, head(len(putA), "Expect: 100-continue\r\n"))
	r := bufio.NewReader(conn)
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		s.t.Fatalf("got %q and %v, want 100 Continue", line, err)
	}
	if _, err := r.ReadString('\n'); err != nil {
		s.t.Fatal(err)
	}
	return conn, r
}

// A request in progress may end; a new connection is refused.
func TestServerStopsGracefully(t *testing.T) {
	t.Parallel()
	s := startServer(t, serveLimits)
	conn, r := s.inFlight()
	s.stop()
	for { // until the listener is closed
		late, err := net.Dial("tcp", s.address)
		if err != nil {
			break
		}
		late.Close()
	}
	send(t, conn, putA)
	if got := statusOf(t, r); got != http.StatusOK {
		t.Errorf("a request under way: got %d, want 200", got)
	}
	err := <-s.ended
	if err != nil {
		t.Errorf("the server ended with %v, want nil", err)
	}
	s.ended <- nil
	if n := len(s.db.Changes()); n != 1 {
		t.Errorf("got %d changes, want 1", n)
	}
}

// A request that does not end is cut off.
func TestServerStopsInTime(t *testing.T) {
	t.Parallel()
	l := serveLimits
	l.drain = 50 * time.Millisecond
	s := startServer(t, l)
	conn, _ := s.inFlight()
	s.stop()
	if err := <-s.ended; err != nil {
		t.Errorf("the server ended with %v, want nil", err)
	}
	s.ended <- nil
	cutOff(t, conn)
	if n := len(s.db.Changes()); n != 0 {
		t.Errorf("got %d changes, want none", n)
	}
}

func TestReachable(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:8000": "127.0.0.1:8000", "[::1]:8000": "[::1]:8000", "0.0.0.0:8000": "127.0.0.1:8000",
		"[::]:8000": "127.0.0.1:8000", "192.0.2.7:1": "192.0.2.7:1",
	} {
		addr := must.Of(net.ResolveTCPAddr("tcp", address))(t)
		if got := Reachable(addr); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}

func TestWallClock(t *testing.T) {
	real := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	start := real
	c := &wallClock{real: func() time.Time { return real }}
	want := func(what string, d time.Duration) {
		t.Helper()
		if got := c.Now(); !got.Equal(start.Add(d)) {
			t.Errorf("%s: got start%+v, want start%+v", what, got.Sub(start), d)
		}
	}
	want("at the start", 0)
	real = start.Add(time.Second)
	want("it follows", time.Second)
	real = start
	want("it never goes back", time.Second)
	real = start.Add(2 * time.Second)
	want("it follows again", 2*time.Second)
	c.Advance(time.Hour)
	want("moved ahead", time.Hour+2*time.Second)
	c.Advance(-time.Hour)
	want("not moved back", time.Hour+2*time.Second)
	real = real.Add(time.Second)
	want("it goes on", time.Hour+3*time.Second)
	c.AdvanceTo(start)
	want("not set back", time.Hour+3*time.Second)
	c.AdvanceTo(start.Add(2 * time.Hour))
	want("set", 2*time.Hour)
	real = real.Add(time.Second)
	want("it goes on from there", 2*time.Hour+time.Second)
	var _ control.Clock = c
}
