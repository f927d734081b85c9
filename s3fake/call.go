package s3fake

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Call is one request to the store, through any door. Doors make Calls. A function between a door and Store.Do can read
// a Call, delay it, and set its Fault.
type Call struct {
	// Actor names the caller. It is the access key id, or "" if the request has no credentials.
	Actor string
	// Operation is the operation's name in the API, such as PutObject.
	Operation string
	// Bucket is the bucket's name; "" for ListBuckets.
	Bucket string
	// Keys are the keys of the objects that the call names: usually one, several for DeleteObjects, and none for an
	// operation on a bucket. For a copy within a bucket, the key of the source comes second.
	Keys []string
	// Fault, if set, strikes this call, whatever the fault's predicates say. If it is nil, the injected faults decide.
	Fault *Fault

	in *input
}

// String names the call in the form of traces: PutObject pages/home if-none-match=*.
func (c Call) String() string {
	var b strings.Builder
	b.WriteString(c.Operation)
	switch {
	case len(c.Keys) > 0:
		for i, key := range c.Keys {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(" " + c.Bucket + "/" + key)
		}
	case c.Bucket != "":
		b.WriteString(" " + c.Bucket)
	}
	if c.in != nil {
		for _, name := range []string{
			"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "Range",
		} {
			if v := c.in.header.Get(name); v != "" {
				b.WriteString(" " + strings.ToLower(name) + "=" + v)
			}
		}
		for _, name := range []string{"prefix", "partNumber"} {
			if v := c.in.query.Get(name); v != "" {
				b.WriteString(" " + name + "=" + v)
			}
		}
	}
	return b.String()
}

// Strikes reports whether a fault can hit the call, by its kind and its predicates, ignoring Nth and Times.
func (c *Call) Strikes(f Fault) bool { return slices.Contains(kinds, f.Kind) && f.matches(c) }

// Invocation returns the id that an SDK gives a call, the same for all attempts; "" if the client sends none.
func (c *Call) Invocation() string {
	if c.in == nil {
		return ""
	}
	return c.in.header.Get("Amz-Sdk-Invocation-Id")
}

// conditional reports whether the call is a write with a condition.
func (c *Call) conditional() bool {
	return slices.Contains([]string{"PutObject", "DeleteObject", "CopyObject", "CompleteMultipartUpload"},
		c.Operation) &&
		(c.in.header.Get("If-Match") != "" || c.in.header.Get("If-None-Match") != "")
}

// input is what a request carries besides the names in its Call.
type input struct {
	region  string // the region of the signature, "" if there is none
	query   url.Values
	header  http.Header
	body    []byte
	trailer http.Header   // the trailer of an aws-chunked body
	deletes *deleteObject // the body of DeleteObjects
	source  *source       // the source of a copy
	parts   []namedPart   // the parts of CompleteMultipartUpload
}

// Answer is the store's answer to a Call.
type Answer struct {
	// Status is the HTTP status.
	Status int
	// Code is the error code of the API, such as PreconditionFailed; "" for a success, and for 304.
	Code string

	header http.Header
	body   []byte
	err    *apiError
}

func refused(err *apiError) *Answer {
	return &Answer{Status: err.status, Code: err.code, err: err, header: http.Header{}}
}

type operation struct {
	// serve runs the operation. The bucket is nil if it does not exist; only operations with needsBucket false run
	// then.
	serve       func(s *Store, b *bucket, c *Call) (*Answer, *apiError)
	needsBucket bool
	// query lists the parameters that the operation takes, besides those that every operation takes. A name that ends
	// with * is a prefix.
	query []string
	// headers lists the x-amz- headers that the operation takes, besides those that every operation takes.
	headers []string
	// refuses lists other headers, which the operation refuses because they change the meaning of a request.
	refuses []string
}

// operations has the store's operations. Documentation and faults are made from it.
var operations map[string]*operation

