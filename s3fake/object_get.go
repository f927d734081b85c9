package s3fake

import (
	"encoding/xml"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// getObject serves GetObject and HeadObject. The door leaves out the body of a HeadObject.
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

// numbered returns the part of an object that a request asks for by its number, and the part's Content-Range. If the
// body is empty, it returns the whole body and "". An object that was not uploaded in parts counts as one part.
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
// "" if the header is absent, is not well-formed, or asks for several parts.
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

// position reads a position in a body. A number that is larger than any body becomes the largest number.
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
