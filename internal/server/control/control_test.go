package control_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
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
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// fake is a DynamoDB fake with a table "cache" whose TTL attribute is "ttl", and its control API.
type fake struct {
	t     *testing.T
	db    *ddbfake.DB
	clock *fakeclock.Clock
	api   http.Handler
}

func newFake(t *testing.T) *fake {
	t.Helper()
	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	door := db.As("alice")
	createTable(t, door)
	must.Done(t)(door.UpdateTimeToLive(t.Context(), isr.TTLInput("cache")))
	return &fake{t, db, clock, control.Handler(db, control.Options{Clock: clock})}
}

// createTable creates the table "cache" in the region of a door.
func createTable(t *testing.T, door *ddbfake.Door) {
	t.Helper()
	must.Done(t)(door.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:   aws.String("cache"),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"),
			AttributeType: types.ScalarAttributeTypeS}},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	}))
}

// put puts a row whose ttl is ttlSeconds after the clock's start.
func (f *fake) put(pk string, ttlSeconds int64) {
	f.t.Helper()
	must.Done(f.t)(f.db.As("alice").PutItem(f.t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("cache"),
		Item: map[string]types.AttributeValue{
			"pk":  &types.AttributeValueMemberS{Value: pk},
			"ttl": &types.AttributeValueMemberN{Value: fmt.Sprint(fakeclock.Epoch.Unix() + ttlSeconds)},
		},
	}))
}

// lagForms returns the forms that ParseLag accepts, as the error of ddbfake lists them.
func lagForms(t *testing.T) string {
	t.Helper()
	_, err := ddbfake.ParseLag("soon")
	if err == nil {
		t.Fatal("soon is a lag")
	}
	_, forms, _ := strings.Cut(err.Error(), "want ")
	return forms
}

// ask sends a request and returns the status and the body, the latter without white space.
func (f *fake) ask(method, path, body string) (int, string) {
	f.t.Helper()
	r := httptest.NewRequest(method, control.Prefix+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, r)
	return w.Code, compact(w.Body.String())
}

// compact puts indented JSON on one line.
func compact(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "")
}

// want asserts an answer with status 200.
func (f *fake) want(method, path, body, want string) {
	f.t.Helper()
	status, got := f.ask(method, path, body)
	if status != http.StatusOK {
		f.t.Errorf("%s %s %s: got status %d, want 200: %s", method, path, body, status, got)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.t.Errorf("%s %s %s (-want +got):\n%s", method, path, body, diff)
	}
}

func TestClock(t *testing.T) {
	f := newFake(t)
	f.want("GET", "/clock", "", `{"now": "2040-01-01T00:00:00Z","epochSeconds": 2208988800,"mode": "manual"}`)
	f.want("POST", "/clock", `{"advance":"1m30.5s"}`,
		`{"now": "2040-01-01T00:01:30.5Z","epochSeconds": 2208988890,"mode": "manual"}`)
	f.want("POST", "/clock", `{"set":"2040-01-01T02:00:00+01:00"}`,
		`{"now": "2040-01-01T01:00:00Z","epochSeconds": 2208992400,"mode": "manual"}`)
	f.want("POST", "/clock", `{"set":"2040-01-01T01:00:00Z"}`,
		`{"now": "2040-01-01T01:00:00Z","epochSeconds": 2208992400,"mode": "manual"}`)
	if want := fakeclock.Epoch.Add(time.Hour); !f.clock.Now().Equal(want) {
		t.Errorf("clock: got %v, want %v", f.clock.Now(), want)
	}
}

func TestClockEnds(t *testing.T) {
	f := newFake(t)
	f.want("POST", "/clock", `{"set":"9999-12-31T23:59:58Z"}`,
		`{"now": "9999-12-31T23:59:58Z","epochSeconds": 253402300798,"mode": "manual"}`)
	f.want("POST", "/clock", `{"advance":"1s"}`,
		`{"now": "9999-12-31T23:59:59Z","epochSeconds": 253402300799,"mode": "manual"}`)
	if status, got := f.ask("POST", "/clock", `{"advance":"1ns"}`); status != http.StatusBadRequest ||
		!strings.Contains(got, "9999") {
		t.Errorf("past the end: got %d %s, want 400", status, got)
	}
}

