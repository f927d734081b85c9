package control_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/server/control"
)

// The metrics in JSON, one element for each metric and set of dimensions.
func TestMetrics(t *testing.T) {
	f := newFake(t)
	f.db.Reset(ddbfake.Options{Clock: f.clock}, f.db.Snapshot())
	f.want("GET", "/metrics", "", `{"metrics": []}`)
	f.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultErrorAfter})
	_, err := f.db.As("alice").PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("cache"),
		Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}})
	if err == nil {
		t.Fatal("the fault did not strike")
	}
	f.put("a", 60)
	f.want("GET", "/metrics?format=json", "", `{"metrics": [`+
		`{"name": "SystemErrors","region": "us-east-1","dimensions": {"Operation": "PutItem","TableName": "cache"},"sum": 1},`+
		`{"name": "ConsumedWriteCapacityUnits","region": "us-east-1","dimensions": {"TableName": "cache"},"sum": 2},`+
		`{"name": "SuccessfulRequestLatency","region": "us-east-1","dimensions": {"Operation": "PutItem","TableName": "cache"},`+
		`"sum": 0,"sampleCount": 1}]}`)
	status, text := f.ask("GET", "/metrics?format=xml", "")
	if want := `"expected": "json, openmetrics"`; status != http.StatusBadRequest || !strings.Contains(text, want) {
		t.Errorf("an unknown format: got status %d and %s, want 400 with %s", status, text, want)
	}
}

// The same as OpenMetrics, for a client that accepts it.
func TestOpenMetrics(t *testing.T) {
	f := newFake(t)
	f.db.Reset(ddbfake.Options{Clock: f.clock}, f.db.Snapshot())
	f.put("a", 60)
	r := httptest.NewRequest("GET", control.Prefix+"/metrics", nil)
	r.Header.Set("Accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, r)
	if got, want := w.Header().Get("Content-Type"),
		"application/openmetrics-text; version=1.0.0; charset=utf-8"; got != want {
		t.Errorf("got the type %q, want %q", got, want)
	}
	var samples []string
	families := 0
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "# TYPE ") {
			families++
		}
		if !strings.HasPrefix(line, "#") {
			samples = append(samples, strings.TrimSpace(line))
		}
	}
	want := []string{
		`aws_dynamodb_consumed_write_capacity_units_total{region="us-east-1",table_name="cache"} 1`,
		`aws_dynamodb_successful_request_latency_seconds_count{region="us-east-1",table_name="cache",operation="PutItem"} 1`,
		`aws_dynamodb_successful_request_latency_seconds_sum{region="us-east-1",table_name="cache",operation="PutItem"} 0`,
	}
	if diff := cmp.Diff(want, samples); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if !strings.HasSuffix(w.Body.String(), "\n# EOF\n") {
		t.Error("the text has no end")
	}
	// The type has a field for each counter, four for dimensions and two for the latency.
	if want := reflect.TypeFor[ddbfake.Metrics]().NumField() - 4 - 1; families != want {
		t.Errorf("got %d metrics, want the %d of ddbfake.Metrics", families, want)
	}
}
