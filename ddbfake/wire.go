package ddbfake

import (
	"context"
	"fmt"
	"net/http"
	"strings"

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
)

// do is an entry of the engine, or something that stands before one.
type do func(context.Context, Call) (any, error)

// answer decodes a request's body, lets the service serve it and encodes the
// answer. The error is a reason for having no answer at all: a NetworkError, a
// context that is done, or an error of do that is none of the service's.
func (to *HTTPReply) answer(ctx context.Context, do do, s signer, r *HTTPRequest, body []byte) error {
	out, err := call(ctx, do, s, r, body)
	if err != nil {
		return to.refuse(err)
	}
	answered, ok := out.(shape)
	if !ok {
		return fmt.Errorf("ddbfake: %s was answered with a %T, which is no output of the SDK", r.Target, out)
	}
	to.Status = http.StatusOK
	to.Body = appendOutput(to.Body, answered)
	return nil
}

// refuse encodes an error of the service; any other error it returns.
func (to *HTTPReply) refuse(err error) error {
	e, ok := DescribeError(err)
	if !ok {
		return err
	}
	to.Status = e.Status
	to.Body = appendError(to.Body, err, e)
	return nil
}

func call(ctx context.Context, do do, s signer, r *HTTPRequest, body []byte) (any, error) {
	op := operationByTarget[r.Target]
	if op == nil {
		name, ok := operationIn(r.Target)
		if !ok {
			return nil, errUnknownTarget
		}
		return nil, &UnsupportedError{Operation: strings.Clone(name)}
	}
	in, err := decodeInput(op, body)
	if err != nil {
		return nil, err
	}
	if r.Invocation != "" {
		ctx = &invokedContext{ctx, r.Invocation}
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
// costs one allocation, and the id more only if it is asked for.
type invokedContext struct {
	context.Context
	id string // as long as the request is served
}

// Value returns the id, or what the context within has.
func (c *invokedContext) Value(key any) any {
	if key == (invocationKey{}) {
		return strings.Clone(c.id)
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

// requestID names a request of a door by its number, in the form of the
// service's own: 52 digits and capital letters.
func requestID(n uint64) (id [52]byte) {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	copy(id[:], "ISRSIM0000000000000000000000000000000000000000000000")
	for i := len(id) - 1; n > 0; i, n = i-1, n/36 {
		id[i] = digits[n%36]
	}
	return id
}
