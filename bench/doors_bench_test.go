package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	minidyn "github.com/truora/minidyn/aws-v2/client"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// inProcess are the fakes that a Go program calls without a socket or JSON.
var inProcess = []struct {
	name string
	open func() client
}{
	{"isr-sim", func() client { return ddbfake.New(ddbfake.Options{}).As("benchmark") }},
	{"minidyn", func() client { return minidyn.NewClient() }},
}

// BenchmarkDoor compares in-process fakes.
func BenchmarkDoor(b *testing.B) {
	for _, op := range operations() {
		for _, side := range inProcess {
			b.Run("op="+op.name+"/by="+side.name, func(b *testing.B) {
				c := filled(b, side.open())
				measure(b, c, c, op)
			})
		}
	}
}

// BenchmarkSDK calls through the SDK's client: DynamoDB Local over one connection, the SDK door, and the SDK door's
// client with canned answers, which is the minimum cost with any server.
func BenchmarkSDK(b *testing.B) {
	for _, op := range operations() {
		b.Run("op="+op.name+"/by=dynamodb-local", func(b *testing.B) {
			s := find(b, "dynamodb-local")
			c := s.filled(b)
			measure(b, c, c, op, s.PID)
		})
		b.Run("op="+op.name+"/by=isr-sim", func(b *testing.B) {
			db := ddbfake.New(ddbfake.Options{})
			door := filled(b, db.As("benchmark"))
			measure(b, db.Client(), door, op)
		})
		b.Run("op="+op.name+"/by=floor", func(b *testing.B) {
			db := ddbfake.New(ddbfake.Options{})
			door := filled(b, db.As("benchmark"))
			measure(b, db.Client(withWire(&canned{wire: ddbfake.Transport(db.Do)})), door, op)
		})
	}
}

// canned is a wire that keeps its first answer and returns it for all later requests.
type canned struct {
	wire     http.RoundTripper
	response *http.Response
	body     []byte
}

// Do answers one request.
func (c *canned) Do(request *http.Request) (*http.Response, error) {
	if c.response == nil {
		response, err := c.wire.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		if c.body, err = io.ReadAll(response.Body); err != nil {
			return nil, err
		}
		c.response = response
	}
	again := *c.response
	again.Request = request
	again.Header = c.response.Header.Clone()
	again.Body = io.NopCloser(bytes.NewReader(c.body))
	return &again, nil
}

func withWire(wire dynamodb.HTTPClient) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.HTTPClient = wire }
}

// share is the number of requests in one iteration of BenchmarkHTTP: a part of a pass.
const share = 100

// BenchmarkHTTP compares the cost of a request for a server, in processor time of the server's process.
func BenchmarkHTTP(b *testing.B) {
	for _, op := range operations() {
		for _, name := range serverNames {
			b.Run("op="+op.name+"/by="+name, func(b *testing.B) {
				s := find(b, name)
				if s.Lacks == op.name {
					b.Skip(name, " does not have it")
				}
				s.filled(b)
				measureServer(b, s, op)
			})
		}
	}
	// The cost of the library alone, which every server built on it has.
	for _, library := range []string{"net-http", "fasthttp"} {
		b.Run("op=get/by="+library, func(b *testing.B) {
			measureServer(b, find(b, library), operations()[0])
		})
	}
}

func measureServer(b *testing.B, s *server, op operation) {
	r, requests, locks := dial(b, s), encode(b, s, op.inputs), encode(b, s, putLocks)
	// used returns the server's processor time for some requests.
	used := func(requests []*wired) time.Duration {
		began, err := processTime(s.PID)
		if err == nil {
			err = r.sendAll(requests)
		}
		ended, endErr := processTime(s.PID)
		if err != nil || endErr != nil {
			b.Fatal(err, endErr)
		}
		return ended - began
	}
	var total time.Duration
	for i := 0; b.Loop(); i++ {
		at := i * share % len(requests)
		if op.takesLocks && i > 0 && at%pages == 0 {
			b.StopTimer()
			used(locks)
			b.StartTimer()
		}
		total += used(requests[at:][:share])
	}
	if op.takesLocks {
		used(locks)
	}
	b.ReportMetric(float64(total)/float64(b.N*share), "cpu-ns/req")
	b.ReportMetric(float64(b.Elapsed())/float64(b.N*share), "ns/req")
	b.ReportMetric(0, "ns/op") // the time of an iteration is not reported
}

// serversEnv is the environment variable in which cmd/speed lists the running servers, by name, in JSON.
const serversEnv = "ISRSIM_BENCH_SERVERS"

// serverNames are the servers that cmd/speed starts.
var serverNames = []string{"isr-sim", "minidyn", "dynalite", "dynamodb-local"}

// server is a process that speaks DynamoDB's protocol.
type server struct {
	Endpoint string `json:"endpoint"` // "http://host:port"
	PID      int    `json:"pid"`      // the process whose processor time is the server's
	Lacks    string `json:"lacks"`    // the operation that it lacks, if any

	fill func() error // once per process
}

var running = sync.OnceValues(func() (map[string]*server, error) {
	servers := map[string]*server{}
	listed := os.Getenv(serversEnv)
	if listed == "" {
		return servers, nil
	}
	if err := json.Unmarshal([]byte(listed), &servers); err != nil {
		return nil, fmt.Errorf("%s: %w", serversEnv, err)
	}
	for _, s := range servers {
		s.fill = sync.OnceValue(func() error {
			// A server is filled once for all benchmarks, so the context of the benchmark that fills it would end too
			// early.
			return fill(context.Background(), s.sdk())
		})
	}
	return servers, nil
})

// find returns a running server, or skips the test.
func find(tb testing.TB, name string) *server {
	tb.Helper()
	servers, err := running()
	if err != nil {
		tb.Fatal(err)
	}
	s, ok := servers[name]
	if !ok {
		tb.Skipf("no %s runs: bash bench/run starts it", name)
	}
	return s
}

// sdk returns a client of the server. It never retries, so that failures are visible.
func (s *server) sdk(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(s.Endpoint),
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("benchmark", "secret", ""),
		Retryer:      aws.NopRetryer{},
	}, optFns...)
}

// filled returns a client of the server, which then has its rows.
func (s *server) filled(tb testing.TB) *dynamodb.Client {
	tb.Helper()
	if err := s.fill(); err != nil {
		tb.Fatal(err)
	}
	return s.sdk()
}
