package ddbfake

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/smithy-go"
)

// The protocol is AWS JSON 1.0: one POST to / a call, the operation in a
// header, errors by __type.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
// Source: https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html
const (
	contentType         = "application/x-amz-json-1.0"
	targetPrefix        = "DynamoDB_20120810."
	streamsTargetPrefix = "DynamoDBStreams_20120810."

	// headers in their canonical form, as keys of a http.Header
	headerAuthorization = "Authorization"
	headerContentType   = "Content-Type"
	headerEncoding      = "Content-Encoding"
	headerCRC32         = "X-Amz-Crc32"
	headerInvocation    = "Amz-Sdk-Invocation-Id"
	headerRegionSet     = "X-Amz-Region-Set"
	headerRequestID     = "X-Amzn-Requestid"
	headerTarget        = "X-Amz-Target"
)

// maxBody is the largest request the service reads, before and after it is
// unpacked: 16 MB.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
const maxBody = 16 << 20

// do is an entry of the engine, or something that stands before one.
type do func(context.Context, Call) (any, error)

// reply is an answer on its way to a caller.
type reply struct {
	status int
	body   []byte
}

// answer decodes a request, lets the service serve it and encodes the answer,
// which is appended to dst. The error is a reason for having no answer at
// all: a NetworkError, a context that is done, or an error of do that is none
// of the service's.
func answer(ctx context.Context, do do, s signer, h http.Header, body, dst []byte) (reply, error) {
	out, err := call(ctx, do, s, h, body)
	if err != nil {
		return refuse(err, dst)
	}
	answered, ok := out.(shape)
	if !ok {
		return reply{}, fmt.Errorf("ddbfake: %s was answered with a %T, which is no output of the SDK", h.Get(headerTarget), out)
	}
	return reply{status: http.StatusOK, body: appendOutput(dst, answered)}, nil
}

// refuse encodes an error of the service, appended to dst; any other error it
// returns.
func refuse(err error, dst []byte) (reply, error) {
	e, ok := DescribeError(err)
	if !ok {
		return reply{}, err
	}
	return reply{status: e.Status, body: appendError(dst, err, e)}, nil
}

func call(ctx context.Context, do do, s signer, h http.Header, body []byte) (any, error) {
	target := first(h, headerTarget)
	op := operationByTarget[target]
	if op == nil {
		name, ok := operationIn(target)
		if !ok {
			return nil, errUnknownTarget
		}
		return nil, &UnsupportedError{Operation: name}
	}
	in, err := decodeInput(op, body)
	if err != nil {
		return nil, err
	}
	if id := first(h, headerInvocation); id != "" {
		ctx = &invokedContext{ctx, id}
	}
	return do(ctx, Call{Actor: s.actor, Region: s.region, Input: in})
}

// operationIn returns the name of the operation in a target; false if it names
// none of DynamoDB.
func operationIn(target string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(target, targetPrefix); !ok {
		name, ok = strings.CutPrefix(target, streamsTargetPrefix)
	}
	return name, ok
}

// errUnknownTarget is for a target that names no operation: the service gives
// no message.
var errUnknownTarget = &smithy.GenericAPIError{Code: "UnknownOperationException", Fault: smithy.FaultClient}

type invocationKey struct{}

// invokedContext carries the id of an invocation: a context.WithValue that
// costs one allocation, and the id one more only if it is asked for.
type invokedContext struct {
	context.Context
	id string
}

// Value returns the id, or what the context within has.
func (c *invokedContext) Value(key any) any {
	if key == (invocationKey{}) {
		return c.id
	}
	return c.Context.Value(key)
}

// Invocation returns what ties the attempts of one call together: the SDK
// sends the same amz-sdk-invocation-id with a call and with each of its
// retries. It is meant for the "do" of Transport and NewClient, which is
// called once an attempt. Empty if ctx does not come from a client that sends
// one.
func Invocation(ctx context.Context) string {
	id, _ := ctx.Value(invocationKey{}).(string)
	return id
}

