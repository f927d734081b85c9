//go:build unix

package serve

import (
	"net"
	"syscall"
)

// clientGone waits until the client closes its connection or sends more, or until the connection's deadline. It leaves
// the sent bytes unread, and reports whether the client has closed the connection.
func clientGone(tcp *net.TCPConn) bool {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK)
		for err == syscall.EINTR {
			n, _, err = syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK)
		}
		switch err {
		case syscall.EAGAIN:
			return false
		case nil:
			gone = n == 0
		default:
			gone = true // it was reset
		}
		return true
	})
	return err == nil && gone
}
