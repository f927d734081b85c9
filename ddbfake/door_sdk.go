package ddbfake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
	"github.com/isr-sim/isr-sim/internal/wire/httpbody"
)

// Client returns a real client of the SDK whose wire ends in this DB, without a socket, a goroutine or a timer, except
// for the timer of a retry. The client serializes, retries and deserializes as it does against AWS. See NewClient for
// its options. Its generated ids are numbered per DB.
func (db *DB) Client(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return NewClient(db.doForWire, append([]func(*dynamodb.Options){WithClientID(db.clients.Add(1))}, optFns...)...)
}

// NewClient returns a real client of the SDK whose wire ends in `do`. It calls `do` once for each attempt, in the
// caller's goroutine.
//
// It differs from a client of dynamodb.NewFromConfig only where that one would differ from run to run, or would read
// the environment:
//   - nothing is loaded from files, the environment or the network;
//   - the retryer is Retryer(3): as many attempts as the SDK's standard mode, no delay, no jitter, no token bucket;
//   - two ids are numbered upwards, the invocation id and, where the caller leaves it nil, ClientRequestToken: see
//     WithClientID;
//   - requests carry no signature, only the access key id, because no door checks one. Without credentials the actor is
//     "": see WithActor.
//
// The functional options come last and can change all of that.
func NewClient(do func(context.Context, Call) (any, error), optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       DefaultRegion,
		BaseEndpoint: aws.String("https://dynamodb." + DefaultRegion + ".isr-sim.invalid"),
		HTTPClient:   &transport{do: do},
		HTTPSignerV4: nameSigner{},
		Credentials:  aws.AnonymousCredentials{},
		Retryer:      Retryer(retry.DefaultMaxAttempts),
		APIOptions:   []func(*middleware.Stack) error{v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware},
	}, append([]func(*dynamodb.Options){WithClientID(clients.Add(1))}, optFns...)...)
}

// WithActor names the caller of a client, or of a single call. The actor becomes the access key id, on every wire.
func WithActor(actor string) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.Credentials = actorCredentials(actor) }
}

// WithClientID sets the number from which a client generates its ids: the ClientRequestToken of a transaction whose
// caller gave none, and the invocation id. Both are UUIDs made of that number and a counter, so that they are the same
// in every run.
//
// Two clients of one database must not share a number: the second one's transactions would be taken for repetitions of
// the first one's. NewClient counts clients per process, which is safe but depends on what ran before; DB.Client counts
// them per DB.
func WithClientID(id uint64) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.IdempotencyTokenProvider = &counter{client: id}
		o.APIOptions = append(o.APIOptions[:len(o.APIOptions):len(o.APIOptions)], countInvocations(id))
	}
}

// countInvocations replaces the SDK's random ids by the numbers of a client's calls.
func countInvocations(client uint64) func(*middleware.Stack) error {
	invocations := &invocationID{counter{client: client}}
	return func(s *middleware.Stack) error {
		_, err := s.Build.Swap(invocations.ID(), invocations)
		return err
	}
}

// clients numbers the clients that NewClient makes.
var clients atomic.Uint64

// counter generates UUIDs in counting order.
type counter struct {
	client uint64
	n      atomic.Uint64
}

func (c *counter) next() string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", c.client, c.n.Add(1))
}

// GetIdempotencyToken returns the next token.
func (c *counter) GetIdempotencyToken() (string, error) { return c.next(), nil }

// invocationID replaces the SDK middleware that draws a random id for each call. Retries of a call share its id.
type invocationID struct{ counter }

// ID is the id of the SDK's own middleware.
func (*invocationID) ID() string { return (*awsmiddleware.ClientRequestID)(nil).ID() }

// HandleBuild sets the header.
func (i *invocationID) HandleBuild(
	ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler,
) (middleware.BuildOutput, middleware.Metadata, error) {
	if r, ok := in.Request.(*smithyhttp.Request); ok {
		r.Header[headerInvocation] = []string{i.next()}
	}
	return next.HandleBuild(ctx, in)
}

// actorCredentials are credentials whose access key id is an actor.
type actorCredentials string

// Retrieve returns them.
func (a actorCredentials) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: string(a), SecretAccessKey: "none", Source: "ddbfake"}, nil
}

// nameSigner names the actor in the Authorization header and signs nothing.
type nameSigner struct{}

// SignHTTP sets the header.
func (nameSigner) SignHTTP(_ context.Context, c aws.Credentials, r *http.Request, _, _, region string, _ time.Time,
	_ ...func(*v4.SignerOptions)) error {
	r.Header[headerAuthorization] = []string{awsjson.Authorization(c.AccessKeyID, region)}
	return nil
}

