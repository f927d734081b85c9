package control_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// told returns a fake whose checker appends each event to events, or returns the error refuses.
func told(t *testing.T, refuses error) (f *fake, events *[]history.Event) {
	t.Helper()
	events = new([]history.Event)
	f = newFake(t)
	f.api = control.Handler(f.db, control.Options{
		Findings: func() control.Findings { return control.Findings{Events: len(*events), Violations: 1, Doubts: 2} },
		Tell: func(more []history.Event) error {
			if refuses == nil {
				*events = append(*events, more...)
			}
			return refuses
		},
	})
	return f, events
}

func TestHistory(t *testing.T) {
	f, events := told(t, nil)
	f.want("GET", "/history", "", `{"events": 0,"violations": 1,"doubts": 2}`)
	f.want("POST", "/history", `{"kind":"asked","actor":"alice","key":"/home","tenant":"t","call":"7","request":"r"}`,
		`{"events": 1,"violations": 1,"doubts": 2}`)
	f.want("POST", "/history", `[
		{"kind":"rendered","actor":"alice","key":"/home","body":"line\nline","revalidate":"1m30s","partition":"P#1"},
		{"kind":"served","actor":"alice","key":"/home","body":"x","fresh":true},
		{"kind":"served","actor":"alice","key":"/home","body":"x","fresh":false},
		{"kind":"failed","actor":"alice","key":"/home","error":"no"},
		{"kind":"invalidating","actor":"alice","key":"/home"},{"kind":"invalidated","actor":"alice","key":"/home"},
		{"kind":"crashed","actor":"alice"},{"kind":"settled","within":"30s"}]`,
		`{"events": 9,"violations": 1,"doubts": 2}`)
	want := []history.Event{
		{Kind: history.Asked, Actor: "alice", Key: "/home", Tenant: "t", Call: "7", Request: "r"},
		{Kind: history.Rendered, Actor: "alice", Key: "/home", Body: "line\nline",
			Within: 90 * time.Second, Partition: "P#1"},
		{Kind: history.Served, Actor: "alice", Key: "/home", Body: "x", As: history.Fresh},
		{Kind: history.Served, Actor: "alice", Key: "/home", Body: "x", As: history.Stale},
		{Kind: history.Failed, Actor: "alice", Key: "/home", Note: "no"},
		{Kind: history.Invalidating, Actor: "alice", Key: "/home"},
		{Kind: history.Invalidated, Actor: "alice", Key: "/home"},
		{Kind: history.Crashed, Actor: "alice"},
		{Kind: history.Settled, Within: 30 * time.Second},
	}
	if diff := cmp.Diff(want, *events, cmpopts.EquateComparable(history.Event{})); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// If one event of a request is wrong, the whole request is refused.
func TestWrongHistory(t *testing.T) {
	ask := `{"kind":"asked","actor":"a","key":"/"}`
	for _, test := range []struct {
		body  string
		parts []string
	}{
		{`[]`, []string{`"error": "a request has some events"`, `"found": "0"`}},
		{`[` + strings.Repeat(ask+",", 1000) + ask + `]`, []string{`"found": "1001"`, `1 to 1000`}},
		{`"asked"`, []string{`"error": "event 1: an event is a JSON object"`}},
		{`[` + ask + `,7]`, []string{`"error": "event 2: an event is a JSON object"`, `"found": "7"`}},
		{`[` + ask, []string{`"error": "the body is no JSON"`}},
		{`[` + ask + `,null]`, []string{`"error": "event 2: an event is a JSON object"`}},
		{`[` + ask + `,{"kind":"askd"}]`,
			[]string{`event 2: there is no such kind of event`, `did you mean \"asked\"?`}},
		{`{"actor":"a"}`, []string{`event 1: the body lacks a member`, `kind`}},
		{`{"kind":"asked","actor":"a","key":"/","body":"x"}`, []string{`event 1: asked has an unknown member`,
			`"found": "body"`, `kind, actor, key, tenant, call, request`}},
		{`{"kind":"asked","actor":"a","kye":"/"}`, []string{`did you mean \"key\"?`}},
		{`{"kind":"asked","actor":7,"key":"/"}`, []string{`event 1: actor is no string`}},
		{`{"kind":"asked","actor":"","key":"/"}`, []string{`event 1: actor is empty`}},
		{`{"kind":"asked","actor":"a\u001b[0m","key":"/"}`, []string{`event 1: actor is no plain text`}},
		{`{"kind":"asked","actor":"a","key":"` + strings.Repeat("x", 2049) + `"}`,
			[]string{`event 1: key is no plain text`, `2048 bytes`}},
		{`{"kind":"served","actor":"a","key":"/","body":"x"}`,
			[]string{`event 1: served says whether`, `"found": "nothing"`}},
		{`{"kind":"served","actor":"a","key":"/","body":"x","fresh":"yes"}`, []string{`event 1: served says whether`}},
		{`{"kind":"rendered","actor":"a","key":"/","body":"x","revalidate":"60"}`,
			[]string{`event 1: revalidate is no duration`}},
		{`{"kind":"settled","within":"-3s"}`, []string{`event 1: within is no duration`}},
		{`{"kind":"asked","kind":"asked"}`, []string{`an event is a JSON object`}},
	} {
		f, events := told(t, nil)
		status, got := f.ask("POST", "/history", test.body)
		for _, part := range test.parts {
			if !strings.Contains(got, part) || status != http.StatusBadRequest {
				t.Errorf("%.60s: got %d %s, want 400 with %s", test.body, status, got, part)
			}
		}
		if len(*events) > 0 {
			t.Errorf("%.60s: %d events were taken in", test.body, len(*events))
		}
	}
}

func TestHistoryThatTheCheckRefuses(t *testing.T) {
	f, _ := told(t, errors.New("event 1: found x, expected y\nhint: z"))
	status, got := f.ask("POST", "/history", `{"kind":"crashed","actor":"a"}`)
	if status != http.StatusConflict || !strings.Contains(got, `"error": "event 1: found x, expected y"`) ||
		!strings.Contains(got, `"hint": "z"`) {
		t.Errorf("got %d %s", status, got)
	}
	f = newFake(t)
	for _, method := range []string{"GET", "POST"} {
		body := ""
		if method == "POST" {
			body = `{"kind":"crashed","actor":"a"}`
		}
		if status, got := f.ask(method, "/history", body); status != http.StatusConflict ||
			!strings.Contains(got, "serve --check") {
			t.Errorf("%s without a check: got %d %s", method, status, got)
		}
	}
	if status, _ := f.ask("POST", "/history", `{"kind":"asked","actor":"`+strings.Repeat("x", 1<<20)+
		`"}`); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a long body: got %d", status)
	}
}

