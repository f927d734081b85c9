package ddbfake

import (
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
)

// Handler returns the HTTP door: the DynamoDB JSON 1.0 protocol, for clients in any language. The access key id that a
// client signs with names the actor; signatures are not checked. A fault that loses a request or a response breaks the
// connection without an answer.
//
// GET / answers the health check of the service. The handler has no timeouts of its own: those belong to the
// http.Server around it. The command isr-sim serve serves this handler together with a control API for tests in other
// languages.
func (db *DB) Handler() http.Handler { return &handler{db: db, do: db.doForWire} }

// handler is the HTTP door.
type handler struct {
	db       *DB
	do       do
	requests atomic.Uint64
}

// ServeHTTP serves one request, for net/http.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := requestOf(r)
	out := getBuffer()
	to := httpdoor.Reply{Body: *out}
	err := h.Serve(r.Context(), &request, &to)
	defer func() { putBuffer(out, to.Body) }()
	if err != nil {
		httpdoor.Drop(w)
		return
	}
	header := w.Header()
	setHeaders(header, to.ContentType, to.RequestID, to.CRC32)
	header["Content-Length"] = []string{strconv.Itoa(len(to.Body))}
	if to.Encoding != "" {
		header[headerEncoding] = []string{to.Encoding}
	}
	if to.Close {
		header["Connection"] = []string{"close"}
	}
	w.WriteHeader(to.Status)
	// A failed write means that the caller has gone. It may or may not have read the answer, and there is no connection
	// left to report to.
	_, _ = w.Write(to.Body)
}

// requestOf takes a request of net/http apart.
func requestOf(r *http.Request) httpdoor.Request {
	request := httpdoor.Request{
		Method:          r.Method,
		Path:            r.URL.Path,
		Query:           r.URL.RawQuery,
		AcceptEncoding:  first(r.Header, "Accept-Encoding"),
		Authorization:   first(r.Header, headerAuthorization),
		ContentEncoding: first(r.Header, headerEncoding),
		ContentType:     first(r.Header, headerContentType),
		Host:            r.Host,
		Invocation:      first(r.Header, headerInvocation),
		RegionSet:       first(r.Header, headerRegionSet),
		Target:          first(r.Header, headerTarget),
		Length:          r.ContentLength,
	}
	if r.Body != nil {
		request.Body = r.Body
	}
	//isrsim:unordered a sum
	for name, values := range r.Header {
		for _, value := range values {
			request.HeaderBytes += len(name) + len(": ") + len(value) + len("\r\n")
		}
	}
	return request
}
