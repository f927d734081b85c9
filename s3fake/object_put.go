package s3fake

import (
	"cmp"
	"crypto/md5" //nolint:gosec // an ETag is an MD5
	"net/http"
	"strings"
	"unicode/utf8"
)

const (
	// maxKeyBytes is the length of the longest key.
	//
	// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html
	maxKeyBytes = 1024
	// maxMetadataBytes is the largest size of user-defined metadata, names and values together.
	//
	// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html
	maxMetadataBytes = 2 << 10
)

// checkKey refuses a key that no object can have.
func checkKey(key string) *apiError {
	switch {
	case len(key) > maxKeyBytes:
		return keyTooLong(len(key))
	case !utf8.ValidString(key):
		return errInvalidURI
	}
	return nil
}

// putObject serves PutObject: the object is stored whole or not at all.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
func (s *Store) putObject(b *bucket, c *Call) (*Answer, *apiError) {
	key := c.Keys[0]
	kept, err := metadata(c.in.header)
	if err != nil {
		return nil, err
	}
	sum, err := verify(c.in)
	if err != nil {
		return nil, err
	}
	old, _ := b.objects.Get(key)
	if err := writable(old, key, c.in.header); err != nil {
		return nil, err
	}
	o := s.put(b, key, c.in.body, kept, sum)
	h := http.Header{"Etag": {o.etag}, "X-Amz-Server-Side-Encryption": {"AES256"}}
	sum.write(h)
	return &Answer{Status: http.StatusOK, header: h}, nil
}

// put stores a new object under a key.
func (s *Store) put(b *bucket, key string, body []byte, header http.Header, sum checksum) *object {
	o := &object{body: body, etag: etagOf(md5.Sum(body), ""), modified: s.now(), header: header, checksum: sum}
	b.set(key, o)
	return o
}

// metadata returns those headers of a PutObject that a GetObject returns.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html
func metadata(h http.Header) (http.Header, *apiError) {
	kept := http.Header{"Content-Type": {cmp.Or(h.Get("Content-Type"), "binary/octet-stream")}}
	size := 0
	//isrsim:unordered a map goes into a map, and a sum
	for name, values := range h {
		switch name {
		case "Cache-Control", "Content-Disposition", "Content-Language", "Expires":
			kept[name] = []string{values[0]}
		case "Content-Encoding":
			if encoding := withoutChunks(values); encoding != "" {
				kept[name] = []string{encoding}
			}
		default:
			if user, ok := strings.CutPrefix(name, "X-Amz-Meta-"); ok {
				value := strings.Join(values, ",")
				kept[name] = []string{value}
				size += len(user) + len(value)
			}
		}
	}
	if size > maxMetadataBytes {
		return nil, errMetadataTooLarge
	}
	return kept, nil
}

// withoutChunks returns a Content-Encoding without aws-chunked, which belongs to the transfer and not to the object.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
func withoutChunks(values []string) string {
	var left []string
	for encoding := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if encoding = strings.TrimSpace(encoding); encoding != "" && encoding != "aws-chunked" {
			left = append(left, encoding)
		}
	}
	return strings.Join(left, ",")
}
