package s3fake

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/isr-sim/isr-sim/internal/wire/hostname"
	"github.com/isr-sim/isr-sim/internal/wire/httpbody"
	"github.com/isr-sim/isr-sim/internal/wire/sigv4"
)

// decode reads a request. If the request is not a valid call of an operation, the answer is the apiError. Any other
// error means that the caller is gone.
func decode(r *http.Request) (c Call, refusal *apiError, err error) {
	bucket, key, ok := resourceOf(r)
	if !ok {
		return c, errInvalidURI, nil
	}
	in, ok := inputOf(r)
	if !ok {
		return c, errInvalidURI, nil
	}
	name, refusal := operationOf(r.Method, bucket, key, in)
	if refusal != nil {
		return c, refusal, nil
	}
	if refusal := operations[name].refusal(name, in); refusal != nil {
		return c, refusal, nil
	}
	if refusal, err := in.read(r, name); refusal != nil || err != nil {
		return c, refusal, err
	}
	c = Call{Operation: name, Bucket: bucket, in: in}
	c.Actor, in.region = signerOf(r)
	switch {
	case key != "":
		c.Keys = []string{key}
		refusal = checkKey(key)
		if refusal == nil {
			refusal = c.details()
		}
	case name == "DeleteObjects":
		if in.deletes, refusal = parseDeletes(in.body); refusal != nil {
			return c, refusal, nil
		}
		for _, o := range in.deletes.Objects {
			c.Keys = append(c.Keys, o.Key)
		}
	}
	return c, refusal, nil
}

// details reads the further members of a copy and of the completion of an upload.
func (c *Call) details() (refusal *apiError) {
	switch c.Operation {
	case "CopyObject", "UploadPartCopy":
		if c.in.source, refusal = parseSource(c.in.header); refusal == nil && c.in.source.bucket == c.Bucket {
			c.Keys = append(c.Keys, c.in.source.key)
		}
	case "CompleteMultipartUpload":
		c.in.parts, refusal = parseParts(c.in.body)
	}
	return refusal
}

// inputOf returns the parameters and the headers of a request. In a presigned URL, headers are parameters.
//
// The checksum of a body in such a URL is ignored. An SDK that does not know the body when it signs sends the checksum
// of an empty body, and S3 accepts any body (https://github.com/localstack/localstack/issues/12169).
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
func inputOf(r *http.Request) (in *input, ok bool) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, false
	}
	in = &input{query: query, header: r.Header}
	cloned := false
	for _, parameter := range slices.Sorted(maps.Keys(query)) {
		name := http.CanonicalHeaderKey(parameter)
		if !strings.HasPrefix(name, "X-Amz-") {
			continue
		}
		if !cloned {
			in.header, cloned = in.header.Clone(), true
		}
		isSum := slices.ContainsFunc(algorithms, func(a *algorithm) bool { return a.header == name })
		if in.header.Get(name) == "" && !isSum {
			in.header[name] = query[parameter]
		}
		delete(query, parameter)
	}
	return in, true
}

func (in *input) read(r *http.Request, name string) (*apiError, error) {
	upload := name == "PutObject" || name == "UploadPart"
	switch {
	case upload && isChunked(in.header) && in.header.Get("X-Amz-Decoded-Content-Length") == "":
		return errNoLength, nil
	case upload && !isChunked(in.header) && len(r.TransferEncoding) > 0:
		return notImplemented("Transfer-Encoding"), nil
	}
	var body io.Reader
	if r.Body != nil && r.Body != http.NoBody {
		body = r.Body
	}
	content, err := httpbody.Read(body, r.ContentLength, "")
	switch {
	case errors.Is(err, httpbody.ErrTooLarge):
		return errEntityTooLarge, nil
	case err != nil:
		return nil, err
	case r.ContentLength > int64(len(content)):
		return errIncompleteBody, nil
	}
	in.body = content
	if !isChunked(in.header) {
		return nil, nil
	}
	var refusal *apiError
	in.body, in.trailer, refusal = unchunk(content, in.header)
	return refusal, nil
}

