package s3fake

import (
	"bytes"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// isChunked reports whether a body has the encoding aws-chunked. SDKs use this encoding to send streams.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
func isChunked(h http.Header) bool {
	return strings.HasPrefix(h.Get("X-Amz-Content-Sha256"), "STREAMING-")
}

// minChunkBytes is the smallest size of a chunk; only the last chunk may be smaller.
const minChunkBytes = 8 << 10

// unchunk decodes an aws-chunked body. It consists of chunks, a chunk of size 0, and the trailer. Before each chunk
// there is a line with its size in hexadecimal digits, and perhaps a signature, which is not checked.
func unchunk(body []byte, h http.Header) (plain []byte, trailer http.Header, err *apiError) {
	trailer = http.Header{}
	plain = make([]byte, 0, len(body))
	before := uint64(minChunkBytes)
	for number := 1; ; number++ {
		line, rest, ok := bytes.Cut(body, []byte("\r\n"))
		if !ok {
			return nil, nil, errIncompleteBody
		}
		digits, _, _ := strings.Cut(string(line), ";")
		size, parseErr := strconv.ParseUint(digits, 16, 31)
		if parseErr != nil {
			return nil, nil, errIncompleteBody
		}
		body = rest
		if size == 0 {
			break
		}
		if before < minChunkBytes {
			return nil, nil, chunkTooSmall(number, before)
		}
		before = size
		if uint64(len(body)) < size+2 || !bytes.HasPrefix(body[size:], []byte("\r\n")) {
			return nil, nil, errIncompleteBody
		}
		plain, body = append(plain, body[:size]...), body[size+2:]
	}
	for line := range bytes.SplitSeq(body, []byte("\n")) {
		name, value, ok := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
		if ok {
			trailer.Add(textproto.CanonicalMIMEHeaderKey(string(name)), string(bytes.TrimSpace(value)))
		}
	}
	for name := range strings.SplitSeq(h.Get("X-Amz-Trailer"), ",") {
		if name = strings.TrimSpace(name); name != "" && trailer.Get(name) == "" {
			return nil, nil, errMalformedTrailer
		}
	}
	if h.Get("X-Amz-Decoded-Content-Length") != strconv.Itoa(len(plain)) {
		return nil, nil, errIncompleteBody
	}
	return plain, trailer, nil
}
