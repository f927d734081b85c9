// Package httpbody reads the bodies of HTTP requests, within the limit of the service. The limit is defined only here:
// the doors of ddbfake read no more than that, and the server of the command reserves no more room.
package httpbody

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"slices"
	"strings"
)

// MaxBytes is the maximum size of a request, before and after it is unpacked: 16 MB.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
const MaxBytes = 16 << 20

// ErrTooLarge is the error for a body over MaxBytes.
var ErrTooLarge = errors.New("the request is larger than 16 MB")

// ErrNotPacked is the error for a body that claims to be packed but cannot be unpacked.
var ErrNotPacked = errors.New("the request's body cannot be unpacked")

// Read reads a request's body, and unpacks it if its Content-Encoding is gzip or deflate. It reads and unpacks no more
// than MaxBytes. length is the length in the header; negative if there is none. A nil body is empty. Errors are
// ErrTooLarge, ErrNotPacked, and those of reading.
//
// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_compressed_request.py (the service
// reads both)
func Read(body io.Reader, length int64, encoding string) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	if length > MaxBytes {
		return nil, ErrTooLarge
	}
	switch {
	case strings.EqualFold(encoding, "gzip"):
		return unpack(body, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) })
	case strings.EqualFold(encoding, "deflate"): // in HTTP, zlib's format: RFC 9110, section 8.4.1.2
		return unpack(body, func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) })
	}
	// There is room for one more byte, so that the read that fills the body can also find its end.
	room := int(max(length, -1)) + 1
	return readAll(make([]byte, 0, max(min(room, smallBody), 1)), body, room)
}

// smallBody is the most memory that a body gets before any of it has arrived.
const smallBody = 16 << 10

// readAll appends the bytes of r to buf, up to one byte more than MaxBytes. For a long body, the memory grows while the
// body arrives: when it is full it becomes four times as large, but not larger than the announced length.
func readAll(buf []byte, r io.Reader, length int) ([]byte, error) {
	for {
		if have := len(buf); have == cap(buf) {
			more := 3 * have
			if length > have {
				more = min(more, length-have)
			}
			buf = slices.Grow(buf, max(more, bytes.MinRead))
		}
		n, err := r.Read(buf[len(buf):min(cap(buf), MaxBytes+1)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > MaxBytes:
			return buf, ErrTooLarge
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return buf, err
		}
	}
}

// unpack is readAll for a packed body, which may have at most MaxBytes, too.
func unpack(packed io.Reader, open func(io.Reader) (io.Reader, error)) (body []byte, err error) {
	bounded := &boundedReader{r: packed, left: MaxBytes}
	unpacked, err := open(bounded)
	if err == nil {
		body, err = readAll(nil, unpacked, 0)
	}
	switch {
	case bounded.over:
		return nil, ErrTooLarge
	case bounded.failed != nil:
		return nil, bounded.failed
	case err != nil && !errors.Is(err, ErrTooLarge):
		return nil, ErrNotPacked
	}
	return body, err
}

// boundedReader reads up to a number of bytes, and records why it stopped.
type boundedReader struct {
	r      io.Reader
	left   int
	over   bool  // there was more
	failed error // the error of r, other than its end
}

// Read reads.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.over {
		return 0, ErrTooLarge
	}
	n, err := b.r.Read(p[:min(len(p), b.left+1)])
	if n > b.left {
		n, b.over, err = b.left, true, ErrTooLarge
	}
	b.left -= n
	if err != nil && err != io.EOF && !b.over {
		b.failed = err
	}
	return n, err
}
