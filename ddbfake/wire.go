package ddbfake

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
)

// do serves a call: the engine's method, or a function in front of it.
type do func(context.Context, Call) (any, error)

// wireCall is a call as it came over a wire, through any door. Its strings are needed only until it is served, but the
// decoded input keeps referring to the body.
type wireCall struct {
	target     string // names the operation
	host       string // the host that the client called; "" if it named none
	signer     awsjson.Signer
	invocation string // see Invocation; "" if there is none
	body       []byte
}

// serve decodes the call, serves it, appends the encoded answer to dst, and returns its HTTP status. An error means
// that there is no answer: a NetworkError, a done context, or an error of do that is not one of the service's.
func (w *wireCall) serve(ctx context.Context, do do, dst []byte) (answer []byte, status int, err error) {
	call, err := w.decode()
	if err != nil {
		return encodeError(dst, err)
	}
	if w.invocation != "" {
		ctx = &invokedContext{ctx, w.invocation}
	}
	out, err := do(ctx, call)
	if err != nil {
		return encodeError(dst, err)
	}
	return w.encode(dst, out)
}

// decode finds the operation, and reads its input. Errors are the service's.
func (w *wireCall) decode() (Call, error) {
	op := operationByTarget[w.target]
	if op == nil {
		name, ok := awsjson.OperationIn(w.target)
		if !ok {
			return Call{}, errUnknownTarget
		}
		return Call{}, &UnsupportedError{Operation: strings.Clone(name)}
	}
	in := op.newInput()
	if err := awsjson.Decode(w.body, in); err != nil {
		return Call{}, err
	}
	return Call{Actor: w.signer.Actor, Region: w.signer.Region, Input: in}, nil
}

// encode encodes an output of do.
func (w *wireCall) encode(dst []byte, out any) (answer []byte, status int, err error) {
	if found, ok := out.(*dynamodb.DescribeEndpointsOutput); ok && w.host != "" { // the engine knows no server
		found.Endpoints[0].Address = aws.String(strings.Clone(w.host))
	}
	shape, ok := out.(awsjson.Shape)
	if !ok {
		return dst, 0, fmt.Errorf("ddbfake: %s was answered with a %T, which is no output of the SDK", w.target, out)
	}
	return awsjson.Append(dst, shape), http.StatusOK, nil
}

// encodeError encodes an error of the service, and returns any other error.
func encodeError(dst []byte, err error) (answer []byte, status int, _ error) {
	if answer, status = awsjson.AppendError(dst, err); status == 0 {
		return dst, 0, err
	}
	return answer, status, nil
}

// errUnknownTarget is the error for a target that names no operation. The service gives no message.
var errUnknownTarget = &smithy.GenericAPIError{Code: "UnknownOperationException", Fault: smithy.FaultClient}

type invocationKey struct{}

// invokedContext carries the id of an invocation, as context.WithValue does. It costs one allocation, and a lookup of
// the id costs another.
type invokedContext struct {
	context.Context
	id string // valid while the request is served
}

// Value returns the id, or the value of the wrapped context.
func (c *invokedContext) Value(key any) any {
	if key == (invocationKey{}) {
		return strings.Clone(c.id)
	}
	return c.Context.Value(key)
}

// Invocation returns the id that the attempts of one call share: the SDK sends the same amz-sdk-invocation-id with a
// call and with each of its retries. It is meant for the argument do of Transport and NewClient, which is called once
// per attempt. It returns "" if ctx does not come from a client that sends an id.
func Invocation(ctx context.Context) string {
	id, _ := ctx.Value(invocationKey{}).(string)
	return id
}

// Headers in canonical form, used directly as keys of an http.Header. Its methods would canonicalise a name each time.
const (
	headerAuthorization = "Authorization"
	headerContentType   = "Content-Type"
	headerEncoding      = "Content-Encoding"
	headerCRC32         = "X-Amz-Crc32"
	headerInvocation    = "Amz-Sdk-Invocation-Id"
	headerRegionSet     = "X-Amz-Region-Set"
	headerRequestID     = "X-Amzn-Requestid"
	headerServer        = "Server"
	headerTarget        = "X-Amz-Target"
)

// first returns the value of a header by its canonical name.
func first(h http.Header, name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// setHeaders fills in the headers of an answer. The server sets Date. In process there is no Date, so the SDK does not
// adjust its clock.
func setHeaders(h http.Header, contentType string, id [52]byte, crc32 uint32) {
	values := [...]string{contentType, string(id[:]), strconv.FormatUint(uint64(crc32), 10), httpdoor.Server}
	h[headerContentType] = values[0:1:1]
	h[headerRequestID] = values[1:2:2]
	h[headerCRC32] = values[2:3:3]
	h[headerServer] = values[3:4:4]
}

// buffers holds memory for answers, which are needed only during a call.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// keepBuffer is the size of the largest buffer that returns to the pool.
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
