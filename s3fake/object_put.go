package s3fake

import (
	"cmp"
	"crypto/md5" //nolint:gosec // an ETag is an MD5
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxKeyBytes is the maximum length of a key.
	//
	// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html
	maxKeyBytes = 1024
	// maxMetadataBytes is the maximum size of user-defined metadata, names and values together.
	//
	// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html
	maxMetadataBytes = 2 << 10
)

// checkKey refuses a key that an object cannot have.
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

// metadata returns the headers of a PutObject that a GetObject returns.
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

type source struct{ bucket, key string }

// parseSource reads the header that names the source.
func parseSource(h http.Header) (*source, *apiError) {
	text := h.Get("X-Amz-Copy-Source")
	path, version, _ := strings.Cut(text, "?versionId=")
	path, err := url.PathUnescape(path)
	bucket, key, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case err != nil || !ok || bucket == "" || key == "":
		return nil, invalidArgument("Copy Source must mention the source bucket and key: sourcebucket/sourcekey",
			"x-amz-copy-source", text)
	case version != "" && version != "null":
		return nil, unsupported("versions of objects")
	}
	return &source{bucket, key}, nil
}

// sourceOf returns the source object of a copy, if the conditions hold.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html
func (s *Store) sourceOf(c *Call) (*object, *apiError) {
	b := s.buckets[c.in.source.bucket]
	if b == nil {
		return nil, noSuchBucket(c.in.source.bucket)
	}
	o, ok := b.objects.Get(c.in.source.key)
	if !ok {
		return nil, noSuchKey(c.in.source.key)
	}
	conditions := http.Header{}
	for _, name := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		if v := c.in.header.Get("X-Amz-Copy-Source-" + name); v != "" {
			conditions[name] = []string{v}
		}
	}
	status, err := o.readable(conditions, s.now())
	if err == nil && status == http.StatusNotModified {
		err = preconditionFailed("If-None-Match")
		if conditions.Get("If-None-Match") == "" {
			err = preconditionFailed("If-Modified-Since")
		}
	}
	if err != nil {
		return nil, err.copied()
	}
	return o, nil
}

// copyObject serves CopyObject.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html
func (s *Store) copyObject(b *bucket, c *Call) (*Answer, *apiError) {
	from, err := s.sourceOf(c)
	if err != nil {
		return nil, err
	}
	key, h, kept := c.Keys[0], c.in.header, from.header
	switch directive := cmp.Or(h.Get("X-Amz-Metadata-Directive"), "COPY"); {
	case directive == "REPLACE":
		if kept, err = metadata(h); err != nil {
			return nil, err
		}
	case directive != "COPY":
		return nil, invalidArgument("Unknown metadata directive.", "x-amz-metadata-directive", directive)
	case *c.in.source == source{c.Bucket, key} && h.Get("X-Amz-Storage-Class") == "" &&
		h.Get("X-Amz-Server-Side-Encryption") == "":
		return nil, errCopyToItself
	}
	algorithm, err := algorithmNamed(h.Get("X-Amz-Checksum-Algorithm"), from.checksum.algorithm)
	if err != nil {
		return nil, err
	}
	old, _ := b.objects.Get(key)
	if err := writable(old, key, h); err != nil {
		return nil, err
	}
	o := s.put(b, key, from.body, kept, checksum{algorithm: algorithm, value: algorithm.sum(from.body)})
	answer := document(struct {
		XMLName            xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CopyObjectResult"`
		LastModified, ETag string
		Checksum           checksum
		ChecksumType       string
	}{LastModified: o.modified.Format(timeFormat), ETag: o.etag, Checksum: o.checksum,
		ChecksumType: checksumType(false)})
	answer.header["X-Amz-Server-Side-Encryption"] = []string{"AES256"}
	return answer, nil
}

// uploadPartCopy serves UploadPartCopy.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html
func (s *Store) uploadPartCopy(b *bucket, c *Call) (*Answer, *apiError) {
	u, err := b.uploadOf(c)
	if err != nil {
		return nil, err
	}
	from, err := s.sourceOf(c)
	if err != nil {
		return nil, err
	}
	body := from.body
	if asked := c.in.header.Get("X-Amz-Copy-Source-Range"); asked != "" {
		if body, err = partOf(body, asked); err != nil {
			return nil, err
		}
	}
	p, err := s.keepPart(b, u, c, body)
	if err != nil {
		return nil, err
	}
	sum := checksum{algorithm: u.algorithm, value: p.checksum}
	return document(struct {
		XMLName            xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CopyPartResult"`
		LastModified, ETag string
		Checksum           checksum
	}{LastModified: p.modified.Format(timeFormat), ETag: p.etag, Checksum: sum}), nil
}

