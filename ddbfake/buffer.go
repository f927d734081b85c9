package ddbfake

import "sync"

// buffers holds memory for text that is no longer needed when a call is over: answers, and texts that are only
// compared.
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
