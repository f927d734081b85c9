package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"

	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/internal/wire/hostname"
	"github.com/isr-sim/isr-sim/internal/wire/httpbody"
	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// door is the fake's HTTP door behind fasthttp, with which a request costs less than half of the processor time that it
// costs with net/http. It serves the calls of DynamoDB. All other requests go through net/http handlers: those of the
// control API, and those that control.Guard refuses.
type door struct {
	ctx    context.Context // the context of calls, which is never cancelled: a call that has begun may finish
	calls  httpdoor.Door
	others fasthttp.RequestHandler
	hosts  []string               // names of this machine
	known  atomic.Pointer[string] // the latest Host that passed
	log    *slog.Logger
	after  func() // is called after each request, before its answer
}

// newHandler returns the handler of a server's requests.
func newHandler(ctx context.Context, o Options) fasthttp.RequestHandler {
	if o.Checker != nil {
		o.Control.Findings, o.Control.Restoring = func() control.Findings {
			return findings(o.Checker)
		}, o.Checker.Restore
		o.Control.Tell = func(events []history.Event) error { return o.Checker.Tell(events...) }
	}
	o.Control.Room = roomOf
	calls := o.DB.Handler()
	if o.Control.Holds != nil {
		calls = gated(ctx, calls, o.Control.Holds, func(input any) { sayLag(o.Log, o.DB, input) })
	}
	d := newDoor(ctx, calls.(httpdoor.Door), netHTTP(calls, o), o.Hosts, o.Log)
	if o.Checker != nil {
		d.after = o.Checker.Look
	}
	return d.serve
}

// netHTTP serves the fake and its control API through net/http. It refuses web pages.
func netHTTP(calls http.Handler, o Options) http.Handler {
	return cors(control.Guard(control.Mux(calls, control.Handler(o.DB, o.Control)), o.Hosts...), o.CORS)
}

func newDoor(
	ctx context.Context, calls httpdoor.Door, others http.Handler, hosts []string, diagnostics io.Writer,
) *door {
	return &door{
		ctx:    context.WithoutCancel(ctx),
		calls:  calls,
		others: fasthttpadaptor.NewFastHTTPHandler(within(ctx, others)),
		hosts:  hosts,
		log:    slog.New(slog.NewTextHandler(diagnostics, nil)),
		after:  func() {},
	}
}

// within gives each request a context that ends with ctx and has the request's connection. It must not derive the
// context from the request's own, which is fasthttp's: the derived one might read it while Shutdown writes it, and
// fasthttp soon reuses it for another request.
func within(ctx context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		of := ctx
		if own, is := r.Context().(*fasthttp.RequestCtx); is {
			of = context.WithValue(ctx, connKey{}, connOf(own.Conn()))
		}
		next.ServeHTTP(w, r.WithContext(of))
	})
}