// Without a clock that can be moved, all other resources still work.
func TestNoClock(t *testing.T) {
	f := &fake{t: t, api: control.Handler(ddbfake.New(ddbfake.Options{}), control.Options{})}
	for _, body := range []string{"", `{"advance":"1s"}`} {
		method := "GET"
		if body != "" {
			method = "POST"
		}
		if status, got := f.ask(method, "/clock", body); status != http.StatusConflict {
			t.Errorf("%s: got %d %s, want 409", method, status, got)
		}
	}
	f.want("GET", "/ttl-lag", "", `{"ttlLag": "manual"}`)
}

func TestReplicaLag(t *testing.T) {
	f := newFake(t)
	f.want("GET", "/replica-lag", "", `{"replicaLag": "0s"}`)
	f.want("POST", "/replica-lag", `{"replicaLag":"2s"}`, `{"replicaLag": "2s"}`)
	f.want("GET", "/region-lag", "", `{"regionLag": "at-once"}`)
	f.want("POST", "/region-lag", `{"regionLag":"fixed 1s"}`, `{"regionLag": "fixed 1s"}`)
	f.want("GET", "/region-lag", "", `{"regionLag": "fixed 1s"}`)
	f.want("POST", "/replicate", "", `{"changed": 0}`)
	f.put("a", 10)
	read := func(consistent bool) int {
		t.Helper()
		out, err := f.db.As("alice").Scan(t.Context(),
			&dynamodb.ScanInput{TableName: aws.String("cache"), ConsistentRead: &consistent})
		must.OK(t, err)
		return len(out.Items)
	}
	if old, now := read(false), read(true); old != 0 || now != 1 {
		t.Errorf("at once: got %d rows eventually and %d consistently, want 0 and 1", old, now)
	}
	f.clock.Advance(2 * time.Second)
	if old := read(false); old != 1 {
		t.Errorf("after the lag: got %d rows, want 1", old)
	}
}

func TestTTLLag(t *testing.T) {
	f := newFake(t)
	f.put("a", 10)
	f.want("GET", "/ttl-lag", "", `{"ttlLag": "manual"}`)
	f.want("POST", "/ttl-lag", `{"ttlLag":"fixed 10m"}`, `{"ttlLag": "fixed 10m0s"}`)
	f.clock.Advance(10*time.Minute + 10*time.Second)
	if n := len(f.db.Items("cache")); n != 1 {
		t.Errorf("got %d rows, want 1: the lag is not over", n)
	}
	f.clock.Advance(time.Second)
	if n := len(f.db.Items("cache")); n != 0 {
		t.Errorf("got %d rows, want 0: the lag is over", n)
	}
}

func TestFaults(t *testing.T) {
	f := newFake(t)
	f.want("GET", "/faults", "", `{"faults": [],"idle": []}`)
	const both = `["throttled op=PutItem","response-lost times=2"]`
	f.want("POST", "/faults", `{"faults":["throttled op=PutItem","response-lost  times=2"]}`,
		`{"faults": `+both+`,"idle": `+both+`}`)
	if status, got := f.ask("POST", "/faults",
		`{"faults":["error-before","nonsense"]}`); status != http.StatusBadRequest {
		t.Errorf("one fault of two is nonsense: got %d %s, want 400", status, got)
	}
	f.want("GET", "/faults", "", `{"faults": `+both+`,"idle": `+both+`}`)
	_, err := f.db.As("alice").PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("cache"), Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "a"},
		},
	})
	if err == nil {
		t.Error("a throttled put succeeded")
	}
	f.want("GET", "/faults", "", `{"faults": ["response-lost times=2"],"idle": ["response-lost times=2"]}`)
	f.want("DELETE", "/faults", "", `{"faults": [],"idle": ["response-lost times=2"]}`)
	f.want("DELETE", "/faults", "", `{"faults": [],"idle": []}`)
	if n := len(f.db.Injected()); n != 0 {
		t.Errorf("got %d faults, want none", n)
	}
}

