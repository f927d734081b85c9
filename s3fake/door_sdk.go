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
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/wire/sigv4"
)

// Client returns a real client of the SDK whose wire ends in this Store, without a socket. See NewClient for its
// options.
func (s *Store) Client(optFns ...func(*s3.Options)) *s3.Client { return NewClient(s.Do, optFns...) }

// NewClient returns a real client of the SDK whose wire ends in do, which is called in the goroutine of the client's
// caller, once an attempt. do may hold the call back before it passes it on to Store.Do.
//
// It differs from a client of s3.NewFromConfig only where runs would differ from each other, or read the environment:
// nothing is loaded from files, the environment or the network; the retryer is ddbfake.Retryer(3), without delay and
// jitter; requests carry no signature, only the access key id. Buckets stand in the path. Without credentials the actor
// is "": see WithActor.
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
	}, optFns...)
}

// WithActor names the caller of a client, or of one call of it: the actor becomes the access key id, on every wire.
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
func (nameSigner) SignHTTP(_ context.Context, c aws.Credentials, r *http.Request, _, _, region string, _ time.Time, _ ...func(*v4.SignerOptions)) error {
	r.Header["Authorization"] = []string{sigv4.Authorization(c.AccessKeyID, region, "s3")}
	return nil
}

// Transport returns the wire that ends in do, for clients of one's own making and for servers other than net/http's: it
// decodes each request, calls do in the goroutine of RoundTrip, and encodes the answer. An error of do is returned
// unchanged. The returned value has a method Do as well, so that it serves as the HTTPClient of s3.Options.
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

// response encodes an answer. Date is left to the server: in process there is none, so that the SDK learns no clock
// skew.
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
	case r.Method == http.MethodHead && a.err != nil: // the error is the status alone
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
