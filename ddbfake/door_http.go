package ddbfake

import (
	"net"
	"net/http"
	"strconv"
)

// Handler returns the HTTP door: the DynamoDB JSON 1.0 protocol, for clients
// in any language. The access key id that a client signs with names the
// actor; signatures are not checked. A fault that loses a request or a
// response breaks the connection without an answer.
//
// GET / answers the health check of the service. The handler has no timeouts
// of its own: those belong to the http.Server around it. Package control has what
// a test in another language wants beside it, and the command isr-sim serve
// serves both.
func (db *DB) Handler() http.Handler { return &handler{HTTPDoor{do: db.doForWire}} }

// handler is the HTTP door for net/http.
type handler struct{ door HTTPDoor }

// ServeHTTP serves one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := requestOf(r)
	out := getBuffer()
	to := HTTPReply{Body: *out}
	err := h.door.Serve(r.Context(), &request, &to)
	defer func() { putBuffer(out, to.Body) }()
	if err != nil {
		drop(w)
		return
	}
	header := w.Header()
	to.header(header)
	header["Content-Length"] = []string{strconv.Itoa(len(to.Body))}
	if to.Close {
		header["Connection"] = []string{"close"}
	}
	w.WriteHeader(to.Status)
	// A failed write means that the caller has gone: it may or may not have
	// read the answer, and nobody is left to tell.
	_, _ = w.Write(to.Body)
}

// drop breaks the connection without an answer, so that the caller sees it
// reset.
func drop(w http.ResponseWriter) {
	if hijacker, ok := w.(http.Hijacker); ok {
		if conn, _, err := hijacker.Hijack(); err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // close with RST rather than FIN
			}
			_ = conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}

// Headers in their canonical form, as keys of a http.Header: its methods would
// make them canonical again each time.
const (
	headerAuthorization = "Authorization"
	headerContentType   = "Content-Type"
	headerEncoding      = "Content-Encoding"
	headerCRC32         = "X-Amz-Crc32"
	headerInvocation    = "Amz-Sdk-Invocation-Id"
	headerRegionSet     = "X-Amz-Region-Set"
	headerRequestID     = "X-Amzn-Requestid"
	headerTarget        = "X-Amz-Target"
)

// requestOf takes a request of net/http apart.
func requestOf(r *http.Request) HTTPRequest {
	request := HTTPRequest{
		Method:          r.Method,
		Path:            r.URL.Path,
		Query:           r.URL.RawQuery,
		Authorization:   first(r.Header, headerAuthorization),
		ContentEncoding: first(r.Header, headerEncoding),
		ContentType:     first(r.Header, headerContentType),
		Invocation:      first(r.Header, headerInvocation),
		RegionSet:       first(r.Header, headerRegionSet),
		Target:          first(r.Header, headerTarget),
		Length:          r.ContentLength,
	}
	if r.Body != nil {
		request.Body = r.Body
	}
	return request
}

// first returns the value of a header by its canonical name.
func first(h http.Header, name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// header fills in the headers of an answer. Date is left to the server: in
// process there is none, so that the SDK learns no clock skew.
func (to *HTTPReply) header(h http.Header) {
	values := [...]string{to.ContentType, string(to.RequestID[:]), strconv.FormatUint(uint64(to.CRC32), 10)}
	h[headerContentType] = values[0:1:1]
	h[headerRequestID] = values[1:2:2]
	h[headerCRC32] = values[2:3:3]
}
