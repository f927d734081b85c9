// Package sdk makes clients of the SDK of S3 for an S3 fake, without a socket:
//
//	client := sdk.NewClient(store.Do, sdk.WithActor("alice")) // a real *s3.Client
//
// It is a separate package because that SDK takes longer to compile than the fake.
package sdk

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/wire/sigv4"
	"github.com/isr-sim/isr-sim/s3fake"
)

// NewClient returns a real client of the SDK whose requests go to the function do. Each attempt of a request calls do
// once, in the goroutine of the client's caller. The function is Store.Do, or one that delays the call before it passes
// it on to Store.Do.
//
// It differs from a client of s3.NewFromConfig only in things that would make runs differ from each other or depend on
// the environment. Nothing is loaded from files, the environment or the network. The retryer is ddbfake.Retryer(3),
// without delay and jitter. Requests have no signature, only the access key id. Buckets are in the path. Without
// credentials the actor is "": see WithActor.
//
// The functional options come last and can change all of that.
func NewClient(do func(context.Context, s3fake.Call) (*s3fake.Answer, error), optFns ...func(*s3.Options)) *s3.Client {
	return s3.New(s3.Options{
		Region:       ddbfake.DefaultRegion,
		BaseEndpoint: aws.String("https://s3." + ddbfake.DefaultRegion + ".isr-sim.invalid"),
		UsePathStyle: true,
		HTTPClient:   direct{s3fake.Transport(do)},
		HTTPSignerV4: nameSigner{},
		Credentials:  aws.AnonymousCredentials{},
		Retryer:      ddbfake.Retryer(retry.DefaultMaxAttempts),
		APIOptions:   []func(*middleware.Stack) error{withoutInvocationID},
	}, optFns...)
}

// withoutInvocationID keeps the SDK from drawing a random id for each call, on which nothing here depends.
func withoutInvocationID(s *middleware.Stack) error {
	_, err := s.Build.Remove((*awsmiddleware.ClientRequestID)(nil).ID())
	return err
}

// WithActor names the caller of a client, or of a single call. The actor becomes the access key id, through every door.
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

// direct is an HTTP client without redirects, cookies and timeouts.
type direct struct{ http.RoundTripper }

// Do sends one request.
func (d direct) Do(r *http.Request) (*http.Response, error) { return d.RoundTrip(r) }
