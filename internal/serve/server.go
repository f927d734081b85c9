package serve

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/isr-sim/isr-sim/internal/httpbody"
)

// limits are what a server puts up with.
type limits struct {
	header time.Duration // for a request's header to arrive, and for a short body with it
	body   time.Duration // for a body to arrive that is not short, once the header has
	answer time.Duration // for an answer to be taken
	idle   time.Duration // between two requests of a connection
	drain  time.Duration // for requests under way to end when the server stops

	headerBytes int // of a header
	connections int // open at a time
	bodyBytes   int // of all bodies under way, but for the beginning of each
	queue       int // of clients that have sent nothing whole, and wait for room for a body
	unread      int // bytes of a connection that the system holds until they are read

	// When connections or room for bodies run out, whoever has kept the server
	// waiting for so long is dropped: a client that has sent nothing whole, and
	// another one.
	stranger time.Duration
	silence  time.Duration
}

// patience is how long a client may keep the server waiting while there is not
// enough for all. It is proven if it has sent a whole request.
func (l limits) patience(proven bool) time.Duration {
	if proven {
		return l.silence
	}
	return l.stranger
}

// serveLimits are the limits of isr-sim serve. The largest body has 16 MB, and
// clients are near.
var serveLimits = limits{
	header:      10 * time.Second,
	body:        30 * time.Second,
	answer:      time.Minute,
	idle:        2 * time.Minute,
	drain:       3 * time.Second,
	headerBytes: 64 << 10,
	connections: 1000,
	bodyBytes:   64 << 20,
	queue:       256,
	unread:      128 << 10,
	stranger:    5 * time.Millisecond,
	silence:     time.Second,
}

// keepBody is the largest body whose room a connection keeps for its next one.
const keepBody = 64 << 10

// ballast is memory that is taken and never touched, so that it costs address
// space only. The collector runs when the heap has doubled: with so much in it
// at least, that is seldom, where a few rows alone would have it run all the
// time. What it adds to the program's memory is as much garbage.
const ballast = 32 << 20

// serveHTTP serves until ctx is done. Requests under way may then end, within
// limits.drain; what is not done by then is cut off, which is no error.
func serveHTTP(ctx context.Context, socket net.Listener, handler fasthttp.RequestHandler, l limits) error {
	untouched := make([]byte, ballast)
	defer runtime.KeepAlive(untouched)
	fasthttp.SetBodySizePoolLimit(keepBody, keepBody)
	listener := newListener(ctx, socket, l)
	server := &fasthttp.Server{
		Handler:        handler,
		ErrorHandler:   refuseUnread,
		ExpectHandler:  expected,
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
					c.MaxRequestBodySize = 1 // it is refused once it begins
				}
			}
			return c
		},
		// A body is read by whom it is meant for, who knows how much to take.
		// What only says that it is long gets its room when it comes.
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		CloseOnShutdown:              true,
		SecureErrorLogMessage:        true, // errors do not quote the header, which may be long
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
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
func expected(ctx *fasthttp.RequestCtx) int {
	if misframed(&ctx.Request.Header) {
		linger(ctx)
		return http.StatusBadRequest
	}
	if ctx.Request.Header.ContentLength() > maxBody {
		linger(ctx)
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusContinue
}

// misframed reports whether a header leaves open where its body ends: with
// Content-Length beside Transfer-Encoding, or with an encoding other than
// chunked. To a proxy in between, the body might be another one.
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

// refuseUnread answers what could not be read as a request.
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

// silent is a log for what clients do wrong: they are told, nobody else.
type silent struct{}

// Printf does nothing.
func (silent) Printf(string, ...any) {}
