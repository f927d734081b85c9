package ddbfake

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
)

// maxBody is the largest request the service reads, before and after it is
// unpacked: 16 MB.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
const maxBody = 16 << 20

// errTooLarge is for a body over maxBody.
var errTooLarge = errors.New("ddbfake: the request is larger than 16 MB")

// readBody reads a request's body, and unpacks it if it is packed. It reads and
// unpacks no more than may be served. Errors are errTooLarge, errMalformed for
// what cannot be unpacked, and those of reading.
func readBody(r *HTTPRequest) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	if r.Length > maxBody {
		return nil, errTooLarge
	}
	if strings.EqualFold(r.ContentEncoding, "gzip") {
		return unpack(r.Body)
	}
	// Room for one byte more, to find the end there.
	length := int(max(r.Length, -1)) + 1
	return readAll(make([]byte, 0, max(min(length, smallBody), 1)), r.Body, length)
}

// smallBody is the room that a body gets before any of it has come.
const smallBody = 16 << 10

// readAll appends what r gives to buf, up to one byte more than maxBody. What
// only says that it is long gets its room when it comes: four times as much each
// time that the room is full, and no more than the length that is expected.
func readAll(buf []byte, r io.Reader, length int) ([]byte, error) {
	for {
		if have := len(buf); have == cap(buf) {
			more := 3 * have
			if length > have {
				more = min(more, length-have)
			}
			buf = slices.Grow(buf, max(more, bytes.MinRead))
		}
		n, err := r.Read(buf[len(buf):min(cap(buf), maxBody+1)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > maxBody:
			return buf, errTooLarge
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return buf, err
		}
	}
}

// unpack is readAll of a packed body, which may be no larger itself.
func unpack(packed io.Reader) (body []byte, err error) {
	bounded := &boundedReader{r: packed, left: maxBody}
	unpacked, err := gzip.NewReader(bounded)
	if err == nil {
		body, err = readAll(nil, unpacked, 0)
	}
	switch {
	case bounded.over:
		return nil, errTooLarge
	case bounded.failed != nil:
		return nil, bounded.failed
	case err != nil && !errors.Is(err, errTooLarge):
		return nil, errMalformed
	}
	return body, err
}

// boundedReader reads up to so many bytes, and notes why it gave no more.
type boundedReader struct {
	r      io.Reader
	left   int
	over   bool  // there was more
	failed error // of r, other than its end
}

// Read reads.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.over {
		return 0, errTooLarge
	}
	n, err := b.r.Read(p[:min(len(p), b.left+1)])
	if n > b.left {
		n, b.over, err = b.left, true, errTooLarge
	}
	b.left -= n
	if err != nil && err != io.EOF && !b.over {
		b.failed = err
	}
	return n, err
}

// buffers holds answers that are done with.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// keepBuffer is the largest buffer that goes back to the pool.
const keepBuffer = 64 << 10

func getBuffer() *[]byte {
	p, _ := buffers.Get().(*[]byte)
	return p
}

func putBuffer(p *[]byte, b []byte) {
	if cap(b) <= keepBuffer {
		*p = b[:0]
		buffers.Put(p)
	}
}