func init() {
	reads := []string{"response-*", "versionId", "partNumber"}
	lists := []string{"prefix", "delimiter", "max-keys", "encoding-type"}
	made := []string{"X-Amz-Acl", "X-Amz-Meta-*", "X-Amz-Server-Side-Encryption", "X-Amz-Storage-Class"}
	copies := []string{"X-Amz-Copy-Source", "X-Amz-Copy-Source-If-*"}
	operations = map[string]*operation{
		"AbortMultipartUpload": {serve: (*Store).abortUpload, needsBucket: true, query: []string{"uploadId"}},
		"CompleteMultipartUpload": {
			serve: (*Store).completeUpload, needsBucket: true, query: []string{"uploadId"},
			headers: append(checksumHeaders(), "X-Amz-Checksum-Type", "X-Amz-Mp-Object-Size"),
		},
		"CopyObject": {
			serve: (*Store).copyObject, needsBucket: true,
			headers: slices.Concat(made, copies,
				[]string{"X-Amz-Checksum-Algorithm", "X-Amz-Metadata-Directive", "X-Amz-Tagging-Directive"}),
		},
		"CreateBucket": {serve: (*Store).createBucket, headers: []string{"X-Amz-Acl"}},
		"CreateMultipartUpload": {
			serve: (*Store).createUpload, needsBucket: true, query: []string{"uploads"},
			headers: append(made, "X-Amz-Checksum-Algorithm", "X-Amz-Checksum-Type"),
		},
		"DeleteBucket": {serve: (*Store).deleteBucket, needsBucket: true},
		"DeleteObject": {serve: (*Store).deleteOne, needsBucket: true, query: []string{"versionId"},
			refuses: []string{"If-None-Match"}},
		"DeleteObjects": {
			serve: (*Store).deleteMany, needsBucket: true, query: []string{"delete"}, headers: checksumHeaders(),
		},
		"GetBucketLocation":   {serve: (*Store).bucketLocation, needsBucket: true, query: []string{"location"}},
		"GetBucketVersioning": {serve: (*Store).bucketVersioning, needsBucket: true, query: []string{"versioning"}},
		"GetObject": {serve: (*Store).getObject, needsBucket: true, query: reads,
			headers: []string{"X-Amz-Checksum-Mode"}},
		"GetObjectTagging": {serve: (*Store).objectTags, needsBucket: true, query: []string{"tagging", "versionId"}},
		"HeadBucket":       {serve: (*Store).headBucket, needsBucket: true},
		"HeadObject": {serve: (*Store).getObject, needsBucket: true, query: reads,
			headers: []string{"X-Amz-Checksum-Mode"}},
		"ListBuckets": {serve: (*Store).listBuckets},
		"ListMultipartUploads": {
			serve: (*Store).listUploads, needsBucket: true,
			query: []string{"uploads", "prefix", "delimiter", "max-uploads", "encoding-type",
				"key-marker", "upload-id-marker"},
		},
		"ListObjectVersions": {
			serve: (*Store).listVersions, needsBucket: true,
			query: append(lists, "versions", "key-marker", "version-id-marker"),
		},
		"ListObjects": {serve: (*Store).listObjects, needsBucket: true, query: append(lists, "marker")},
		"ListObjectsV2": {
			serve: (*Store).listObjects, needsBucket: true,
			query: append(lists, "list-type", "continuation-token", "start-after", "fetch-owner"),
		},
		"ListParts": {
			serve: (*Store).listParts, needsBucket: true,
			query: []string{"uploadId", "max-parts", "part-number-marker"},
		},
		"PutObject": {serve: (*Store).putObject, needsBucket: true, headers: append(checksumHeaders(), made...)},
		"UploadPart": {serve: (*Store).uploadPart, needsBucket: true, query: []string{"uploadId", "partNumber"},
			headers: checksumHeaders()},
		"UploadPartCopy": {
			serve: (*Store).uploadPartCopy, needsBucket: true, query: []string{"uploadId", "partNumber"},
			headers: append(copies, "X-Amz-Copy-Source-Range"),
		},
	}
}

// operationNames returns the names of the store's operations, sorted.
func operationNames() []string { return slices.Sorted(maps.Keys(operations)) }

