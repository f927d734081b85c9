package bench

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// BenchmarkSDK calls through the SDK's client: DynamoDB Local over one connection, the SDK door, and the SDK door's
// client on canned answers, which is the least that any server behind it can cost.
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

// canned is a wire that keeps the first answer and gives it ever after.
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
