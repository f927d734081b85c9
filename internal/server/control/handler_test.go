package control_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/s3fake"
	"github.com/isr-sim/isr-sim/scenario/isr"
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
	// The type has a field per counter, four for dimensions and two for the latency.
	if want := reflect.TypeFor[ddbfake.Metrics]().NumField() - 4 - 1; families != want {
		t.Errorf("got %d metrics, want the %d of ddbfake.Metrics", families, want)
	}
}

// docs/SERVE.md and the package documentation list exactly the resources and methods that exist. (bash .ci/clients
// runs the commands of the page.)
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/SERVE.md")
	must.OK(t, err)
	source, err := os.ReadFile("doc.go")
	must.OK(t, err)
	f := newFake(t)
	var index struct{ Resources []string }
	if _, text := f.ask("GET", "/", ""); json.Unmarshal([]byte(text), &index) != nil {
		t.Fatalf("the index is no JSON: %s", text)
	}
	var want []string
	for _, line := range index.Resources {
		methods, path, _ := strings.Cut(line, " ")
		for method := range strings.SplitSeq(methods, ",") {
			want = append(want, method+" /"+strings.TrimPrefix(strings.TrimPrefix(path, control.Prefix), "/"))
		}
	}
	slices.Sort(want)
	for name, test := range map[string]struct{ text, form string }{
		"docs/SERVE.md": {string(page), "(?m)^\\| `(GET|POST|DELETE) (/[a-z0-9/-]*)`"},
		"doc.go":        {string(source), `(?m)^\t(GET|POST|DELETE) +(/[a-z0-9/-]*)`},
	} {
		var got []string
		for _, m := range regexp.MustCompile(test.form).FindAllStringSubmatch(test.text, -1) {
			got = append(got, m[1]+" "+m[2])
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("resources (-code +%s):\n%s", name, diff)
		}
	}
}

// FuzzHandler checks that every request gets an answer in JSON, that a refusal has a reason and does not move the
// clock, and that nothing moves the clock back.
func FuzzHandler(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "/", ""}, {"POST", "/clock", `{"advance":"90s"}`}, {"POST", "/clock", `{"set":"2040-01-01T01:00:00Z"}`},
		{"POST", "/ttl-lag", `{"ttlLag":"fixed 10m"}`},
		{"POST", "/faults", `{"faults":["throttled op=PutItem key=\"a b\" times=2"]}`},
		{"POST", "/snapshot", `{"name":"\ud83d\ude00"}`}, {"POST", "/restore", `{"name":"a"}`},
		{"GET", "/dump?table=a", ""}, {"GET", "/changes?since=1", ""}, {"POST", "/sweep", "{}"},
		{"POST", "/replica-lag", `{"replicaLag":"2s"}`}, {"POST", "/region-lag", `{"regionLag":"manual"}`},
		{"POST", "/replicate", "{}"}, {"DELETE", "/faults", ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		target, err := url.Parse("http://127.0.0.1" + control.Prefix + path)
		if err != nil || method == "" || strings.ContainsFunc(method, func(r rune) bool { return r < 'A' || r > 'Z' }) {
			t.Skip("no HTTP")
		}
		clock := fakeclock.New(fakeclock.Epoch)
		h := control.Handler(ddbfake.New(ddbfake.Options{Clock: clock}), control.Options{Clock: clock})
		r := httptest.NewRequest(method, "/", strings.NewReader(body))
		r.URL = target
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var got struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("got %d %q: %v", w.Code, w.Body, err)
		}
		if w.Code >= 500 || (w.Code == http.StatusOK) != (got.Error == "") {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
		if moved := clock.Now().Sub(fakeclock.Epoch); moved < 0 || moved != 0 && w.Code != http.StatusOK {
			t.Errorf("got %d %s, and the clock moved by %s", w.Code, w.Body, moved)
		}
	})
}

// settable is a clock that can be set back.
type settable struct{ now time.Time }

func (c *settable) Now() time.Time          { return c.now }
func (c *settable) Advance(d time.Duration) { c.now = c.now.Add(d) }
func (c *settable) AdvanceTo(t time.Time)   { c.now = t }
func (c *settable) Reset(t time.Time)       { c.now = t }

