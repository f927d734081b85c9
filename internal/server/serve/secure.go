package serve

import (
	"crypto/tls"
	"net"
	"net/http"
	"slices"
)

// secureListener encrypts the connections of a listener. The listener itself still counts the connections' bytes and
// waits, as on the wire.
type secureListener struct {
	*listener
	config *tls.Config
}

// secured returns the listener with TLS, if there is a certificate.
func secured(l *listener, certificate *tls.Certificate) net.Listener {
	if certificate == nil {
		return l
	}
	return &secureListener{l, &tls.Config{
		Certificates: []tls.Certificate{*certificate},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"http/1.1"},
	}}
}

// Accept waits for a connection. The TLS handshake is part of the first read, and has as much time as a header.
func (l *secureListener) Accept() (net.Conn, error) {
	accepted, err := l.listener.Accept()
	if err != nil {
		return nil, err
	}
	wire, _ := accepted.(*conn)
	return &secureConn{tls.Server(wire, l.config), wire}, nil
}

// secureConn is an encrypted connection of the server.
type secureConn struct {
	*tls.Conn
	wire *conn
}

// Read reads. If a client closes its side in good order, an incomplete body ends with that.
func (c *secureConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.wire.failed = err
	}
	return n, err
}

// connOf returns the server's connection behind fasthttp's, or nil.
func connOf(c net.Conn) *conn {
	switch c := c.(type) {
	case *conn:
		return c
	case *secureConn:
		return c.wire
	default:
		return nil
	}
}

// cors lets the pages of some origins use the handler behind it. It answers their browsers' preflight requests, and
// removes the headers by which control.Guard recognises a page. Without origins it does nothing.
//
// Source: https://fetch.spec.whatwg.org/#http-cors-protocol
func cors(next http.Handler, origins []string) http.Handler {
	if len(origins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header["Origin"]
		if len(origin) != 1 || !slices.Contains(origins, origin[0]) {
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin[0])
		h.Set("Access-Control-Expose-Headers", "x-amzn-RequestId, x-amz-crc32, Date")
		h.Add("Vary", "Origin")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
			h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		delete(r.Header, "Origin")
		delete(r.Header, "Sec-Fetch-Site")
		next.ServeHTTP(w, r)
	})
}
