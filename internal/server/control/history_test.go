package control_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// told is a fake checker: it appends each event to events, or returns the error refuses.
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
