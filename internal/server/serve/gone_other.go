//go:build !unix

package serve

import "net"

// clientGone reports false: here the end of a connection is seen by the next read only.
func clientGone(*net.TCPConn) bool { return false }