// first returns the value of a header by its canonical name. http.Header.Get
// would make the name canonical again each time.
func first(h http.Header, name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// header fills in the headers of an answer. Date is left to the server: in
// process there is none, so that the SDK learns no clock skew.
func (a reply) header(h http.Header, request uint64, contentType string) {
	values := [...]string{contentType, requestID(request), strconv.FormatUint(uint64(crc32.ChecksumIEEE(a.body)), 10)}
	h[headerContentType] = values[0:1:1]
	h[headerRequestID] = values[1:2:2]
	h[headerCRC32] = values[2:3:3]
}

// requestID names a request of a door by its number, in the form of the
// service's own: 52 digits and capital letters.
func requestID(n uint64) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	id := [...]byte{51: 0} // on the stack
	copy(id[:], "ISRSIM0000000000000000000000000000000000000000000000")
	for i := len(id) - 1; n > 0; i, n = i-1, n/36 {
		id[i] = digits[n%36]
	}
	return string(id[:])
}

// authorization is the header that names an actor, in the form of Signature
// Version 4 but without a signature: this side checks none.
func authorization(actor, region string) string {
	return "AWS4-HMAC-SHA256 Credential=" + url.PathEscape(actor) + "/20400101/" + region +
		"/dynamodb/aws4_request, SignedHeaders=host, Signature=none"
}

// signer is who signed a request: the access key id, and the region for which
// it was signed, "" if none is named.
type signer struct {
	actor, region string
}

// signerOf returns who signed a request, in its Authorization header or in its
// query. The scope of a signature is date/region/service/aws4_request; version
// 4A has a header for the region.
//
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-authentication-methods.html
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
func signerOf(h http.Header, query string) (s signer, ok bool) {
	algorithm := first(h, headerAuthorization)
	_, credential, ok := strings.Cut(algorithm, "Credential=")
	credential, _, _ = strings.Cut(credential, ",")
	if algorithm == "" && query != "" {
		parameters, _ := url.ParseQuery(query) // what can be read of it
		algorithm = parameters.Get("X-Amz-Algorithm")
		credential, ok = parameters.Get("X-Amz-Credential"), true
	}
	if !ok || !strings.HasPrefix(algorithm, "AWS4-") {
		return s, false
	}
	asymmetric := strings.HasPrefix(algorithm, "AWS4-ECDSA-")
	for part := range 4 {
		if part == 2 && asymmetric {
			continue // there is no region
		}
		i := strings.LastIndexByte(credential, '/')
		if i < 0 {
			return s, false
		}
		if part == 2 {
			s.region = credential[i+1:]
		}
		credential = credential[:i]
	}
	if asymmetric {
		s.region, _, _ = strings.Cut(h.Get(headerRegionSet), ",")
		if s.region == "*" {
			s.region = ""
		}
	}
	s.actor = credential
	if strings.IndexByte(credential, '%') >= 0 {
		if name, err := url.PathUnescape(credential); err == nil {
			s.actor = name
		}
	}
	return s, true
}

// errTooLarge is for a body over maxBody.
var errTooLarge = errors.New("ddbfake: the request is larger than 16 MB")

// readBody reads a request's body into buf, and unpacks it if it is packed. It
// reads and unpacks no more than may be served. Errors are errTooLarge,
// errMalformed for what cannot be unpacked, and those of reading.
func readBody(buf []byte, r *http.Request) ([]byte, error) {
	buf = buf[:0]
	if r.Body == nil {
		return buf, nil
	}
	if r.ContentLength > maxBody {
		return buf, errTooLarge
	}
	if strings.EqualFold(first(r.Header, headerEncoding), "gzip") {
		return unpack(buf, r.Body)
	}
	if r.ContentLength > 0 {
		// Room for one byte more, to find the end there. What only says that
		// it is long gets its room when it comes.
		buf = slices.Grow(buf, int(min(r.ContentLength, keepBuffer))+1)
	}
	return readAll(buf, r.Body)
}

// readAll appends what r gives to buf, up to one byte more than maxBody.
func readAll(buf []byte, r io.Reader) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, bytes.MinRead)
		}
		n, err := r.Read(buf[len(buf):min(cap(buf), maxBody+1)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > maxBody:
			return buf, errTooLarge
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return buf, err
		}
	}
}

// unpack is readAll of a packed body, which may be no larger itself.
func unpack(buf []byte, packed io.ReadCloser) ([]byte, error) {
	unpacked, err := gzip.NewReader(http.MaxBytesReader(nil, packed, maxBody))
	if err != nil {
		return buf, errMalformed
	}
	buf, err = readAll(buf, unpacked)
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return buf, errTooLarge
	}
	if err != nil && !errors.Is(err, errTooLarge) {
		return buf, errMalformed
	}
	return buf, err
}

// buffers holds bodies that are done with.
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