func TestFaultsHaveALimit(t *testing.T) {
	f := newFake(t)
	many := func(n int) string { return `{"faults":[` + strings.Repeat(`"throttled",`, n-1) + `"throttled"]}` }
	if status, _ := f.ask("POST", "/faults", many(control.MaxFaults)); status != http.StatusOK {
		t.Errorf("%d faults: got %d, want 200", control.MaxFaults, status)
	}
	if status, _ := f.ask("POST", "/faults", many(1)); status != http.StatusConflict {
		t.Errorf("one more: got %d, want 409", status)
	}
}

func TestSnapshots(t *testing.T) {
	f := newFake(t)
	f.want("GET", "/snapshot", "", `{"snapshots": []}`)
	f.want("POST", "/snapshot", `{"name":"empty"}`, `{"snapshots": ["empty"]}`)
	f.put("a", 0)
	f.want("POST", "/snapshot", `{"name":"a row"}`, `{"snapshots": ["a row","empty"]}`)
	f.want("POST", "/restore", `{"name":"empty"}`, `{"restored": "empty"}`)
	if n := len(f.db.Items("cache")); n != 0 {
		t.Errorf("got %d rows, want none", n)
	}
	f.want("POST", "/restore", `{"name":"a row"}`, `{"restored": "a row"}`)
	if n := len(f.db.Items("cache")); n != 1 {
		t.Errorf("got %d rows, want 1", n)
	}
	// A second snapshot under a name replaces the first.
	f.want("POST", "/snapshot", `{"name":"empty"}`, `{"snapshots": ["a row","empty"]}`)
	f.want("POST", "/restore", `{"name":"empty"}`, `{"restored": "empty"}`)
	if n := len(f.db.Items("cache")); n != 1 {
		t.Errorf("got %d rows, want 1", n)
	}
	f.want("DELETE", "/snapshot", "", `{"snapshots": []}`)
	if status, got := f.ask("POST", "/restore", `{"name":"empty"}`); status != http.StatusNotFound {
		t.Errorf("a dropped snapshot: got %d %s, want 404", status, got)
	}
}

func TestSnapshotsHaveALimit(t *testing.T) {
	f := newFake(t)
	for i := range control.MaxSnapshots {
		if status, got := f.ask("POST", "/snapshot", fmt.Sprintf(`{"name":"%d"}`, i)); status != http.StatusOK {
			t.Fatalf("snapshot %d: %s", i, got)
		}
	}
	if status, _ := f.ask("POST", "/snapshot", `{"name":"0"}`); status != http.StatusOK {
		t.Errorf("a name taken again: got %d, want 200", status)
	}
	if status, _ := f.ask("POST", "/snapshot", `{"name":"one more"}`); status != http.StatusConflict {
		t.Errorf("one more: got %d, want 409", status)
	}
}

// wantDump asks for a dump, and compares it without the settings of its tables.
func (f *fake) wantDump(path, want string) {
	f.t.Helper()
	_, got := f.ask("GET", path, "")
	var have, wanted struct {
		Tables []map[string]any `json:"tables"`
	}
	if err := json.Unmarshal([]byte(got), &have); err != nil {
		f.t.Fatalf("%s: %v in %s", path, err, got)
	}
	must.OK(f.t, json.Unmarshal([]byte(want), &wanted))
	for _, table := range have.Tables {
		if settings, _ := table["settings"].(map[string]any); settings["table"] == nil {
			f.t.Errorf("%s: got the settings %v, want those of cache", path, settings)
		}
		delete(table, "settings")
	}
	if diff := cmp.Diff(wanted, have); diff != "" {
		f.t.Errorf("%s: (-want +got)\n%s", path, diff)
	}
}

