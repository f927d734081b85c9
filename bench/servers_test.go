package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// serversEnv is the environment variable in which cmd/speed lists the servers that run: a server for each name, in
// JSON.
const serversEnv = "ISRSIM_BENCH_SERVERS"

// serverNames are the servers that cmd/speed starts.
var serverNames = []string{"isr-sim", "minidyn", "dynalite", "dynamodb-local"}

// server is a process that speaks DynamoDB's protocol.
type server struct {
	Endpoint string `json:"endpoint"` // "http://host:port"
	PID      int    `json:"pid"`      // whose processor time is the server's
	Lacks    string `json:"lacks"`    // the operation that it does not have, if any

	fill func() error // once in this process
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
			// A server is filled once, for all benchmarks, so the context of the benchmark that does it would end too
			// early.
			return fill(context.Background(), s.sdk())
		})
	}
	return servers, nil
})

// find returns a running server, or skips.
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

// sdk returns a client of the server. It never retries: a failure must be seen.
func (s *server) sdk(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(s.Endpoint),
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("benchmark", "secret", ""),
		Retryer:      aws.NopRetryer{},
	}, optFns...)
}

// filled returns a client of the server once its rows are there.
func (s *server) filled(tb testing.TB) *dynamodb.Client {
	tb.Helper()
	if err := s.fill(); err != nil {
		tb.Fatal(err)
	}
	return s.sdk()
}
