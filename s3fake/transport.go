package s3fake

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
)

// Transport returns a transport whose requests go to do. It is for clients that the caller makes, and for servers other
// than net/http's. It decodes each request, calls do in the goroutine of RoundTrip, and encodes the answer. An error of
// do is returned unchanged. The returned value also has a method Do, so it can be the HTTPClient of s3.Options.
func Transport(do func(context.Context, Call) (*Answer, error)) http.RoundTripper {
	return &transport{do: do}
}

type transport struct {
	do       func(context.Context, Call) (*Answer, error)
	requests atomic.Uint64
}

// RoundTrip serves one request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.Do(r) }

// Do serves one request.
func (t *transport) Do(r *http.Request) (*http.Response, error) {
	answer, err := t.serve(r)
	if r.Body != nil {
		_ = r.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	return answer.response(r, fmt.Sprintf("%016X", t.requests.Add(1))), nil
}

func (t *transport) serve(r *http.Request) (*Answer, error) {
	call, refusal, err := decode(r)
	switch {
	case err != nil:
		return nil, err
	case refusal != nil:
		return refused(refusal), nil
	}
	return t.do(r.Context(), call)
}

// response encodes an answer. A server adds the header Date. In process there is no Date, so the SDK does not adjust
// its clock.
func (a *Answer) response(r *http.Request, requestID string) *http.Response {
	h, body := a.header.Clone(), a.body
	if a.err != nil {
		h["Content-Type"] = []string{"application/xml"}
		body = a.err.xml(requestID)
	}
	h["X-Amz-Request-Id"] = []string{requestID}
	h["X-Amz-Id-2"] = []string{hostID}
	out := &http.Response{
		Status:        strconv.Itoa(a.Status) + " " + http.StatusText(a.Status),
		StatusCode:    a.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        h,
		ContentLength: int64(len(body)),
		Request:       r,
		Body:          http.NoBody,
	}
	switch {
	case a.Status == http.StatusNoContent || a.Status == http.StatusNotModified:
		out.ContentLength = 0
		return out
	case r.Method == http.MethodHead && a.err != nil: // the status is all that is sent of the error
		out.ContentLength = 0
		delete(h, "Content-Type")
	case r.Method != http.MethodHead && len(body) > 0:
		out.Body = &responseBody{*bytes.NewReader(body)}
	}
	h["Content-Length"] = []string{strconv.FormatInt(out.ContentLength, 10)}
	return out
}

type responseBody struct{ bytes.Reader }

// Close does nothing.
func (*responseBody) Close() error { return nil }

// Handler returns the HTTP door: the REST API of S3, for clients in any language. The actor is the access key id with
// which a client signs. Signatures are not checked, and requests without a signature are served, too. A fault that
// loses a request or a response breaks the connection without an answer.
//
// The bucket is in the path, or in the host (pages.localhost, pages.s3.eu-west-1.amazonaws.com). The handler must get
// paths exactly as sent: an http.ServeMux cleans them, which changes keys. The handler sets no timeouts: set those of
// the http.Server around it.
func (s *Store) Handler() http.Handler {
	wire := &transport{do: s.Do}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response, err := wire.Do(r)
		if err != nil {
			httpdoor.Drop(w)
			return
		}
		defer func() { _ = response.Body.Close() }()
		header := w.Header()
		//isrsim:unordered a map goes into a map
		for name, values := range response.Header {
			header[httpdoor.HeaderName(name)] = values
		}
		w.WriteHeader(response.StatusCode)
		// A failed write means that the caller is gone.
		_, _ = io.Copy(w, response.Body)
	})
}
