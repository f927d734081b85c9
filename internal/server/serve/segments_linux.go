package serve

import "syscall"

// smallSegments makes clients on this machine send small segments. With loopback's segments of 64 KB, the system takes
// 2.5 MB from each client before the server has read a byte. A flood of a thousand clients then fills gigabytes, and
// the processor copies them instead of serving other clients.
//
// Source: https://man7.org/linux/man-pages/man7/tcp.7.html (TCP_MAXSEG)
func smallSegments(_, _ string, socket syscall.RawConn) (err error) {
	const ethernet = 1460 // bytes: clients elsewhere send segments of this size anyway
	if failed := socket.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, ethernet)
	}); failed != nil {
		return failed
	}
	return err
}