// A dump can be loaded, even into another server: rows, settings, TTL and tags.
func TestLoad(t *testing.T) {
	f := newFake(t)
	f.put("a", 0)
	createTable(t, f.db.As("alice").In("eu-west-1"))
	_, dump := f.ask("GET", "/dump", "")
	other := newFake(t)
	must.Done(t)(other.db.As("alice").DeleteTable(t.Context(),
		&dynamodb.DeleteTableInput{TableName: aws.String("cache")}))
	if status, got := other.ask("POST", "/load", dump); status != http.StatusOK {
		t.Fatalf("got %d %s", status, got)
	}
	_, again := other.ask("GET", "/dump", "")
	strip := regexp.MustCompile(`"(CreationDateTime|TableId|LastUpdateToPayPerRequestDateTime)": [^,\n]*,?`)
	if x, y := strip.ReplaceAllString(dump, ""), strip.ReplaceAllString(again, ""); x != y {
		t.Errorf("got %s, want %s", y, x)
	}
	for body, want := range map[string]string{
		"": "no body", `{"tables": [`: "line 1: found no JSON", `{"a": 1}`: "expected a dump",
	} {
		if status, got := other.ask("POST", "/load", body); status != http.StatusBadRequest ||
			!strings.Contains(got, want) {
			t.Errorf("%s: got %d %s, want 400 and %s", body, status, got, want)
		}
	}
	if status, _ := other.ask("POST", "/save", ""); status != http.StatusConflict {
		t.Errorf("saved without a file: got %d, want 409", status)
	}
}

// Every kind of value is shown in the service's own JSON, tables by name, rows by key.
func TestDump(t *testing.T) {
	f := newFake(t)
	f.wantDump("/dump", `{"tables": [{"region": "us-east-1","name": "cache","items": []}]}`)
	must.Done(t)(f.db.As("alice").PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("cache"),
		Item: map[string]types.AttributeValue{
			"pk":   &types.AttributeValueMemberS{Value: "b"},
			"bin":  &types.AttributeValueMemberB{Value: []byte("<&>")},
			"bool": &types.AttributeValueMemberBOOL{Value: false},
			"bs":   &types.AttributeValueMemberBS{Value: [][]byte{[]byte("x")}},
			"l": &types.AttributeValueMemberL{
				Value: []types.AttributeValue{&types.AttributeValueMemberNULL{Value: true}},
			},
			"m": &types.AttributeValueMemberM{
				Value: map[string]types.AttributeValue{"n": &types.AttributeValueMemberN{Value: "1.50"}},
			},
			"ns": &types.AttributeValueMemberNS{Value: []string{"1E2"}},
			"ss": &types.AttributeValueMemberSS{Value: []string{"<&>"}},
		},
	}))
	f.put("a", 0)
	const rows = `{"tables": [{"region": "us-east-1","name": "cache","items": [` +
		`{"pk": {"S": "a"},"ttl": {"N": "2208988800"}},` +
		`{"bin": {"B": "PCY+"},"bool": {"BOOL": false},"bs": {"BS": ["eA=="]},"l": {"L": [{"NULL": true}]},` +
		`"m": {"M": {"n": {"N": "1.5"}}},"ns": {"NS": ["100"]},"pk": {"S": "b"},"ss": {"SS": ["<&>"]}}]}]}`
	f.wantDump("/dump", rows)
	f.wantDump("/dump?table=cache", rows)
	f.wantDump("/dump?table=arn:aws:dynamodb:us-east-1:000000000000:table/cache", rows)
	createTable(t, f.db.As("alice").In("eu-west-1"))
	const empty = `{"region": "eu-west-1","name": "cache","items": []}`
	f.wantDump("/dump?table=arn:aws:dynamodb:eu-west-1:000000000000:table/cache", `{"tables": [`+empty+`]}`)
	f.wantDump("/dump", strings.Replace(rows, "[", "["+empty+",", 1))
	if status, _ := f.ask("GET", "/dump?table=other", ""); status != http.StatusNotFound {
		t.Errorf("a table that is not there: got %d, want 404", status)
	}
}

