//go:build !unix

package serve

import "net"

// clientGone reports false: on this system only the next read shows that a connection has ended.
func clientGone(*net.TCPConn) bool { return false }
