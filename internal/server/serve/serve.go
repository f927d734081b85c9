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
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/internal/wire/hostname"
	"github.com/isr-sim/isr-sim/s3fake"
	"github.com/isr-sim/isr-sim/scenario/live"
)

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
