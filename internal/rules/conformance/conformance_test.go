package conformance_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
	"github.com/isr-sim/isr-sim/internal/rules/conformance"
	"github.com/isr-sim/isr-sim/internal/rules/conformance/differential"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// newFake returns an empty fake whose clock stands at fakeclock.Epoch.
func newFake() (*ddbfake.DB, conformance.Store) {
	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	return db, conformance.Store{Name: conformance.Fake, Clock: clock, Sweep: func() { db.SweepExpired() }}
}

// goDoor is the Go door, with a client for operations that it lacks.
type goDoor struct {
	*ddbfake.Door
	others
}

type others struct{ *dynamodb.Client }

func newGoDoor(db *ddbfake.DB) goDoor { return goDoorIn(db, ddbfake.DefaultRegion) }

func goDoorIn(db *ddbfake.DB, region string) goDoor {
	return goDoor{db.As("conformance").In(region), others{db.Client(func(o *dynamodb.Options) { o.Region = region })}}
}

func streamsIn(db *ddbfake.DB, region string) *dynamodbstreams.Client {
	return db.StreamsClient(func(o *dynamodbstreams.Options) { o.Region = region })
}

func TestFakeSDKDoor(t *testing.T) {
	effort.Long(t) // only ddbfake itself is tested through this door
	db, store := newFake()
	store.Client, store.Streams = db.Client(), db.StreamsClient()
	store.In = func(region string) (conformance.Client, conformance.StreamsClient) {
		return db.Client(func(o *dynamodb.Options) { o.Region = region }), streamsIn(db, region)
	}
	conformance.Run(t, store)
}

// Each case has its own fake. So a test can see that a refused request leaves everything as it was.
func TestFakeGoDoor(t *testing.T) {
	for _, c := range conformance.Cases() {
		t.Run(c.Topic+"/"+c.Name, func(t *testing.T) {
			db, store := newFake()
			store.Client, store.Streams = newGoDoor(db), db.StreamsClient()
			store.In = func(region string) (conformance.Client, conformance.StreamsClient) {
				return goDoorIn(db, region), streamsIn(db, region)
			}
			store.State = func() string { return fmt.Sprint(db.Hash(), len(db.Changes())) }
			if err := c.Check(t.Context(), store); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFakeHTTPDoor(t *testing.T) {
	effort.Long(t) // as above
	db, store := newFake()
	server := httptest.NewServer(db.Handler())
	defer server.Close()
	client := wire{server.Client()} // the SDK's own would read the environment
	store.In = func(region string) (conformance.Client, conformance.StreamsClient) {
		return dynamodb.New(dynamodb.Options{
				Region:       region,
				BaseEndpoint: &server.URL,
				Credentials:  credentials.NewStaticCredentialsProvider("conformance", "secret", ""),
				HTTPClient:   client,
			}), dynamodbstreams.New(dynamodbstreams.Options{
				Region:       region,
				BaseEndpoint: &server.URL,
				Credentials:  credentials.NewStaticCredentialsProvider("conformance", "secret", ""),
				HTTPClient:   client,
			})
	}
	store.Client, store.Streams = store.In(ddbfake.DefaultRegion)
	conformance.Run(t, store)
}

// wire is an HTTP client for the SDK. It does not cut off an answer that comes before the request is completely
// written.
//
// The SDK closes the body of a request when the answer begins. From then on the body's WriteTo fails with io.EOF,
// although its Read simply ends. net/http, which looks beyond the last byte, takes that for a failed write and closes
// the connection. On a busy machine, an answer over a few KB is then cut off. So wire hides WriteTo from net/http.
//
// Source: https://github.com/aws/aws-sdk-go-v2/issues/2737
type wire struct{ *http.Client }

func (w wire) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return w.Client.Do(r)
}

// TestWireIsNeeded fails with the first release of the SDK that does not need wire.
func TestWireIsNeeded(t *testing.T) {
	request := must.Of(smithyhttp.NewStackRequest().(*smithyhttp.Request).SetStream(strings.NewReader("{}")))(t)
	body := request.Build(t.Context()).Body
	must.OK(t, body.Close())
	if _, err := io.Copy(io.Discard, body); err == nil {
		t.Error("the body of a request can be copied after it was closed: wire is to be taken away")
	}
}

func TestDynamoDBLocal(t *testing.T) {
	db := ddblocal.ForTest(t) // skips where there is no Docker
	streams := dynamodbstreams.New(dynamodbstreams.Options{
		Region:       ddblocal.Region,
		BaseEndpoint: aws.String(db.Endpoint()),
		Credentials:  db.Credentials(),
	})
	conformance.Run(t, conformance.Store{
		Name: conformance.Local, Client: db.Client(), Streams: streams,
		In: func(string) (conformance.Client, conformance.StreamsClient) { return db.Client(), streams },
	})
}

// TestTable checks the form of the table of cases itself.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range conformance.Cases() {
		name := c.Topic + "/" + c.Name
		if seen[name] {
			t.Errorf("%s: two cases of this name", name)
		}
		seen[name] = true
		if c.Name == "" || c.Topic == "" {
			t.Errorf("%q: a case has a topic and a name", name)
		}
		if !strings.HasSuffix(c.Rule, ".") {
			t.Errorf("%s: the rule is a sentence: %q", name, c.Rule)
		}
		if c.Source != conformance.LocalOnly && !strings.HasPrefix(c.Source, "https://") {
			t.Errorf("%s: the source is an address: %q", name, c.Source)
		}
		for _, d := range c.Deviations() {
			switch {
			case d.Store != conformance.Local && d.Store != conformance.Fake:
				t.Errorf("%s: step %d: a deviation of %q", name, d.Step, d.Store)
			case d.Reason == "":
				t.Errorf("%s: step %d: %s deviates for no reason", name, d.Step, d.Store)
			case d.Got == d.Want:
				t.Errorf("%s: step %d: %s does not deviate", name, d.Step, d.Store)
			}
		}
	}
	if got, want := len(seen), 120; got < want {
		t.Errorf("got %d cases, want at least %d", got, want)
	}
}

// The deviations of DynamoDB Local are for the pinned version.
func TestLocalOnlyNamesThePinnedVersion(t *testing.T) {
	_, version, _ := strings.Cut(ddblocal.Image, ":")
	if want := "DynamoDB Local " + version; conformance.LocalOnly != want {
		t.Errorf("LocalOnly is %q, want %q", conformance.LocalOnly, want)
	}
}

// TestAWS runs the cases on DynamoDB itself, which costs money.
func TestAWS(t *testing.T) {
	if os.Getenv(differential.AWSEnv) != "1" {
		t.Skip("DynamoDB itself: set " + differential.AWSEnv + "=1 and credentials")
	}
	region, c, err := differential.Account()
	must.OK(t, err)
	conformance.Run(t, conformance.Store{Name: conformance.AWS, Client: dynamodb.New(dynamodb.Options{
		Region:      region,
		Credentials: credentials.StaticCredentialsProvider{Value: c},
	})})
}

// TestAWSNeedsCredentials checks that no account is used by accident.
func TestAWSNeedsCredentials(t *testing.T) {
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	if _, err := differential.AWS(t.Context()); !errors.Is(err, differential.ErrNoCredentials) {
		t.Errorf("got %v, want %v", err, differential.ErrNoCredentials)
	}
}