// partOf returns the bytes of a source that an UploadPartCopy asks for. The source must contain all these bytes and be
// larger than 5 MB.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html (x-amz-copy-source-range)
func partOf(body []byte, asked string) ([]byte, *apiError) {
	refuse := func(message string) ([]byte, *apiError) {
		return nil, invalidArgument(message, "x-amz-copy-source-range", asked)
	}
	spec, ok := strings.CutPrefix(asked, "bytes=")
	from, to, dash := strings.Cut(spec, "-")
	first, isFirst := position(from)
	last, isLast := position(to)
	switch {
	case !ok || !dash || !isFirst || !isLast:
		return refuse("The x-amz-copy-source-range value must be of the form bytes=first-last where first " +
			"and last are the zero-based offsets of the first and last bytes to copy")
	case len(body) <= minPartBytes:
		return nil, invalidRequest("The specified copy source is not supported as a byte-range copy source.")
	case first > last || last >= len(body):
		return refuse(fmt.Sprintf("Range specified is not valid for source object of size: %d", len(body)))
	}
	return body[first : last+1], nil
}

// maxDeletes is the maximum number of keys in a DeleteObjects.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
const maxDeletes = 1000

// deleteOne serves DeleteObject. Deleting a missing object succeeds, unless a condition requires the object.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html
func (s *Store) deleteOne(b *bucket, c *Call) (*Answer, *apiError) {
	key := c.Keys[0]
	old, _ := b.objects.Get(key)
	if err := deletable(old, key, c.in.header.Get("If-Match")); err != nil {
		return nil, err
	}
	b.delete(key)
	return &Answer{Status: http.StatusNoContent, header: http.Header{}}, nil
}

// deleteObject is the body of a DeleteObjects.
type deleteObject struct {
	Quiet   bool
	Objects []deleteEntry
}

type deleteEntry struct{ Key, ETag string }

// parseDeletes reads the body of a DeleteObjects. It stops at the first object beyond the limit.
func parseDeletes(body []byte) (*deleteObject, *apiError) {
	in := new(deleteObject)
	var one deleteEntry
	err := walkXML(body, "Delete", func(path, text string) *apiError {
		switch path {
		case "Delete/Quiet":
			quiet, err := strconv.ParseBool(cmp.Or(strings.TrimSpace(text), "false"))
			if err != nil {
				return errMalformedXML
			}
			in.Quiet = quiet
		case "Delete/Object/Key":
			one.Key = text
		case "Delete/Object/ETag":
			one.ETag = text
		case "Delete/Object/VersionId":
			if text != "" && text != "null" {
				return unsupported("versions of objects")
			}
		case "Delete/Object/LastModifiedTime", "Delete/Object/Size": // only directory buckets have these
			return unsupported("LastModifiedTime and Size as conditions of DeleteObjects")
		case "Delete/Object":
			if one.Key == "" || len(in.Objects) == maxDeletes {
				return errMalformedXML
			}
			in.Objects = append(in.Objects, one)
			one = deleteEntry{}
		}
		return nil
	})
	if err == nil && len(in.Objects) == 0 {
		err = errMalformedXML
	}
	return in, err
}

// deleteMany serves DeleteObjects. It deletes the keys one by one, in the order of the request.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
func (s *Store) deleteMany(b *bucket, c *Call) (*Answer, *apiError) {
	if !integrityNamed(c.in) {
		return nil, invalidRequest("Missing required header for this request: Content-MD5")
	}
	if _, err := verify(c.in); err != nil {
		return nil, err
	}
	type deleted struct {
		Key string `xml:"Key"`
	}
	type failed struct {
		Key     string `xml:"Key"`
		Code    string `xml:"Code"`
		Message string `xml:"Message"`
	}
	out := struct {
		XMLName xml.Name  `xml:"http://s3.amazonaws.com/doc/2006-03-01/ DeleteResult"`
		Deleted []deleted `xml:"Deleted"`
		Errors  []failed  `xml:"Error"`
	}{}
	for _, o := range c.in.deletes.Objects {
		old, _ := b.objects.Get(o.Key)
		err := checkKey(o.Key)
		if err == nil {
			err = deletable(old, o.Key, o.ETag)
		}
		if err != nil {
			out.Errors = append(out.Errors, failed{o.Key, err.code, err.message})
			continue
		}
		b.delete(o.Key)
		if !c.in.deletes.Quiet {
			out.Deleted = append(out.Deleted, deleted{o.Key})
		}
	}
	return document(out), nil
}

func document(v any) *Answer {
	body, err := xml.Marshal(v)
	if err != nil { // cannot happen: all these types have an XML form
		return refused(errInternal)
	}
	return &Answer{Status: http.StatusOK, header: http.Header{"Content-Type": {"application/xml"}},
		body: append([]byte(xml.Header), body...)}
}