// brokenOff is a client that takes some pieces of an answer and then disconnects.
type brokenOff struct {
	header  http.Header
	takes   int
	pieces  int
	longest int
}

func (b *brokenOff) Header() http.Header { return b.header }
func (b *brokenOff) WriteHeader(int)     {}
func (b *brokenOff) Flush()              {}

func (b *brokenOff) Write(p []byte) (int, error) {
	b.pieces++
	b.longest = max(b.longest, len(p))
	if b.pieces > b.takes {
		return 0, errors.New("the client has gone")
	}
	return len(p), nil
}

// room counts the bytes of an answer among those of all.
type room struct {
	taken, highest *int
	own            int
}

func (r *room) Hold(bytes int) {
	*r.taken += bytes - r.own
	r.own = bytes
	*r.highest = max(*r.highest, bytes)
}

func (r *room) Release() { r.Hold(0) }

// An answer for which there is no room is refused.
func TestAnswersWithoutRoom(t *testing.T) {
	f := newFake(t)
	f.api = control.Handler(f.db,
		control.Options{Room: func(context.Context, int) (control.Room, error) { return nil, errors.New("no room") }})
	if status, got := f.ask("GET", "/dump", ""); status != http.StatusServiceUnavailable || got != "no room" {
		t.Errorf("got %d and %q", status, got)
	}
}

