// Package serve is the server of isr-sim serve: the fake and its control API over HTTP, for clients in any language.
//
// fasthttp serves the calls of DynamoDB, with less than half of the processor time per request that net/http takes.
//
// # Floods
//
// A flood of unfinished requests must not keep other clients waiting. So the number of open connections is bounded, and
// so is the memory of all bodies together. A client is proven once it has sent a complete request. If connections or
// memory run out, unproven clients that keep the server waiting are dropped first. TestFlood measures how long other
// clients wait.
//
// # Time
//
// The server lives in real time, with the deadlines and waits of sockets. The fake has its own clock: see ParseClock.
package serve

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/internal/wire/hostname"
	"github.com/isr-sim/isr-sim/internal/wire/httpbody"
	"github.com/isr-sim/isr-sim/s3fake"
	"github.com/isr-sim/isr-sim/scenario/live"
)

type limits struct {
	header time.Duration // until a header and a short body have arrived
	body   time.Duration // from the header until a longer body has arrived
	answer time.Duration // until the client has taken its answer
	idle   time.Duration // between two requests of a connection
	drain  time.Duration // from the stop of the server until the requests in progress have ended

	headerBytes int // of the longest header
	connections int // open at a time
	bodyBytes   int // the bytes of all bodies in transfer that need room
	answerBytes int // the bytes of all answers that are being written and are longer than keepBody
	queue       int // how many unproven clients may wait for room for a body
	unread      int // bytes of a connection that the system buffers until they are read

	// If connections or room for bodies run out, a client that has kept the server waiting for longer than this is
	// dropped.
	unproven time.Duration // for unproven clients
	silence  time.Duration // for proven clients
}

// patience is how long a client may keep the server waiting while connections or room for bodies are short.
func (l limits) patience(proven bool) time.Duration {
	if proven {
		return l.silence
	}
	return l.unproven
}

// serveLimits are the limits of isr-sim serve. Its clients are on the same machine or nearby, and send bodies of up to
// 16 MB.
var serveLimits = limits{
	header:      10 * time.Second,
	body:        30 * time.Second,
	answer:      time.Minute,
	idle:        2 * time.Minute,
	drain:       3 * time.Second,
	headerBytes: 64 << 10,
	connections: 1000,
	bodyBytes:   64 << 20,
	answerBytes: 64 << 20,
	queue:       256,
	unread:      128 << 10,
	unproven:    5 * time.Millisecond,
	silence:     time.Second,
}

// keepBody is the size of the largest buffer that a connection keeps for its next body.
const keepBody = 64 << 10

// ballast is memory that is allocated and never touched, so that it costs address space only. The garbage collector
// runs when the heap has doubled. A heap of a few rows would double all the time; with the ballast it rarely does. The
// price is garbage in memory, up to the size of the ballast.
const ballast = 32 << 20

// serveHTTP serves until ctx is done. Then requests in progress have limits.drain to end; the rest are cut off, without
// an error. With a certificate, it serves TLS only.
//
// tooLarge answers an Expect: 100-continue for a body over maxBody, and returns the status.
func serveHTTP(
	ctx context.Context, socket net.Listener, handler fasthttp.RequestHandler,
	tooLarge func(*fasthttp.RequestCtx) int, l limits,
	certificate *tls.Certificate,
) error {
	untouched := make([]byte, ballast)
	defer runtime.KeepAlive(untouched)
	fasthttp.SetBodySizePoolLimit(keepBody, keepBody)
	listener := newListener(ctx, socket, l)
	server := &fasthttp.Server{
		Handler:        handler,
		ErrorHandler:   refuseUnread,
		ExpectHandler:  func(ctx *fasthttp.RequestCtx) int { return expected(ctx, tooLarge) },
		Logger:         silent{},
		ReadTimeout:    l.header,
		WriteTimeout:   l.answer,
		IdleTimeout:    l.idle,
		ReadBufferSize: l.headerBytes,
		HeaderReceived: func(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
			var c fasthttp.RequestConfig
			if n := h.ContentLength(); n < 0 || n > shortBody {
				c.ReadTimeout = l.body
				if n > maxBody {
					c.MaxRequestBodySize = 1 // the body is refused as soon as it begins
				}
			}
			return c
		},
		// The handler reads the body itself, because it knows how much to read. So a long body gets its memory while it
		// arrives, and not as soon as the header announces its length.
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		CloseOnShutdown:              true,
		SecureErrorLogMessage:        true, // errors do not quote the header, which may be long
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(secured(listener, certificate)) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.drain)
	defer cancel()
	err := server.ShutdownWithContext(bound)
	_ = listener.Close() // Shutdown does so only if Serve has begun
	listener.cutOff()
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return <-served
}