// resourceOf returns the bucket and the key of a request. They are in its path, or the bucket is in its host.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
func resourceOf(r *http.Request) (bucket, key string, ok bool) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/")
	if bucket = bucketOfHost(cmp.Or(r.Host, r.URL.Host)); bucket == "" {
		bucket, path, _ = strings.Cut(path, "/")
	}
	bucket, bucketErr := url.PathUnescape(bucket)
	key, keyErr := url.PathUnescape(path)
	return bucket, key, bucketErr == nil && keyErr == nil
}

// bucketOfHost returns the bucket in a host such as pages.s3.eu-west-1.amazonaws.com or pages.localhost, or "".
func bucketOfHost(host string) string {
	host = hostname.Of(host)
	if bucket, ok := strings.CutSuffix(host, ".localhost"); ok && bucket != "s3" {
		return strings.TrimSuffix(bucket, ".s3")
	}
	if i := strings.LastIndex(host, ".s3."); i > 0 {
		return host[:i]
	}
	return ""
}

// operationOf returns the name of the operation that a request calls.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
func operationOf(method, bucket, key string, in *input) (name string, refusal *apiError) {
	// either chooses between two operations that share a method: it returns `with` if the request has the parameter,
	// and `without` otherwise.
	either := func(parameter, with, without string) string {
		if in.query.Has(parameter) {
			return with
		}
		return without
	}
	if name, refusal, ok := subresource(method, key != "", in); ok && bucket != "" {
		return name, refusal
	}
	// Their requests differ from those of others only by their hosts, and by the name that SDKs add.
	if id := in.query.Get("x-id"); id == "ListDirectoryBuckets" || id == "WriteGetObjectResponse" {
		return "", unsupported("the operation " + id)
	}
	var byMethod map[string]string
	switch {
	case bucket == "":
		byMethod = map[string]string{http.MethodGet: "ListBuckets"}
	case key == "":
		list := either("versions", "ListObjectVersions", either("list-type", "ListObjectsV2", "ListObjects"))
		byMethod = map[string]string{
			http.MethodPut: "CreateBucket", http.MethodDelete: "DeleteBucket", http.MethodHead: "HeadBucket",
			http.MethodGet:  either("location", "GetBucketLocation", either("uploads", "ListMultipartUploads", list)),
			http.MethodPost: either("delete", "DeleteObjects", ""),
		}
	default:
		put, part := "PutObject", "UploadPart"
		if in.header.Get("X-Amz-Copy-Source") != "" {
			put, part = "CopyObject", "UploadPartCopy"
		}
		byMethod = map[string]string{
			http.MethodGet:  either("uploadId", "ListParts", "GetObject"),
			http.MethodHead: "HeadObject",
			http.MethodPut:  either("uploadId", part, put),
			http.MethodPost: either("uploads", "CreateMultipartUpload",
				either("uploadId", "CompleteMultipartUpload", "")),
			http.MethodDelete: either("uploadId", "AbortMultipartUpload", "DeleteObject"),
		}
	}
	name, ok := byMethod[method]
	switch {
	case key == "" && name == "" && method == http.MethodPost && ok:
		return "", unsupported("POST Object, the upload of forms")
	case name == "" && (method == http.MethodPost || method == http.MethodPut):
		return "", unsupported("the operation of this " + method)
	case !ok:
		return "", errMethodNotAllowed
	}
	return name, nil
}

// signerOf returns the access key id and the region of a request; each is "" if the request lacks it. Signatures are
// not checked.
func signerOf(r *http.Request) (actor, region string) {
	authorization := r.Header.Get("Authorization")
	signer, ok := sigv4.SignerOf(authorization, r.URL.RawQuery, r.Header.Get("X-Amz-Region-Set"))
	if ok {
		return signer.Actor, signer.Region
	}
	// Signature Version 2.
	id, _, _ := strings.Cut(strings.TrimPrefix(authorization, "AWS "), ":")
	return id, ""
}

// isChunked reports whether a body has the encoding aws-chunked, in which SDKs send streams.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
func isChunked(h http.Header) bool {
	return strings.HasPrefix(h.Get("X-Amz-Content-Sha256"), "STREAMING-")
}

// minChunkBytes is the minimum size of a chunk; only the last one may be smaller.
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
