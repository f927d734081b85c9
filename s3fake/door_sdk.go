package s3fake

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/wire/sigv4"
)

// Client returns a real client of the SDK whose requests go directly to this Store, without a socket. See NewClient for
// its options.
func (s *Store) Client(optFns ...func(*s3.Options)) *s3.Client { return NewClient(s.Do, optFns...) }

// NewClient returns a real client of the SDK whose requests go to the function do. Each attempt of a request calls do
// once, in the goroutine of the client's caller. The function may hold the call back before it passes it on to
// Store.Do.
//
// It differs from a client of s3.NewFromConfig only in things that would make runs differ from each other or depend on
// the environment. Nothing is loaded from files, the environment or the network. The retryer is ddbfake.Retryer(3),
// without delay and jitter. Requests have no signature, only the access key id. Buckets are in the path. Without
// credentials the actor is "": see WithActor.
//
// The functional options come last and can change all of that.
func NewClient(do func(context.Context, Call) (*Answer, error), optFns ...func(*s3.Options)) *s3.Client {
	return s3.New(s3.Options{
		Region:       ddbfake.DefaultRegion,
		BaseEndpoint: aws.String("https://s3." + ddbfake.DefaultRegion + ".isr-sim.invalid"),
		UsePathStyle: true,
		HTTPClient:   &transport{do: do},
		HTTPSignerV4: nameSigner{},
		Credentials:  aws.AnonymousCredentials{},
		Retryer:      ddbfake.Retryer(retry.DefaultMaxAttempts),
		APIOptions:   []func(*middleware.Stack) error{withoutInvocationID},
	}, optFns...)
}

// withoutInvocationID keeps the SDK from drawing a random id for each call: nothing here depends on it.
func withoutInvocationID(s *middleware.Stack) error {
	_, err := s.Build.Remove((*awsmiddleware.ClientRequestID)(nil).ID())
	return err
}

// WithActor names the caller of a client, or of one call of it: the actor becomes the access key id, through every
// door.
func WithActor(actor string) func(*s3.Options) {
	return func(o *s3.Options) { o.Credentials = actorCredentials(actor) }
}

// actorCredentials are credentials whose access key id is an actor.
type actorCredentials string

// Retrieve returns them.
func (a actorCredentials) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: string(a), SecretAccessKey: "none", Source: "s3fake"}, nil
}

// nameSigner names the actor in the Authorization header and signs nothing.
type nameSigner struct{}

// SignHTTP sets the header.
func (nameSigner) SignHTTP(_ context.Context, c aws.Credentials, r *http.Request, _, _, region string, _ time.Time,
	_ ...func(*v4.SignerOptions)) error {
	r.Header["Authorization"] = []string{sigv4.Authorization(c.AccessKeyID, region, "s3")}
	return nil
}

// Transport returns a transport whose requests go to do. It is for clients that the caller makes, and for servers other
// than net/http's. It decodes each request, calls do in the goroutine of RoundTrip, and encodes the answer. An error of
// do is returned unchanged. The returned value also has a method Do, so it can be the HTTPClient of s3.Options.
func Transport(do func(context.Context, Call) (*Answer, error)) http.RoundTripper {
	return &transport{do: do}
}

type transport struct {
	do       func(context.Context, Call) (*Answer, error)
	requests atomic.Uint64
}

// RoundTrip serves one request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.Do(r) }

// Do serves one request.
func (t *transport) Do(r *http.Request) (*http.Response, error) {
	answer, err := t.serve(r)
	if r.Body != nil {
		_ = r.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	return answer.response(r, fmt.Sprintf("%016X", t.requests.Add(1))), nil
}

func (t *transport) serve(r *http.Request) (*Answer, error) {
	call, refusal, err := decode(r)
	switch {
	case err != nil:
		return nil, err
	case refusal != nil:
		return refused(refusal), nil
	}
	return t.do(r.Context(), call)
}

// response encodes an answer. A server adds the header Date. In the process there is no Date, so the SDK does not
// correct its clock.
func (a *Answer) response(r *http.Request, requestID string) *http.Response {
	h, body := a.header.Clone(), a.body
	if a.err != nil {
		h["Content-Type"] = []string{"application/xml"}
		body = a.err.xml(requestID)
	}
	h["X-Amz-Request-Id"] = []string{requestID}
	h["X-Amz-Id-2"] = []string{hostID}
	out := &http.Response{
		Status:        strconv.Itoa(a.Status) + " " + http.StatusText(a.Status),
		StatusCode:    a.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        h,
		ContentLength: int64(len(body)),
		Request:       r,
		Body:          http.NoBody,
	}
	switch {
	case a.Status == http.StatusNoContent || a.Status == http.StatusNotModified:
		out.ContentLength = 0
		return out
	case r.Method == http.MethodHead && a.err != nil: // the status is all that there is of the error
		out.ContentLength = 0
		delete(h, "Content-Type")
	case r.Method != http.MethodHead && len(body) > 0:
		out.Body = &responseBody{*bytes.NewReader(body)}
	}
	h["Content-Length"] = []string{strconv.FormatInt(out.ContentLength, 10)}
	return out
}

// responseBody is a body in memory.
type responseBody struct{ bytes.Reader }

// Close does nothing.
func (*responseBody) Close() error { return nil }
