package serve

import (
	"context"
	"net"
	"net/netip"
)

// Listen opens the socket of a server, at a host:port.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	config := net.ListenConfig{Control: smallSegments}
	return config.Listen(ctx, "tcp", address)
}

// Loopback reports whether only this machine can reach a host. Every other name may lead anywhere, and no name is every
// interface.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// Reachable returns the address under which this machine reaches a listener: one on every interface is reached by the
// loopback too.
func Reachable(addr net.Addr) string {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil || !at.Addr().IsUnspecified() {
		return addr.String()
	}
	return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), at.Port()).String()
}