const (
	maxBody   = httpbody.MaxBytes
	shortBody = 4 << 10
)

// expected answers a client that asks before it sends its body.
func expected(ctx *fasthttp.RequestCtx, tooLarge func(*fasthttp.RequestCtx) int) int {
	if misframed(&ctx.Request.Header) {
		linger(ctx)
		return http.StatusBadRequest
	}
	if ctx.Request.Header.ContentLength() > maxBody {
		return tooLarge(ctx)
	}
	return http.StatusContinue
}

// statusTooLarge answers with the status alone.
func statusTooLarge(ctx *fasthttp.RequestCtx) int {
	linger(ctx)
	return http.StatusRequestEntityTooLarge
}

// misframed reports whether a header leaves unclear where its body ends: it has both Content-Length and
// Transfer-Encoding, or an encoding other than chunked. A proxy might then see another end of the body.
//
// Source: https://www.rfc-editor.org/rfc/rfc9112#section-6.1
func misframed(h *fasthttp.RequestHeader) bool {
	length, encoding := false, false
	for line := range bytes.Lines(h.RawHeaders()) {
		if len(line) == 0 || line[0]|' ' != 'c' && line[0]|' ' != 't' {
			continue
		}
		name, _, _ := bytes.Cut(line, []byte(":"))
		length = length || bytes.EqualFold(name, []byte("Content-Length"))
		encoding = encoding || bytes.EqualFold(name, []byte("Transfer-Encoding"))
	}
	const chunked = -1
	return encoding && (length || h.ContentLength() != chunked)
}

// refuseUnread answers a client whose bytes are not a valid request.
func refuseUnread(ctx *fasthttp.RequestCtx, err error) {
	status := http.StatusBadRequest
	if _, ok := errors.AsType[*fasthttp.ErrSmallBuffer](err); ok {
		status = http.StatusRequestHeaderFieldsTooLarge
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		status = http.StatusRequestTimeout
	}
	ctx.Error(http.StatusText(status)+"\n", status)
	linger(ctx)
}

// silent is the log for clients' mistakes. It drops them, because the clients get an answer.
type silent struct{}

// Printf does nothing.
func (silent) Printf(string, ...any) {}

// Options configure a server.
type Options struct {
	DB      *ddbfake.DB
	Control control.Options
	Hosts   []string      // names of this machine, in addition to localhost and addresses
	CORS    []string      // origins of web pages that may use DynamoDB and the control API
	Log     io.Writer     // gets a line for each request that broke the server
	Checker *live.Checker // judges the changes before a request is answered; nil judges nothing
	// Certificate is the certificate of a server with TLS, for both sockets. Clients may then call the server by the
	// service's own host names, too. Nil means a server without TLS.
	Certificate *tls.Certificate

	S3       *s3fake.Store // the store that is served on S3Socket; nil serves none
	S3Socket net.Listener
}

// Run serves until ctx is done. Requests in progress then get three seconds to end.
func Run(ctx context.Context, socket net.Listener, o Options) error {
	if o.Certificate != nil {
		o.Hosts = append(slices.Clone(o.Hosts), hostname.OfService)
	}
	o.Control.S3 = o.S3
	if o.S3 != nil {
		return runBoth(ctx, socket, o)
	}
	return serveHTTP(ctx, socket, newHandler(ctx, o), statusTooLarge, serveLimits, o.Certificate)
}

// Listen opens the socket of a server, at a host:port.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	config := net.ListenConfig{Control: smallSegments}
	return config.Listen(ctx, "tcp", address)
}

// Reachable returns the address at which this machine reaches a listener: the loopback address if it listens on every
// interface.
func Reachable(addr net.Addr) string {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil || !at.Addr().IsUnspecified() {
		return addr.String()
	}
	return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), at.Port()).String()
}