func TestChangesAndSweep(t *testing.T) {
	f := newFake(t)
	f.want("GET", "/changes", "", `{"changes": [],"last": 0}`)
	f.put("a", 0)
	f.want("POST", "/sweep", "", `{"deleted": 0}`)
	f.clock.Advance(time.Second)
	f.want("POST", "/sweep", "{}", `{"deleted": 1}`)
	const (
		row    = `{"pk": {"S": "a"},"ttl": {"N": "2208988800"}}`
		first  = `{"seq": 1,"request": 3,"time": "2040-01-01T00:00:00Z","sent": "2040-01-01T00:00:00Z","actor": "alice","cause": "client","region": "us-east-1","table": "cache","key": {"pk": {"S": "a"}},"before": null,"after": ` + row + `}`
		second = `{"seq": 2,"request": 0,"time": "2040-01-01T00:00:01Z","sent": "2040-01-01T00:00:01Z","actor": "","cause": "ttl","region": "us-east-1","table": "cache","key": {"pk": {"S": "a"}},"before": ` + row + `,"after": null}`
	)
	f.want("GET", "/changes", "", `{"changes": [`+first+`,`+second+`],"last": 2}`)
	f.want("GET", "/changes?since=1", "", `{"changes": [`+second+`],"last": 2}`)
	f.want("GET", "/changes?since=2", "", `{"changes": [],"last": 2}`)
	f.want("GET", "/changes?since=99", "", `{"changes": [],"last": 2}`)
}

// A stream gets new shards when a test asks for them.
func TestRoll(t *testing.T) {
	f := newFake(t)
	const noStream = `{"error": "the table has no enabled stream","found": "cache","expected": "the name of a table in us-east-1 with a stream, or an ARN"}`
	if status, got := f.ask("POST", "/roll", `{"table":"cache"}`); status != http.StatusConflict || got != noStream {
		t.Errorf("got %d %s", status, got)
	}
	must.Done(t)(f.db.Do(t.Context(), ddbfake.Call{Input: &dynamodb.UpdateTableInput{
		TableName: aws.String("cache"),
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly,
		},
	}}))
	for i, body := range []string{`{"table":"cache","split":false}`, `{"table":"cache","split":true}`} {
		if status, got := f.ask("POST", "/roll", body); status != http.StatusOK ||
			strings.Count(got, "shardId-") != i+1 {
			t.Errorf("%s: got %d %s, want %d open shards", body, status, got, i+1)
		}
	}
}

// A log that drops old changes keeps the numbers of the others.
func TestChangesOfBoundedLog(t *testing.T) {
	db := ddbfake.New(ddbfake.Options{KeepChanges: 1})
	f := &fake{t, db, fakeclock.New(fakeclock.Epoch), control.Handler(db, control.Options{})}
	f.want("GET", "/changes", "", `{"changes": [],"last": 0}`)
	createTable(t, db.As("alice"))
	for i := range 9 {
		f.put("a", int64(i))
	}
	status, got := f.ask("GET", "/changes?since=2", "")
	if status != http.StatusOK || strings.Contains(got, `"seq": 3`) || !strings.Contains(got, `"seq": 9`) ||
		!strings.Contains(got, `"last": 9`) {
		t.Errorf("got %d %s", status, got)
	}
	f.want("GET", "/changes?since=9", "", `{"changes": [],"last": 9}`)
}

// No request of the API counts as a call of the service. The API shows the findings of a check. Without a check it does
// not claim that there are no findings.
func TestViolations(t *testing.T) {
	f := newFake(t)
	if status, got := f.ask("GET", "/violations", ""); status != http.StatusConflict ||
		!strings.Contains(got, "--check") {
		t.Errorf("got %d %s, want 409 and a hint", status, got)
	}
	f.put("a", 0)
	all := control.Findings{
		Verdict: "ok", Checked: []string{"stale-writer"}, Changes: 1, Judged: 1, Unjudged: []string{"table users"},
	}
	f.api = control.Handler(f.db, control.Options{Findings: func() control.Findings { return all }})
	f.want("GET", "/violations", "",
		`{"verdict": "ok","checked": ["stale-writer"],"changes": 1,"judged": 1,"excepted": 0,"violations": 0,"doubts": 0,"events": 0,"found": [],"unjudged": ["table users"],"untold": []}`)

	all.Violations = 1
	all.Found = []control.Finding{{Verdict: "violated", Invariant: "stale-writer", Statement: "s", Why: "w",
		Actor: "alice", Changes: f.db.Changes()}}
	status, got := f.ask("GET", "/violations", "")
	for _, part := range []string{
		`"violations": 1,`,
		`"found": [{"verdict": "violated","invariant": "stale-writer","statement": "s","why": "w","actor": "alice","changes": [{"seq": 1,`,
		`"before": null,"after": {`,
	} {
		if status != http.StatusOK || !strings.Contains(got, part) {
			t.Errorf("got %d %s, want %s", status, got, part)
		}
	}
}

