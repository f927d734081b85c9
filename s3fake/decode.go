package s3fake

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/isr-sim/isr-sim/internal/wire/hostname"
	"github.com/isr-sim/isr-sim/internal/wire/httpbody"
	"github.com/isr-sim/isr-sim/internal/wire/sigv4"
)

// decode reads a request. An apiError is the answer to one that is no call of an operation; another error means that
// the caller has gone.
func decode(r *http.Request) (c Call, refusal *apiError, err error) {
	bucket, key, ok := resourceOf(r)
	if !ok {
		return c, errInvalidURI, nil
	}
	query, ok := parameters(r.URL.RawQuery)
	if !ok {
		return c, errInvalidURI, nil
	}
	name, refusal := operationOf(r.Method, bucket, key, query)
	if refusal != nil {
		return c, refusal, nil
	}
	in := &input{query: query, header: r.Header}
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

func parameters(query string) (url.Values, bool) {
	values, err := url.ParseQuery(query)
	return values, err == nil
}

// read reads the body.
func (in *input) read(r *http.Request, name string) (*apiError, error) {
	if len(r.TransferEncoding) > 0 && name == "PutObject" {
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
	if !isChunked(r.Header) {
		return nil, nil
	}
	var refusal *apiError
	in.body, in.trailer, refusal = unchunk(content, r.Header)
	return refusal, nil
}

// resourceOf returns the bucket and the key that a request is about: from its path, or the bucket from its host.
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

// bucketOfHost returns the bucket of a host such as pages.s3.eu-west-1.amazonaws.com or pages.localhost, "" if the host
// names none.
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

// operationOf returns the name of the operation that a request asks for.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
func operationOf(method, bucket, key string, query url.Values) (name string, refusal *apiError) {
	var byMethod map[string]string
	switch {
	case bucket == "":
		byMethod = map[string]string{http.MethodGet: "ListBuckets"}
	case key == "":
		byMethod = map[string]string{
			http.MethodPut: "CreateBucket", http.MethodDelete: "DeleteBucket", http.MethodHead: "HeadBucket",
			http.MethodGet: "ListObjectsV2", http.MethodPost: "DeleteObjects",
		}
	default:
		byMethod = map[string]string{
			http.MethodGet: "GetObject", http.MethodHead: "HeadObject", http.MethodPut: "PutObject", http.MethodDelete: "DeleteObject",
		}
	}
	name, ok := byMethod[method]
	switch {
	case !ok && (method == http.MethodPost || method == http.MethodPut):
		return "", unsupported("the operation of this " + method)
	case !ok:
		return "", errMethodNotAllowed
	case name == "DeleteObjects" && !query.Has("delete"):
		return "", unsupported("POST Object, the upload of forms")
	case name == "ListObjectsV2" && !query.Has("list-type"):
		if operations[name].refusal(name, &input{query: query}) == nil {
			return "", unsupported("ListObjects, the first version of the list")
		}
	}
	return name, nil
}

// signerOf returns the access key id and the region of a request, "" each if it has none. Signatures are not checked.
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