// Parameters and headers that every operation takes. They concern signatures, the SDK, and the account.
var (
	commonQuery   = []string{"x-id", "AWSAccessKeyId", "Signature", "Expires"}
	commonHeaders = []string{
		"X-Amz-Algorithm", "X-Amz-Content-Sha256", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Decoded-Content-Length",
		"X-Amz-Expected-Bucket-Owner", "X-Amz-Expires", "X-Amz-Region-Set", "X-Amz-Request-Payer", "X-Amz-Sdk-*",
		"X-Amz-Security-Token", "X-Amz-Signature",
		"X-Amz-Signedheaders", "X-Amz-Source-Expected-Bucket-Owner", "X-Amz-Te", "X-Amz-Trailer", "X-Amz-User-Agent",
	}
)

// refusal returns the error for a parameter or a header that the operation does not take. If the store ignored a part
// of a request, a test could pass here and fail at the service.
func (op *operation) refusal(name string, in *input) *apiError {
	for _, parameter := range slices.Sorted(maps.Keys(in.query)) {
		if !oneOf(parameter, commonQuery) && !oneOf(parameter, op.query) {
			return unsupported("the parameter " + parameter + " of " + name)
		}
	}
	if v := in.query.Get("versionId"); v != "" && v != "null" {
		return unsupported("versions of objects")
	}
	for _, header := range slices.Sorted(maps.Keys(in.header)) {
		if strings.HasPrefix(header, "X-Amz-") && !oneOf(header, commonHeaders) && !oneOf(header, op.headers) {
			return unsupported("the header " + strings.ToLower(header) + " of " + name)
		}
	}
	for _, header := range op.refuses {
		if in.header.Get(header) != "" {
			return notImplemented(header)
		}
	}
	return refuseValues(in.header)
}

// refuseValues refuses headers with values that the store does not support.
func refuseValues(h http.Header) *apiError {
	for _, known := range []struct {
		header string
		values []string
	}{
		{"X-Amz-Acl", []string{"private", "bucket-owner-full-control"}},
		{"X-Amz-Server-Side-Encryption", []string{"AES256"}},
		{"X-Amz-Storage-Class", []string{"STANDARD"}},
		{"X-Amz-Tagging-Directive", []string{"COPY"}},
	} {
		if v := h.Get(known.header); v != "" && !slices.Contains(known.values, v) {
			return unsupported("the header " + strings.ToLower(known.header) + " with the value " + v)
		}
	}
	return nil
}

// oneOf reports whether a name is in a list, whose elements that end with * are prefixes.
func oneOf(name string, list []string) bool {
	return slices.ContainsFunc(list, func(known string) bool {
		if prefix, ok := strings.CutSuffix(known, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return name == known
	})
}

// Request is one call that reached the store, and its outcome.
type Request struct {
	// ID is the number of the call, counted from 1.
	ID int
	// Time is when the call was served.
	Time time.Time
	// Actor, Operation, Bucket and Keys are those of the Call.
	Actor, Operation, Bucket string
	Keys                     []string
	// Fault is the fault that hit the call; nil if none did.
	Fault *Fault
	// Status is the HTTP status of the answer; 0 if there was no answer. Code is the answer's error code; "" if it has
	// none.
	Status int
	Code   string
}

// String prints the request as one line:
//
//	7 alice PutObject bodies/home: 412 PreconditionFailed
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d ", r.ID)
	if r.Actor != "" {
		b.WriteString(r.Actor + " ")
	}
	b.WriteString(Call{Operation: r.Operation, Bucket: r.Bucket, Keys: r.Keys}.String() + ": ")
	if r.Status == 0 {
		b.WriteString("no answer")
	} else {
		fmt.Fprintf(&b, "%d", r.Status)
	}
	if r.Code != "" {
		b.WriteString(" " + r.Code)
	}
	if r.Fault != nil {
		fmt.Fprintf(&b, " (%s)", r.Fault)
	}
	return b.String()
}

// Requests returns the latest requests, oldest first. Options.LogRequests says how many are kept.
func (s *Store) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served.All()
}