// Retryer returns a retryer that is the same in every run: errors are classified as in the SDK's standard mode
// (throttling, status 500 and lost connections are retried), without delay, jitter or token bucket. Zero or fewer
// attempts mean the SDK's default of 3. It suits any client of the SDK in a test, even over a socket.
func Retryer(maxAttempts int) aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		o.RateLimiter = unlimited{}
	})
}

// unlimited is a rate limiter that refuses a retry only if the caller's context is done. Without it, the SDK would race
// the zero delay against the context.
type unlimited struct{}

// GetToken returns a token unless ctx is done.
func (unlimited) GetToken(ctx context.Context, _ uint) (func() error, error) {
	return func() error { return nil }, ctx.Err()
}

// AddTokens does nothing.
func (unlimited) AddTokens(uint) error { return nil }

// Transport returns the wire of the SDK door for any `do`: it decodes each request, calls `do` in the goroutine of
// RoundTrip and encodes the answer. No goroutine, channel, timer or lock surrounds that call, so do may block, switch
// coroutines or park the caller.
//
// An error of do becomes an HTTP answer if it is an error of the service. Any other error, such as a NetworkError, is
// returned from RoundTrip as it is, and the SDK retries it as a lost connection.
//
// The returned value also has a method Do, so that it serves as the HTTPClient of dynamodb.Options without an
// http.Client around it; NewClient makes whole clients.
func Transport(do func(context.Context, Call) (any, error)) http.RoundTripper {
	return &transport{do: do}
}

type transport struct {
	do       do
	requests atomic.Uint64
}

// RoundTrip serves one request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.Do(r) }

// Do serves one request.
func (t *transport) Do(r *http.Request) (*http.Response, error) {
	id, room := awsjson.RequestID(t.requests.Add(1)), getBuffer()
	answer, status, err := t.serve(r, *room)
	defer func() { putBuffer(room, answer) }()
	if err != nil {
		return nil, err
	}
	response := &http.Response{
		Status:        statusLine(status),
		StatusCode:    status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        make(http.Header, 4),
		ContentLength: int64(len(answer)),
		Request:       r,
	}
	setHeaders(response.Header, awsjson.ContentType, id, crc32.ChecksumIEEE(answer))
	b := new(responseBody)
	b.Reset(bytes.Clone(answer))
	response.Body = b
	return response, nil
}

// serve takes a request apart and appends its answer to dst.
func (t *transport) serve(r *http.Request, dst []byte) (answer []byte, status int, err error) {
	body, err := httpbody.Read(r.Body, r.ContentLength, first(r.Header, headerEncoding))
	if r.Body != nil {
		r.Body.Close()
	}
	switch {
	case errors.Is(err, httpbody.ErrTooLarge):
		return dst, http.StatusRequestEntityTooLarge, nil
	case errors.Is(err, httpbody.ErrNotPacked):
		return encodeError(dst, awsjson.ErrMalformed)
	case err != nil:
		return dst, 0, err
	}
	signer, ok := awsjson.SignerOf(first(r.Header, headerAuthorization), r.URL.RawQuery,
		first(r.Header, headerRegionSet))
	if !ok {
		signer.Region = awsmiddleware.GetRegion(r.Context()) // a request with anonymous credentials is not signed
	}
	call := wireCall{target: first(r.Header, headerTarget), signer: signer,
		invocation: first(r.Header, headerInvocation), body: body}
	return call.serve(r.Context(), t.do, dst)
}

func statusLine(status int) string {
	if status == http.StatusOK {
		return "200 OK" // nearly always, and without allocations
	}
	return strconv.Itoa(status) + " " + http.StatusText(status)
}

type responseBody struct{ bytes.Reader }

// Close does nothing.
func (*responseBody) Close() error { return nil }

// StreamsClient returns a real client of the SDK for DynamoDB Streams whose wire ends in this DB, as Client does for
// DynamoDB. Streams are an API of their own; the HTTP door serves both at one address. The access key id of the
// client's Credentials names the actor; without Credentials the actor is "".
func (db *DB) StreamsClient(optFns ...func(*dynamodbstreams.Options)) *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		Region:       DefaultRegion,
		BaseEndpoint: aws.String("https://streams.dynamodb." + DefaultRegion + ".isr-sim.invalid"),
		HTTPClient:   &transport{do: db.doForWire},
		HTTPSignerV4: nameSigner{},
		Credentials:  aws.AnonymousCredentials{},
		Retryer:      Retryer(retry.DefaultMaxAttempts),
		APIOptions: []func(*middleware.Stack) error{
			v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware, countInvocations(db.clients.Add(1)),
		},
	}, optFns...)
}
