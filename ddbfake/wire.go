package ddbfake

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
)

// do is an entry of the engine, or something that stands before one.
type do func(context.Context, Call) (any, error)

// answer decodes a request's body, lets the service serve it and encodes the
// answer. The error is a reason for having no answer at all: a NetworkError, a
// context that is done, or an error of do that is none of the service's.
func (to *HTTPReply) answer(ctx context.Context, do do, s awsjson.Signer, r *HTTPRequest, body []byte) error {
	out, err := call(ctx, do, s, r, body)
	if err != nil {
		return to.refuse(err)
	}
	answered, ok := out.(awsjson.Shape)
	if !ok {
		return fmt.Errorf("ddbfake: %s was answered with a %T, which is no output of the SDK", r.Target, out)
	}
	to.Status = http.StatusOK
	to.Body = awsjson.Append(to.Body, answered)
	return nil
}

// refuse encodes an error of the service; any other error it returns.
func (to *HTTPReply) refuse(err error) error {
	answer, status := awsjson.AppendError(to.Body, err)
	if status == 0 {
		return err
	}
	to.Status, to.Body = status, answer
	return nil
}

func call(ctx context.Context, do do, s awsjson.Signer, r *HTTPRequest, body []byte) (any, error) {
	op := operationByTarget[r.Target]
	if op == nil {
		name, ok := awsjson.OperationIn(r.Target)
		if !ok {
			return nil, errUnknownTarget
		}
		return nil, &UnsupportedError{Operation: strings.Clone(name)}
	}
	in := op.newInput()
	if err := awsjson.Decode(body, in); err != nil {
		return nil, err
	}
	if r.Invocation != "" {
		ctx = &invokedContext{ctx, r.Invocation}
	}
	return do(ctx, Call{Actor: s.Actor, Region: s.Region, Input: in})
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
