package s3fake

import (
	"encoding/xml"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// getObject serves GetObject and HeadObject. The door omits the body of a HeadObject.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html
func (s *Store) getObject(b *bucket, c *Call) (*Answer, *apiError) {
	key := c.Keys[0]
	o, ok := b.objects.Get(key)
	if !ok {
		return nil, noSuchKey(key)
	}
	status, err := o.readable(c.in.header, s.now())
	if err != nil {
		return nil, err
	}
	h := http.Header{"Etag": {o.etag}, "Last-Modified": {o.modified.Format(http.TimeFormat)}}
	if status == http.StatusNotModified {
		return &Answer{Status: status, header: h}, nil
	}
	maps.Copy(h, o.header)
	h["Accept-Ranges"] = []string{"bytes"}
	h["X-Amz-Server-Side-Encryption"] = []string{"AES256"}
	for _, name := range slices.Sorted(maps.Keys(c.in.query)) {
		if header, ok := strings.CutPrefix(name, "response-"); ok {
			h[http.CanonicalHeaderKey(header)] = []string{c.in.query.Get(name)}
		}
	}
	body, part, err := rangeOf(o.body, c.in.header.Get("Range"))
	if err == nil && c.in.query.Has("partNumber") {
		body, part, err = o.numbered(c.in, h)
	}
	switch {
	case err != nil:
		return nil, err
	case part != "":
		h["Content-Range"] = []string{part}
		return &Answer{Status: http.StatusPartialContent, header: h, body: body}, nil
	}
	if strings.EqualFold(c.in.header.Get("X-Amz-Checksum-Mode"), "ENABLED") {
		o.checksum.write(h)
	}
	return &Answer{Status: http.StatusOK, header: h, body: body}, nil
}

// numbered returns the part of an object that a request asks for by its number, and the part's Content-Range. An empty
// body has no Content-Range. An object that was not uploaded in parts counts as one part.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html (partNumber)
func (o *object) numbered(in *input, h http.Header) (body []byte, contentRange string, err *apiError) {
	if in.header.Get("Range") != "" {
		return nil, "", invalidRequest("Cannot specify both Range header and partNumber query parameter")
	}
	n, err := partNumber(in.query.Get("partNumber"))
	if err != nil {
		return nil, "", err
	}
	sizes := o.parts
	if sizes == nil {
		sizes = []int{len(o.body)}
	} else {
		h["X-Amz-Mp-Parts-Count"] = []string{strconv.Itoa(len(sizes))}
	}
	if n > len(sizes) {
		return nil, "", noSuchPart(n, len(sizes))
	}
	if len(o.body) == 0 {
		return o.body, "", nil
	}
	first := 0
	for _, size := range sizes[:n-1] {
		first += size
	}
	return rangeOf(o.body, "bytes="+strconv.Itoa(first)+"-"+strconv.Itoa(first+sizes[n-1]-1))
}

// objectTags serves GetObjectTagging: no object has tags.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectTagging.html
func (s *Store) objectTags(b *bucket, c *Call) (*Answer, *apiError) {
	if _, ok := b.objects.Get(c.Keys[0]); !ok {
		return nil, noSuchKey(c.Keys[0])
	}
	return document(struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ Tagging"`
		TagSet  string
	}{}), nil
}

// rangeOf returns the part of a body that a Range header asks for, and its Content-Range. It returns the whole body and
// "" if the header is absent or ill-formed, or asks for several parts.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html#API_GetObject_RequestSyntax (Range: one
// only)
// Source: https://www.rfc-editor.org/rfc/rfc9110#section-14.2 (a Range that is not understood is ignored)
func rangeOf(body []byte, asked string) (part []byte, contentRange string, err *apiError) {
	spec, ok := strings.CutPrefix(asked, "bytes=")
	from, to, dash := strings.Cut(strings.TrimSpace(spec), "-")
	if !ok || !dash {
		return body, "", nil
	}
	size := len(body)
	first, last := 0, size-1
	switch from {
	case "": // the last bytes
		n, digits := position(to)
		if !digits {
			return body, "", nil
		}
		if n == 0 {
			return nil, "", invalidRange(asked, size)
		}
		first = max(size-n, 0)
	default:
		n, digits := position(from)
		if !digits {
			return body, "", nil
		}
		first = n
		if to != "" {
			m, digits := position(to)
			if !digits || m < n {
				return body, "", nil
			}
			last = min(m, size-1)
		}
	}
	if first >= size {
		return nil, "", invalidRange(asked, size)
	}
	return body[first : last+1], "bytes " + strconv.Itoa(first) + "-" + strconv.Itoa(last) + "/" +
		strconv.Itoa(size), nil
}

// position reads a position in a body. A number larger than any body becomes the largest int.
func position(text string) (n int, ok bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		n = int(^uint(0) >> 1)
	}
	return n, true
}

// readable checks the conditions of a GetObject or HeadObject. It returns 304 or an error, or 0 and nil if the
// conditions hold.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-reads.html
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html (which header wins)
func (o *object) readable(h http.Header, now time.Time) (status int, err *apiError) {
	if match := h.Get("If-Match"); match != "" {
		if !matches(match, o.etag) {
			return 0, preconditionFailed("If-Match")
		}
	} else if at, ok := httpTime(h.Get("If-Unmodified-Since"), now); ok && o.modified.After(at) {
		return 0, preconditionFailed("If-Unmodified-Since")
	}
	if none := h.Get("If-None-Match"); none != "" {
		if matches(none, o.etag) {
			return http.StatusNotModified, nil
		}
	} else if at, ok := httpTime(h.Get("If-Modified-Since"), now); ok && !o.modified.After(at) {
		return http.StatusNotModified, nil
	}
	return 0, nil
}

// writable checks the conditions of a PutObject. The object o is the present one, or nil.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html (If-None-Match takes only *, If-Match only
// an ETag)
func writable(o *object, key string, h http.Header) *apiError {
	none, match := h.Get("If-None-Match"), h.Get("If-Match")
	switch {
	case none != "" && none != "*":
		return notImplemented("If-None-Match")
	case match == "*", match != "" && none != "":
		return notImplemented("If-Match")
	case none != "" && o != nil:
		return preconditionFailed("If-None-Match")
	case match != "" && o == nil:
		return noSuchKey(key)
	case match != "" && !matches(match, o.etag):
		return preconditionFailed("If-Match")
	}
	return nil
}

// deletable checks the ETag condition of a delete: match "" is no condition, and * is any ETag.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-deletes.html
// Source: https://github.com/localstack/localstack/issues/13894 (404 for * and a missing object, asked at the service)
func deletable(o *object, key, match string) *apiError {
	switch {
	case match == "" || o != nil && matches(match, o.etag):
		return nil
	case o == nil:
		return noSuchKey(key)
	}
	return preconditionFailed("If-Match")
}

// matches reports whether an ETag is in a list, or whether the list is *. Quotes may be missing in the list.
func matches(list, etag string) bool {
	for tag := range strings.SplitSeq(list, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == "*" || strings.Trim(tag, `"`) == strings.Trim(etag, `"`) {
			return true
		}
	}
	return false
}

// httpTime reads the time of a condition. An ill-formed header is not a condition, and neither is a time in the future.
//
// Source: https://www.rfc-editor.org/rfc/rfc9110#section-13.1.3
// Source: https://github.com/localstack/localstack/blob/main/localstack-core/localstack/services/s3/provider.py (the
// future, recorded at the service)
func httpTime(text string, now time.Time) (at time.Time, ok bool) {
	at, err := http.ParseTime(text)
	return at, err == nil && !at.After(now)
}
