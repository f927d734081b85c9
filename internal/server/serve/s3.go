package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/internal/wire/hostname"
	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
	"github.com/isr-sim/isr-sim/s3fake"
)

// s3door serves the S3 fake through fasthttp, within the same limits as DynamoDB.
type s3door struct {
	ctx   context.Context // the context of calls, which is never cancelled: a call that has begun may finish
	wire  http.RoundTripper
	hosts []string // names of this machine
	log   *slog.Logger
}

// newS3Handler returns the handler of the requests to an S3 fake.
func newS3Handler(ctx context.Context, store *s3fake.Store, o Options) fasthttp.RequestHandler {
	d := &s3door{context.WithoutCancel(ctx), s3fake.Transport(store.Do), o.Hosts,
		slog.New(slog.NewTextHandler(o.Log, nil))}
	return d.serve
}

// runBoth serves DynamoDB and S3 until ctx is done or one of them has failed.
func runBoth(ctx context.Context, socket net.Listener, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	bodies := make(chan error, 1)
	go func() {
		defer cancel()
		bodies <- serveHTTP(ctx, o.S3Socket, newS3Handler(ctx, o.S3, o), s3TooLarge, serveLimits, o.Certificate)
	}()
	err := serveHTTP(ctx, socket, newHandler(ctx, o), statusTooLarge, serveLimits, o.Certificate)
	cancel()
	return errors.Join(err, <-bodies)
}

func (d *s3door) serve(ctx *fasthttp.RequestCtx) {
	body := new(sentBody)
	defer func() {
		body.done()
		if cause := recover(); cause != nil {
			d.log.Error("a request broke the server", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
			drop(ctx)
		}
	}()
	if misframed(&ctx.Request.Header) {
		refuseS3(ctx, http.StatusBadRequest, "InvalidRequest",
			"found Content-Length together with Transfer-Encoding, or an encoding that is not chunked")
		return
	}
	if ctx.IsConnect() {
		refuseS3(ctx, http.StatusMethodNotAllowed, "MethodNotAllowed",
			"The specified method is not allowed against this resource.")
		return
	}
	r, ok := d.request(ctx, body)
	if !ok {
		return
	}
	response, err := d.wire.RoundTrip(r)
	switch {
	case errors.Is(err, errNoRoom):
		refuseS3(ctx, http.StatusServiceUnavailable, "SlowDown", errNoRoom.Error())
		return
	case err != nil:
		drop(ctx)
		return
	}
	if !writeS3(ctx, response) {
		refuseS3(ctx, http.StatusServiceUnavailable, "SlowDown", errNoRoom.Error())
		return
	}
	if !body.ended { // then the connection cannot serve another request
		ctx.SetConnectionClose()
		linger(ctx)
	}
}

// request copies a request, because objects keep its headers, and fasthttp reuses their memory. It refuses requests
// that a web page may have sent, and malformed requests.
func (d *s3door) request(ctx *fasthttp.RequestCtx, body *sentBody) (*http.Request, bool) {
	h := &ctx.Request.Header
	r := &http.Request{Method: string(h.Method()), Host: string(h.Host()), Header: http.Header{}, Body: body}
	for name, value := range h.All() {
		r.Header.Add(string(name), string(value))
		if strings.EqualFold(string(name), "Connection") && closes(value) {
			ctx.Response.SetConnectionClose()
		}
	}
	conn := connOf(ctx.Conn())
	body.wholeBody = wholeBody{stream: ctx.RequestBodyStream(), conn: conn, length: h.ContentLength()}
	if body.stream == nil {
		body.ended = true
		if conn != nil {
			conn.sent()
		}
	}
	switch n := h.ContentLength(); {
	case n >= 0:
		r.ContentLength = int64(n)
	case n == -1:
		r.ContentLength, r.TransferEncoding = -1, []string{"chunked"}
	}
	var err error
	switch r.URL, err = url.ParseRequestURI(string(h.RequestURI())); {
	case err != nil:
		refuseS3(ctx, http.StatusBadRequest, "InvalidURI", "Couldn't parse the specified URI.")
	case r.Header["Origin"] != nil:
		refuseS3(ctx, http.StatusForbidden, "AccessDenied",
			"isr-sim: a request with an Origin header is a browser's, and no page is a client here")
	case slices.Contains(r.Header["Sec-Fetch-Site"], control.CrossSite):
		refuseS3(ctx, http.StatusForbidden, "AccessDenied",
			"isr-sim: a page of another site made a browser send this request, and no page is a client here")
	case !hostname.Local(r.Host, d.hosts...):
		refuseS3(ctx, http.StatusForbidden, "AccessDenied",
			"isr-sim: this server does not go by that name; use the address that it printed, or start it with "+
				"--allow-host")
	default:
		return r, true
	}
	return nil, false
}

// sentBody is a body, and whether all of it was read.
type sentBody struct {
	wholeBody
	ended bool
}

// Read reads.
func (b *sentBody) Read(p []byte) (int, error) {
	if b.stream == nil {
		return 0, io.EOF
	}
	n, err := b.wholeBody.Read(p)
	b.ended = b.ended || errors.Is(err, io.EOF)
	return n, err
}

// Close does nothing: the server closes the body.
func (b *sentBody) Close() error { return nil }

// writeS3 writes an answer. It reports whether there was room. An object needs none, because the store has its bytes in
// memory anyway; an XML answer has new bytes, and takes room.
func writeS3(ctx *fasthttp.RequestCtx, response *http.Response) bool {
	out := &ctx.Response
	out.SetStatusCode(response.StatusCode)
	out.Header.DisableNormalizing()
	//isrsim:unordered the order of headers means nothing
	for name, values := range response.Header {
		if name == "Content-Length" {
			continue
		}
		for _, value := range values {
			out.Header.Add(httpdoor.HeaderName(name), value)
		}
	}
	switch {
	case ctx.IsHead():
		_ = response.Body.Close()
		out.SkipBody = true
		out.Header.SetContentLength(int(response.ContentLength))
	case response.Header.Get("Content-Type") == "application/xml":
		text, _ := io.ReadAll(response.Body) // from memory
		return holdAnswer(out, connOf(ctx.Conn()), text, !ctx.IsGet())
	case response.Body != http.NoBody:
		out.SetBodyStream(response.Body, int(response.ContentLength))
	}
	return true
}

// refuseS3 answers a request that never reaches the fake, and closes the connection.
func refuseS3(ctx *fasthttp.RequestCtx, status int, code, message string) {
	ctx.SetStatusCode(status)
	ctx.SetContentType("application/xml")
	ctx.SetBodyString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<Error><Code>" + code + "</Code><Message>" +
		message + "</Message></Error>")
	ctx.SetConnectionClose()
	linger(ctx)
}

// s3TooLarge answers a client that asks whether it may send too large a body. S3 gives the same answer to a client that
// sends it without asking.
func s3TooLarge(ctx *fasthttp.RequestCtx) int {
	refuseS3(ctx, http.StatusBadRequest, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size")
	return http.StatusBadRequest
}