// If the clock can be set back, a restore sets it to the time of the snapshot, and TTL does not see the time in
// between. Otherwise the clock stays where it is.
func TestARestoreResetsTheClock(t *testing.T) {
	f := newFake(t)
	clock := &settable{fakeclock.Epoch}
	f.db = ddbfake.New(ddbfake.Options{Clock: clock, Lag: ddbfake.LagFixed(0)})
	door := f.db.As("alice")
	createTable(t, door)
	must.Done(t)(door.UpdateTimeToLive(t.Context(), isr.TTLInput("cache")))
	f.api = control.Handler(f.db, control.Options{Clock: clock})
	f.put("a", 3600)
	clock.Advance(time.Minute)
	f.want("POST", "/snapshot", `{"name":"a minute"}`, `{"snapshots": ["a minute"]}`)
	clock.Advance(2 * time.Hour)
	f.want("POST", "/snapshot", `{"name":"later"}`, `{"snapshots": ["a minute","later"]}`)
	f.want("POST", "/restore", `{"name":"a minute"}`, `{"restored": "a minute"}`)
	if want := fakeclock.Epoch.Add(time.Minute); clock.now != want || len(f.db.Items("cache")) != 1 {
		t.Errorf("the clock stands at %v with %d rows, want %v and one row", clock.now, len(f.db.Items("cache")), want)
	}
	f.want("POST", "/restore", `{"name":"later"}`, `{"restored": "later"}`)
	if want := fakeclock.Epoch.Add(time.Minute + 2*time.Hour); clock.now != want {
		t.Errorf("the clock stands at %v, want %v", clock.now, want)
	}

	plain := newFake(t)
	plain.want("POST", "/snapshot", `{"name":"a"}`, `{"snapshots": ["a"]}`)
	plain.clock.Advance(time.Hour)
	plain.want("POST", "/restore", `{"name":"a"}`, `{"restored": "a"}`)
	if want := fakeclock.Epoch.Add(time.Hour); !plain.clock.Now().Equal(want) {
		t.Errorf("a clock that cannot be set back stands at %v, want %v", plain.clock.Now(), want)
	}
}

func TestS3(t *testing.T) {
	store := s3fake.New(s3fake.Options{Buckets: []string{"pages"}})
	handler := control.Handler(ddbfake.New(ddbfake.Options{}), control.Options{S3: store})
	ask := func(method, path, body string, want int, holds string) {
		t.Helper()
		r := httptest.NewRequest(method, control.Prefix+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != want || !strings.Contains(w.Body.String(), holds) {
			t.Errorf("%s %s %s: got %d %s, want %d and %s", method, path, body, w.Code, w.Body, want, holds)
		}
	}
	do := func(method, path, body string, want int) {
		t.Helper()
		w := httptest.NewRecorder()
		store.Handler().ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		if w.Code != want {
			t.Errorf("%s %s: got %d %s, want %d", method, path, w.Code, w.Body, want)
		}
	}
	ask("GET", "/s3/faults", "", http.StatusOK, `"faults": []`)
	ask("POST", "/s3/faults", `{"faults":["throttled op=PutObject","nonsense"]}`, http.StatusBadRequest, "want a kind")
	ask("POST", "/s3/faults", `{"faults":["throttled op=PutItem"]}`, http.StatusBadRequest, "PutObject")
	ask("POST", "/s3/faults", `{"faults":7}`, http.StatusBadRequest, "no list of strings")
	ask("GET", "/s3/faults", "", http.StatusOK, `"faults": []`)
	ask("POST", "/s3/faults", `{"faults":["throttled op=PutObject"]}`, http.StatusOK, "throttled op=PutObject")
	ask("GET", "/faults", "", http.StatusOK, `"faults": []`)
	do("PUT", "/pages/home", "Hello", http.StatusServiceUnavailable)
	do("PUT", "/pages/home", "Hello", http.StatusOK)
	ask("POST", "/s3/faults", `{"faults":["throttled times=always"]}`, http.StatusOK, "always")
	ask("DELETE", "/s3/faults", "", http.StatusOK, `"faults": []`)

	// A snapshot includes the objects.
	ask("POST", "/snapshot", `{"name":"one"}`, http.StatusOK, "one")
	do("DELETE", "/pages/home", "", http.StatusNoContent)
	do("GET", "/pages/home", "", http.StatusNotFound)
	ask("POST", "/restore", `{"name":"one"}`, http.StatusOK, "one")
	do("GET", "/pages/home", "", http.StatusOK)
	ask("DELETE", "/snapshot", "", http.StatusOK, "[]")

	alone := control.Handler(ddbfake.New(ddbfake.Options{}), control.Options{})
	for method, body := range map[string]string{"GET": "", "POST": `{"faults":["throttled"]}`, "DELETE": ""} {
		r := httptest.NewRequest(method, control.Prefix+"/s3/faults", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		alone.ServeHTTP(w, r)
		if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "isr-sim serve --s3") {
			t.Errorf("without S3: got %d %s", w.Code, w.Body)
		}
	}
}