// Rows and changes are sent in pieces as they are read, and the answer ends when its client is gone. Other clients
// still get their answers, unchanged.
//
// Each answer takes room before it begins, holds as much room as it needs, and gives it back.
func TestAnswersInPieces(t *testing.T) {
	f := newFake(t)
	taken, highest := 0, 0
	f.api = control.Handler(f.db, control.Options{Room: func(_ context.Context, bytes int) (control.Room, error) {
		taken += bytes
		return &room{&taken, &highest, bytes}, nil
	}})
	const rows, bytes = 60, 10_000
	for i := range rows {
		must.Done(t)(f.db.As("alice").PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: map[string]types.AttributeValue{
				"pk":   &types.AttributeValueMemberS{Value: string(rune('a' + i))},
				"html": &types.AttributeValueMemberS{Value: strings.Repeat("x", bytes)},
			}}))
	}
	for _, path := range []string{"/dump", "/dump?table=cache", "/changes", "/rows?table=cache&limit=1000",
		"/rows?table=cache&limit=1000&contains=xx"} {
		ask := func(takes int) *brokenOff {
			to := &brokenOff{header: http.Header{}, takes: takes}
			r := must.Of(http.NewRequestWithContext(t.Context(), http.MethodGet, control.Prefix+path, nil))(t)
			f.api.ServeHTTP(to, r)
			return to
		}
		for range 20 {
			if gone := ask(2); gone.pieces > 3 || gone.longest > 100_000 {
				t.Fatalf("%s: %d pieces of up to %d bytes were made for a client that took 2", path,
					gone.pieces, gone.longest)
			}
		}
		if whole := ask(rows * bytes); whole.pieces < 8 || whole.longest > 100_000 {
			t.Errorf("%s: %d pieces of up to %d bytes, want many", path, whole.pieces, whole.longest)
		}
		if status, got := f.ask("GET", path, ""); status != http.StatusOK ||
			strings.Count(got, strings.Repeat("x", bytes)) != rows || !strings.HasSuffix(got, "}") {
			t.Errorf("%s: got %d and %d bytes", path, status, len(got))
		}
		if taken != 0 || highest < 100_000 || highest > 1_000_000 {
			t.Errorf("%s: answers that have ended hold %d bytes, and one held up to %d", path, taken, highest)
		}
		if status, got := f.ask("HEAD", path, ""); status != http.StatusOK || got != "" {
			t.Errorf("HEAD %s: got %d and %d bytes", path, status, len(got))
		}
	}
}

// A page of another site cannot make a browser send a request that is served, even without an Origin.
func TestCrossSite(t *testing.T) {
	f := newFake(t)
	f.api = control.Guard(f.api)
	for value, want := range map[string]int{"cross-site": 403, "same-origin": 200, "same-site": 200, "none": 200} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			"http://127.0.0.1:8000"+control.Prefix+"/dump", nil)
		must.OK(t, err)
		r.Header.Set("Sec-Fetch-Site", value)
		w := httptest.NewRecorder()
		f.api.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("Sec-Fetch-Site: %s: got %d, want %d", value, w.Code, want)
		}
	}
}

// The server of isr-sim serve, in-process.
func Example() {
	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	api := control.Handler(db, control.Options{Clock: clock})
	server := httptest.NewServer(control.Guard(control.Mux(db.Handler(), api)))
	defer server.Close()

	response, err := http.Post(server.URL+control.Prefix+"/clock", "application/json",
		strings.NewReader(`{"advance":"90s"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	fmt.Print(string(body), err, clock.Now().Equal(fakeclock.Epoch.Add(90e9)))
	// Output:
	// {
	//   "now": "2040-01-01T00:01:30Z",
	//   "epochSeconds": 2208988890,
	//   "mode": "manual"
	// }
	// <nil> true
}