// A restore calls Restoring, which restores the state.
func TestRestoring(t *testing.T) {
	f := newFake(t)
	told := 0
	f.api = control.Handler(f.db, control.Options{Restoring: func(restore func()) {
		told++
		restore()
	}})
	f.put("a", 0)
	f.want("POST", "/snapshot", `{"name":"a"}`, `{"snapshots": ["a"]}`)
	f.put("b", 0)
	f.want("POST", "/restore", `{"name":"a"}`, `{"restored": "a"}`)
	if rows := len(f.db.Items("cache")); told != 1 || rows != 1 {
		t.Errorf("told %d times, %d rows; want 1 of each", told, rows)
	}
}

func TestIsNoCall(t *testing.T) {
	f := newFake(t)
	f.want("POST", "/faults", `{"faults":["throttled times=always"]}`,
		`{"faults": ["throttled times=always"],"idle": ["throttled times=always"]}`)
	before := f.db.Hash()
	for _, path := range []string{
		"", "/", "/clock", "/ttl-lag", "/replica-lag", "/faults", "/snapshot", "/dump", "/changes",
	} {
		if status, got := f.ask("GET", path, ""); status != http.StatusOK {
			t.Errorf("GET %s: got %d %s, want 200", path, status, got)
		}
	}
	if f.db.Hash() != before {
		t.Error("reading has changed the state")
	}
}

//go:embed testdata/refused.txt
var refused string

// An error has a status, the value found, the value expected, and a hint. It changes nothing. Each paragraph of
// refused.txt has a request, and the status and parts of the answer.
func TestRefuses(t *testing.T) {
	long := strings.Repeat("x", 300)
	type refusal struct {
		method, path, body string
		status             int
		want               []string
	}
	tests := []refusal{
		{"POST", "/clock", "\xff", 400, []string{`the body is no JSON object`}},
		{"POST", "/ttl-lag", `{"ttlLag":"soon"}`, 400,
			[]string{`"found": "soon"`, `"expected": "` + lagForms(t) + `"`}},
		{"POST", "/ttl-lag", `{"ttlLag":"` + long + `"}`, 400, nil},
		{"POST", "/region-lag", `{"regionLag":"soon"}`, 400,
			[]string{`"found": "soon"`, `"expected": "` + lagForms(t) + `"`}},
		{"POST", "/snapshot", `{"name":"` + long + `"}`, 400, []string{`1 to 255 bytes`}},
		{"POST", "/snapshot", `{"name":"` + strings.Repeat("x", 1<<20) + `"}`, 413, []string{`too large`}},
	}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(refused), "\n\n") {
		request, answer, _ := strings.Cut(paragraph, "\n=> ")
		var r refusal
		r.method, request, _ = strings.Cut(request, " ")
		r.path, r.body, _ = strings.Cut(request, " ")
		status, parts, _ := strings.Cut(answer, "\nhas ")
		r.status = must.Of(strconv.Atoi(status))(t)
		r.want = strings.Split(parts, "\nhas ")
		tests = append(tests, r)
	}
	f := newFake(t)
	f.put("a", 0)
	before := f.db.Hash()
	for _, test := range tests {
		status, got := f.ask(test.method, test.path, test.body)
		if len(test.body) > 80 {
			test.body = test.body[:80]
		}
		if status != test.status {
			t.Errorf("%s %s %s: got %d %s, want %d", test.method, test.path, test.body, status, got, test.status)
		}
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s %s %s:\ngot  %s\nwant %s in it", test.method, test.path, test.body, got, want)
			}
		}
	}
	f.want("GET", "/clock", "", `{"now": "2040-01-01T00:00:00Z","epochSeconds": 2208988800,"mode": "manual"}`)
	f.want("GET", "/ttl-lag", "", `{"ttlLag": "manual"}`)
	f.want("GET", "/faults", "", `{"faults": [],"idle": []}`)
	f.want("GET", "/snapshot", "", `{"snapshots": []}`)
	if f.db.Hash() != before {
		t.Error("a request that was refused has changed the state")
	}
}

