package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"
)

// connections is how many connections a raw client keeps.
const connections = 8

// raw is a client that sends requests encoded beforehand, over connections that it keeps.
type raw struct {
	conns [connections]struct {
		net.Conn
		*bufio.Reader
	}
}

func dial(tb testing.TB, s *server) *raw {
	tb.Helper()
	at, err := url.Parse(s.Endpoint)
	if err != nil {
		tb.Fatal(err)
	}
	r := &raw{}
	for i := range r.conns {
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { conn.Close() })
		r.conns[i].Conn, r.conns[i].Reader = conn, bufio.NewReaderSize(conn, 1<<14)
	}
	return r
}

// sendAll sends all requests, each connection its share of them one after the other.
func (r *raw) sendAll(requests []*wired) error {
	var group errgroup.Group
	for i := range r.conns {
		group.Go(func() error {
			for n := i; n < len(requests); n += connections {
				if err := r.send(i, requests[n]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func (r *raw) send(i int, request *wired) error {
	conn := r.conns[i]
	request.renew()
	if _, err := conn.Write(request.bytes); err != nil {
		return err
	}
	response, err := http.ReadResponse(conn.Reader, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s: %s", response.Status, body)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// wired is a request as the SDK sends it, byte for byte, but for the ClientRequestToken. The token is new each time, as
// with the SDK: a transaction with an old token would be taken for a repetition.
type wired struct {
	bytes []byte
	token []byte // the part that changes; none if nil
}

var tokens atomic.Uint64

func (w *wired) renew() {
	if w.token != nil {
		copy(w.token, fmt.Appendf(nil, "%012x", tokens.Add(1)))
	}
}

// encode records what the SDK would send to the server.
func encode(tb testing.TB, s *server, inputs []any) (requests []*wired) {
	tb.Helper()
	unique := fmt.Sprintf("%08x-0000-4000-8000-", os.Getpid()) // and twelve digits; servers outlive this process
	var last wired
	c := s.sdk(func(o *dynamodb.Options) {
		o.IdempotencyTokenProvider = fixedToken(unique + "000000000000")
		o.HTTPClient = doFunc(func(request *http.Request) (*http.Response, error) {
			var err error
			last, err = wire(request)
			if at := bytes.Index(last.bytes, []byte(unique)); at >= 0 {
				last.token = last.bytes[at+len(unique):][:12]
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, err
		})
	})
	for _, in := range inputs {
		if err := send(tb.Context(), c, in); err != nil {
			tb.Fatal(err)
		}
		encoded := last
		requests = append(requests, &encoded)
	}
	return requests
}

func wire(request *http.Request) (wired, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return wired{}, err
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n",
		request.Method, request.URL.RequestURI(), request.URL.Host, len(body))
	if err := request.Header.WriteSubset(&text, map[string]bool{"Content-Length": true, "Host": true}); err != nil {
		return wired{}, err
	}
	text.WriteString("\r\n")
	text.Write(body)
	return wired{bytes: text.Bytes()}, nil
}

type doFunc func(*http.Request) (*http.Response, error)

// Do answers one request.
func (f doFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

type fixedToken string

// GetIdempotencyToken returns the token.
func (f fixedToken) GetIdempotencyToken() (string, error) { return string(f), nil }
