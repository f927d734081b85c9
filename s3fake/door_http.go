package s3fake

import (
	"io"
	"net/http"

	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
)

// Handler returns the HTTP door: the REST API of S3, for clients in any language. The access key id with which a client
// signs names the actor. Signatures are not checked, and requests without a signature are served, too. A fault that
// loses a request or a response breaks the connection without an answer.
//
// The bucket is in the path, or in the host (pages.localhost, pages.s3.eu-west-1.amazonaws.com). The handler must get
// paths exactly as they were sent: an http.ServeMux cleans them, which changes keys. The handler has no timeouts: set
// those of the http.Server around it.
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
		// A failed write means that the caller has gone.
		_, _ = io.Copy(w, response.Body)
	})
}