// A web page can send a form without asking first, but not JSON.
func TestWantsJSON(t *testing.T) {
	f := newFake(t)
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded",
		"multipart/form-data; boundary=x", "application/json x"} {
		r := httptest.NewRequest("POST", control.Prefix+"/clock", strings.NewReader(`{"advance":"1s"}`))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		f.api.ServeHTTP(w, r)
		if w.Code != http.StatusUnsupportedMediaType {
			t.Errorf("Content-Type %q: got %d, want 415", kind, w.Code)
		}
	}
	if !f.clock.Now().Equal(fakeclock.Epoch) {
		t.Error("the clock has moved")
	}
	r := httptest.NewRequest("POST", control.Prefix+"/clock", strings.NewReader(`{"advance":"1s"}`))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("JSON with a charset: got %d, want 200", w.Code)
	}
}

func TestGuard(t *testing.T) {
	guarded := control.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "served")
	}), "Dynamo.test")
	tests := []struct {
		host    string
		origin  []string
		allowed bool
	}{
		{"127.0.0.1:8000", nil, true},
		{"127.0.0.1", nil, true},
		{"[::1]:8000", nil, true},
		{"[::1]", nil, true},
		{"192.0.2.7:8000", nil, true},
		{"localhost:8000", nil, true},
		{"LOCALHOST", nil, true},
		{"cache.localhost:8000", nil, true},
		{"localhost.", nil, true},
		{"dynamo.test:8000", nil, true},
		{"evil.example:8000", nil, false},
		{"localhost.evil.example", nil, false},
		{"127.0.0.1.evil.example", nil, false},
		{"notlocalhost", nil, false},
		{"not.dynamo.test", nil, false},
		{"", nil, false},
		{"127.0.0.1:8000", []string{"http://evil.example"}, false},
		{"127.0.0.1:8000", []string{"http://127.0.0.1:8000"}, false},
		{"127.0.0.1:8000", []string{"null"}, false},
		{"127.0.0.1:8000", []string{""}, false},
	}
	for _, test := range tests {
		r := httptest.NewRequest("POST", "/", nil)
		r.Host = test.host
		if test.origin != nil {
			r.Header["Origin"] = test.origin
		}
		w := httptest.NewRecorder()
		guarded.ServeHTTP(w, r)
		if got := w.Body.String() == "served"; got != test.allowed || !got && w.Code != http.StatusForbidden {
			t.Errorf("Host %q, Origin %q: got %d, allowed %t, want %t", test.host, test.origin, w.Code, got,
				test.allowed)
		}
		if !test.allowed && !strings.Contains(w.Body.String(),
			`"__type": "com.amazon.coral.service#AccessDeniedException"`) {
			t.Errorf("Host %q: got %s, want an error that an SDK can read", test.host, w.Body)
		}
	}
}

func TestMux(t *testing.T) {
	says := func(s string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) })
	}
	both := control.Mux(says("door"), says("control"))
	for path, want := range map[string]string{
		"/": "door", "/x": "door", "/_isr-simx": "door", "/_isr-sim": "control", "/_isr-sim/": "control",
		"/_isr-sim/clock": "control",
	} {
		w := httptest.NewRecorder()
		both.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if got := w.Body.String(); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// Many requests at once, to the API and to the service, for the race detector.
func TestConcurrent(t *testing.T) {
	f := newFake(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 20 {
				f.ask("POST", "/clock", `{"advance":"1s"}`)
				f.ask("POST", "/snapshot", fmt.Sprintf(`{"name":"%d"}`, i))
				f.ask("GET", "/dump", "")
				f.ask("GET", "/changes", "")
				f.ask("POST", "/sweep", "")
				f.ask("POST", "/restore", fmt.Sprintf(`{"name":"%d"}`, i))
			}
		})
	}
	all.Wait()
	if want := fakeclock.Epoch.Add(8 * 20 * time.Second); !f.clock.Now().Equal(want) {
		t.Errorf("clock: got %v, want %v: no advance may be lost", f.clock.Now(), want)
	}
}