// exchange is one request and its answer.
type exchange struct {
	request httpdoor.Request
	reply   httpdoor.Reply
	body    wholeBody
	call    callContext
}

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func (d *door) serve(ctx *fasthttp.RequestCtx) {
	x, _ := exchanges.Get().(*exchange)
	at := connOf(ctx.Conn())
	defer func() {
		x.body.done()
		at.made(nil, false)
		*x = exchange{}
		exchanges.Put(x)
		if cause := recover(); cause != nil {
			d.log.Error("a request broke the server", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
			drop(ctx)
		}
	}()
	if misframed(&ctx.Request.Header) {
		ctx.Error("found Content-Length together with Transfer-Encoding, or an encoding that is not chunked\n",
			http.StatusBadRequest)
		ctx.SetConnectionClose()
		linger(ctx)
		return
	}
	if refusedTarget(ctx) {
		return
	}
	if !x.read(ctx) || !d.knows(ctx.Request.Header.Host()) {
		d.serveOther(ctx, x)
		return
	}
	x.reply.Body = ctx.Response.SwapBody(nil)
	x.call.Context = d.ctx
	x.call.conn, _ = ctx.Conn().(*conn)
	err := d.calls.Serve(&x.call, &x.request, &x.reply)
	d.after()
	switch {
	case errors.Is(err, errNoRoom):
		busy(ctx)
	case err != nil:
		drop(ctx)
	default:
		x.write(ctx, at)
	}
}

// refusedTarget refuses a request that asks for a connection to another server, or whose target has no path.
func refusedTarget(ctx *fasthttp.RequestCtx) bool {
	switch uri := text(ctx.Request.Header.RequestURI()); {
	case ctx.IsConnect():
		ctx.Error("this server is no proxy\n", http.StatusMethodNotAllowed)
		ctx.Response.Header.Set("Allow", "GET, POST")
	case strings.HasPrefix(uri, "/"):
		return false
	default:
		if u, err := url.ParseRequestURI(uri); err == nil && strings.HasPrefix(u.Path, "/") {
			return false
		}
		ctx.Error("the request names no path\n", http.StatusBadRequest)
	}
	ctx.SetConnectionClose()
	linger(ctx)
	return true
}

// knows reports whether control.Guard lets a request with this Host header pass. It compares with the latest name
// first, because nearly all clients use the same name.
func (d *door) knows(host []byte) bool {
	if last := d.known.Load(); last != nil && *last == string(host) {
		return true
	}
	name := string(host)
	if !hostname.Local(name, d.hosts...) {
		return false
	}
	d.known.Store(&name)
	return true
}

// read takes a request apart. It reports whether the request is for the fake's door and not from a web page.
func (x *exchange) read(ctx *fasthttp.RequestCtx) bool {
	h := &ctx.Request.Header
	path, query, _ := strings.Cut(text(h.RequestURI()), "?")
	x.request = httpdoor.Request{
		Method:      text(h.Method()),
		Path:        path,
		Query:       query,
		ContentType: text(h.ContentType()),
		Host:        text(h.Host()),
		Length:      int64(h.ContentLength()),
		HeaderBytes: len(h.RawHeaders()),
	}
	conn, page := connOf(ctx.Conn()), false
	for name, value := range h.All() {
		switch string(name) {
		case "Accept-Encoding":
			x.request.AcceptEncoding = text(value)
		case "Authorization":
			x.request.Authorization = text(value)
		case "Content-Encoding":
			x.request.ContentEncoding = text(value)
		case "Amz-Sdk-Invocation-Id":
			x.request.Invocation = text(value)
		case "X-Amz-Region-Set":
			x.request.RegionSet = text(value)
		case "X-Amz-Target":
			x.request.Target = text(value)
		case "Connection":
			if closes(value) { // fasthttp itself sees "close" only alone and in lower case
				ctx.Response.SetConnectionClose()
			}
		case "Origin":
			page = true
		case "Sec-Fetch-Site":
			page = page || string(value) == control.CrossSite
		}
	}
	if stream := ctx.RequestBodyStream(); stream != nil {
		x.body = wholeBody{
			stream: stream, conn: conn, length: h.ContentLength(), packed: x.request.ContentEncoding != "",
			long: answersLong(x.request.Target),
		}
		x.request.Body = &x.body
	} else if conn != nil {
		conn.sent()
	}
	return !page && strings.HasPrefix(path, "/") && !strings.Contains(path, "%") &&
		!strings.HasPrefix(path, control.Prefix)
}

// text returns bytes as a string without a copy. The bytes must not change while the request is served.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// closes reports whether a Connection header asks to close the connection.
func closes(value []byte) bool {
	for option := range bytes.SplitSeq(value, []byte(",")) {
		if bytes.EqualFold(bytes.TrimSpace(option), []byte("close")) {
			return true
		}
	}
	return false
}

func (x *exchange) write(ctx *fasthttp.RequestCtx, conn *conn) {
	var sum [10]byte
	r := &ctx.Response
	if !holdAnswer(r, conn, x.reply.Body, !onlyReads(x.request.Target)) {
		busy(ctx)
		return
	}
	r.SetStatusCode(x.reply.Status)
	r.Header.SetContentType(x.reply.ContentType)
	r.Header.SetServer(httpdoor.Server)
	r.Header.SetCanonical([]byte("X-Amzn-Requestid"), x.reply.RequestID[:])
	r.Header.SetCanonical([]byte("X-Amz-Crc32"), strconv.AppendUint(sum[:0], uint64(x.reply.CRC32), 10))
	if x.reply.Encoding != "" {
		r.Header.SetContentEncoding(x.reply.Encoding)
	}
	if x.reply.Close {
		r.SetConnectionClose()
		linger(ctx)
	}
}

// serveOther serves a request that is not a call, through net/http.
func (d *door) serveOther(ctx *fasthttp.RequestCtx, x *exchange) {
	if x.request.Body != nil {
		body, err := httpbody.Read(x.request.Body, x.request.Length, "") // as it was sent
		if errors.Is(err, httpbody.ErrTooLarge) {
			ctx.Error(err.Error()+"\n", http.StatusRequestEntityTooLarge)
			ctx.SetConnectionClose()
			linger(ctx)
			return
		}
		if errors.Is(err, errNoRoom) {
			busy(ctx)
			return
		}
		if err != nil {
			drop(ctx)
			return
		}
		ctx.Request.SetBodyRaw(body)
	}
	d.others(ctx)
	d.after()
}

// wholeBody reads a body. If the connection ends before the body, the read fails; fasthttp itself would take the end of
// the connection for the end of the body. wholeBody takes room before it reads more than the first freeBody bytes.
type wholeBody struct {
	stream io.Reader
	conn   *conn
	length int  // the length in the header; negative if there is none
	packed bool // the body is compressed, so unpacking makes it longer
	long   bool // the answer may be long
	read   int  // bytes
	room   *claim
}

// Read reads.
func (b *wholeBody) Read(p []byte) (int, error) {
	if b.conn == nil {
		return b.stream.Read(p)
	}
	if b.room == nil && (b.packed || b.length > freeBody || b.read == freeBody) {
		if err := b.takeRoom(); err != nil {
			return 0, err
		}
	}
	if b.room == nil {
		p = p[:min(len(p), freeBody-b.read)]
	}
	n, err := b.stream.Read(p)
	b.read += n
	if err == io.EOF {
		if b.conn.failed != nil {
			return n, io.ErrUnexpectedEOF
		}
		b.conn.sent()
		if b.long && b.conn.making == nil {
			if noRoom := b.conn.make(); noRoom != nil {
				return n, noRoom
			}
		}
	}
	return n, err
}

// takeRoom waits for the room that the body may need.
func (b *wholeBody) takeRoom() (err error) {
	bytes, c := maxBody, b.conn
	if b.length >= 0 && !b.packed {
		bytes = b.length
	}
	c.waits.begin()
	b.room, err = c.from.bodies.take(c, bytes, c.reads.at)
	c.waits.end()
	if err != nil {
		return err
	}
	c.waits.reset() // the client is not to blame for the wait for room
	c.roomy = true
	return c.SetReadDeadline(time.Now().Add(c.from.limits.body))
}

// done gives the body's room back, if it has any.
func (b *wholeBody) done() {
	if b.room != nil {
		b.conn.from.bodies.release(b.room)
	}
}

// busy answers a request whose body got no room in time. It reads only a short piece of the rest, because there may be
// hundreds of such requests.
func busy(ctx *fasthttp.RequestCtx) {
	ctx.Error(errNoRoom.Error()+"\n", http.StatusServiceUnavailable)
	ctx.SetConnectionClose()
	lingerFor(ctx, freeBody)
}

// drop resets the connection without an answer.
func drop(ctx *fasthttp.RequestCtx) {
	if conn := connOf(ctx.Conn()); conn != nil {
		_ = conn.SetLinger(0) // close with RST rather than FIN
	}
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(net.Conn) {})
}

// linger lets a client read an answer that comes before the client has sent its whole request: before closing, the
// server continues to read.
func linger(ctx *fasthttp.RequestCtx) { lingerFor(ctx, 4*maxBody) }

// lingerFor is linger, but reads at most the given number of bytes.
func lingerFor(ctx *fasthttp.RequestCtx, most int64) {
	if conn := connOf(ctx.Conn()); conn != nil {
		conn.lingers.Store(most)
	}
}
