package ddbfake

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/aws/smithy-go"
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
func (db *DB) Handler() http.Handler { return &handler{do: db.Do} }

type handler struct {
	do       do
	requests atomic.Uint64
}

// The service's answers that are no JSON.
//
// Source: https://docs.aws.amazon.com/general/latest/gr/ddb.html (health), https://github.com/architect/dynalite/blob/main/test/connection.js
const (
	healthy      = "healthy: dynamodb." + DefaultRegion + ".amazonaws.com "
	unknownPlain = "<UnknownOperationException/>\n"
)

var errMissingToken = &smithy.GenericAPIError{
	Code:    "MissingAuthenticationTokenException",
	Message: "Request is missing Authentication Token",
	Fault:   smithy.FaultClient,
}

// ServeHTTP serves one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := h.requests.Add(1)
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/":
		reply{status: http.StatusOK, body: []byte(healthy)}.write(w, id, "text/plain")
		return
	case r.Method != http.MethodPost || !isJSON(first(r.Header, headerContentType)):
		reply{status: http.StatusNotFound, body: []byte(unknownPlain)}.write(w, id, "text/xml")
		return
	}

	in, out := getBuffer(), getBuffer()
	body, err := readBody(*in, r)
	defer func() { putBuffer(in, body) }()
	if errors.Is(err, errTooLarge) {
		w.Header().Set("Connection", "close") // the rest of the body stays unread
		reply{status: http.StatusRequestEntityTooLarge}.write(w, id, contentType)
		return
	}
	a := reply{body: *out}
	defer func() { putBuffer(out, a.body) }()
	s, signed := signerOf(r.Header, r.URL.RawQuery)
	if err == nil {
		err = h.refusal(r, signed, body)
	}
	if err != nil {
		a, err = refuse(err, a.body)
	} else {
		a, err = answer(r.Context(), h.do, s, r.Header, body, a.body)
	}
	if err != nil {
		drop(w)
		return
	}
	a.write(w, id, contentType)
}

// refusal returns what is wrong with a request before its operation is looked
// at, in the service's order: malformed JSON, no target, no credentials.
func (h *handler) refusal(r *http.Request, signed bool, body []byte) error {
	_, target := operationIn(first(r.Header, headerTarget))
	switch {
	case target && signed:
		return nil
	case !validJSON(body):
		return errMalformed
	case !target:
		return errUnknownTarget
	}
	return errMissingToken
}

func isJSON(given string) bool {
	if given == contentType {
		return true // as the SDKs write it
	}
	given, _, _ = strings.Cut(given, ";")
	switch strings.ToLower(strings.TrimSpace(given)) {
	case contentType, "application/x-amz-json-1.1", "application/json":
		return true
	}
	return false
}

// write sends the answer with the headers of the service.
func (a reply) write(w http.ResponseWriter, id uint64, contentType string) {
	h := w.Header()
	a.header(h, id, contentType)
	h["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	w.WriteHeader(a.status)
	// A failed write means that the caller has gone: it may or may not have
	// read the answer, and nobody is left to tell.
	_, _ = w.Write(a.body)
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
