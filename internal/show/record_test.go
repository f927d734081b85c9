package show_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/scenario/history"
)

func protocolNamed(t *testing.T, name string) kernel.Run {
	t.Helper()
	p := scenariotest.Protocol(t, name)
	return kernel.Run{Protocol: p}
}

// failed is a schedule in which a mutant violates an invariant, in an embedded scenario.
func failed(t *testing.T, name, protocol string) kernel.Run {
	t.Helper()
	s, p := scenariotest.Embedded(t, name), protocolNamed(t, protocol).Protocol
	r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
	if r.Failure == nil {
		t.Fatalf("%s passes %s", protocol, name)
	}
	return kernel.Replay(r.Failure.Replay(), s, p)
}

func made(t *testing.T, run kernel.Run) (*record.Record, string) {
	t.Helper()
	r := must.Of(record.Of(t.Context(), run, "test"))(t)
	var text bytes.Buffer
	must.OK(t, r.Write(&text))
	return r, text.String()
}

// The record has the same lines as the trace, and no others.
func TestRecordSaysWhatTheTraceSays(t *testing.T) {
	passing := func(name string) kernel.Run {
		run := protocolNamed(t, "recipe-a")
		run.Scenario, run.Seed = scenariotest.Embedded(t, name), 5
		return run
	}
	for name, run := range map[string]kernel.Run{
		"a violation": failed(t, "paused-writer", "blind-publish"), "a crash": passing("crashed-holder"),
		"TTL": passing("ttl-lags"),
	} {
		t.Run(name, func(t *testing.T) {
			var trace bytes.Buffer
			run.Trace = &trace
			r, _ := made(t, run)
			var lines []string
			add := func(format string, args ...any) {
				lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "))
			}
			for _, s := range r.Steps {
				add("%d +%s %s %s %s", s.N, s.Time.Sub(r.Start), s.Lane, s.Kind, s.Text)
				for _, c := range s.Changes {
					add("row %s", c.Text)
				}
				for _, e := range s.Events {
					add("client %s %s", e.Actor, e.Text)
				}
			}
			var want []string
			for line := range strings.Lines(trace.String()) {
				want = append(want, strings.Join(strings.Fields(line), " "))
			}
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("(-trace +record):\n%s", diff)
			}
		})
	}
}

func TestRecordOfAViolation(t *testing.T) {
	run := failed(t, "paused-writer", "blind-publish")
	r, text := made(t, run)
	o, err := run.Do(t.Context())
	must.OK(t, err)
	v := r.Violation
	if v == nil || v.Invariant != o.Violation.Invariant.Name || v.Why != o.Violation.Why ||
		!cmp.Equal(v.Lines, o.Violation.Lines) {
		t.Fatalf("got %+v, want what the run says: %+v", v, o.Violation)
	}
	const stops = 2 // the pause of the node and its end: the lines show them, but the invariant does not name them
	if v.Step == 0 || len(v.Changes)+len(v.Events)+stops != len(v.Lines) {
		t.Fatalf("step %d, %d changes and %d events for %d lines", v.Step, len(v.Changes), len(v.Events), len(v.Lines))
	}
	if last := r.Steps[v.Step-1]; last.N != v.Step || len(last.Changes) == 0 ||
		last.Changes[len(last.Changes)-1].Seq != v.Changes[len(v.Changes)-1] {
		t.Errorf("the decisive step is %+v", last)
	}
	if again, err := record.Of(t.Context(), run, "test"); err != nil || !cmp.Equal(again, r) {
		t.Errorf("a second record is another one: %v", err)
	}
	read, err := record.Read(strings.NewReader(text))
	must.OK(t, err)
	var second bytes.Buffer
	if err := read.Write(&second); err != nil || second.String() != text {
		t.Errorf("read and written, it differs (%v):\n%s", err, cmp.Diff(text, second.String()))
	}
}

// A step in which a request reached the store has that request as it is on the wire, and the store's answer.
func TestRecordHasRequestsAndAnswers(t *testing.T) {
	run := protocolNamed(t, "recipe-a")
	run.Scenario, run.Seed = scenariotest.Embedded(t, "two-contenders"), 5
	r, _ := made(t, run)
	seen := map[string]int{}
	for _, s := range r.Steps {
		c := s.Call
		if c == nil {
			if len(s.Changes) > 0 && s.Changes[0].Cause == "client" {
				t.Errorf("step %d changes rows without a request", s.N)
			}
			continue
		}
		if s.Kind != "effect" || !strings.HasPrefix(s.Text, c.Operation+" ") || (c.Error != "") != (c.Answer == nil) {
			t.Errorf("step %d, %s %q, has the request %+v", s.N, s.Kind, s.Text, c)
		}
		seen[c.Operation]++
		if c.Error == "ConditionalCheckFailedException" {
			seen["refused"]++
		}
		if c.Operation != "GetItem" || c.Answer["Item"] == nil {
			continue
		}
		seen["found"]++
		want := map[string]any{"ConsistentRead": true, "TableName": "isr-cache", "Key": map[string]any{
			"pk": map[string]any{"S": c.Answer["Item"].(map[string]any)["pk"].(map[string]any)["S"]},
			"sk": map[string]any{"S": "META"},
		}}
		if diff := cmp.Diff(want, c.Request); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", s.N, diff)
		}
	}
	for _, name := range []string{"GetItem", "PutItem", "TransactWriteItems", "found", "refused"} {
		if seen[name] == 0 {
			t.Errorf("no request was %s: %v", name, seen)
		}
	}
}

// A record has everything needed to replay it.
func TestRecordIsEnoughForAReplay(t *testing.T) {
	r, _ := made(t, failed(t, "paused-writer", "blind-publish"))
	s := scenariotest.Parsed(t, r.File)
	o, err := kernel.Replay(*s.Replay, s, protocolNamed(t, r.Protocol).Protocol).Do(t.Context())
	if err != nil || o.Violation == nil || o.Violation.Why != r.Violation.Why {
		t.Errorf("%v, %+v", err, o)
	}
}

// Records of all formats ever written stay readable.
func TestOldRecordsAreRead(t *testing.T) {
	files, err := filepath.Glob("record/testdata/format-*.json")
	if err != nil || len(files) != record.Format {
		t.Fatalf("found %d records, %v; want one of each of %d formats", len(files), err, record.Format)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		must.OK(t, err)
		r, err := record.Read(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if r.Violation == nil || r.Steps[r.Violation.Step-1].Time.IsZero() || len(r.Actors) != 2 {
			t.Errorf("%s: read as %+v", file, r)
		}
	}
}

func TestNoRecordIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "found no record of a run: EOF",
		"<html>":                             "found no record of a run: invalid character '<'",
		"{}":                                 "found a JSON file without the format of a record",
		`{"format": "isr-sim explorations"}`: "found a JSON file of another kind",
		`{"format": 2}`: "found a record of format 2, expected one from 1 to 1: a later " +
			"version of isr-sim has written it",
		`{"format": 1}`:                 "found a JSON file without the steps of a run",
		`{"format": 1, "steps": "all"}`: "found no record of a run: found string as steps",
	} {
		if _, err := record.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// If a run is not linearizable, its violation is at the step of the answer that no order explains: bob is told that the
// lease is his.
func TestTheAnswerThatNoOrderExplainsIsPinned(t *testing.T) {
	s, p := scenariotest.Embedded(t, "heartbeat-beats-once"), scenariotest.Protocol(t, "heartbeat-beats-once")
	found := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
	if found.Failure == nil {
		t.Fatal("heartbeat-beats-once passes its scenario")
	}
	r := must.Of(record.Of(t.Context(), kernel.Replay(found.Failure.Replay(), s, p), "test"))(t)
	v := r.Violation
	if v == nil || v.Invariant != "linearizable" || v.Step < 1 || v.Step > len(r.Steps) {
		t.Fatalf("found the violation %+v, want one of linearizable with a step", v)
	}
	who, _, _ := strings.Cut(strings.TrimPrefix(v.Why, "what "), " ")
	if at := r.Steps[v.Step-1]; at.Actor != who {
		t.Errorf("it is pinned at %q of %s, want a step of %s: %s", at.Text, at.Actor, who, v.Why)
	}
}

var start = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

// TestWhatWasWatchedIsARecord: calls, answers, events and changes become steps, in order of time. A violation names the
// step of its decisive operation.
func TestWhatWasWatchedIsARecord(t *testing.T) {
	operation := func(actor, key string, call, answer int) storeop.Operation {
		o := storeop.Operation{Actor: actor, Verb: storeop.Publish, Key: key, Began: at(call), Call: call,
			Token: actor + "-1", Result: storeop.Done}
		if answer > 0 {
			o.Ended, o.Return = at(answer), answer
		}
		return o
	}
	w := record.Watched{
		Name: "concurrent", Protocol: "blind-publish", Start: start, Verdict: invariant.Violated,
		Why: "bob was told a lie", Invariant: invariant.Named("linearizable"), Lines: []string{"bob"},
		Evidence: invariant.Evidence{
			Record: invariant.Record{History: []history.Event{
				{Seq: 1, Time: at(5), Actor: "alice", Kind: history.Asked, Key: "/a"},
				{Seq: 2, Time: at(6), Actor: "carol", Kind: history.Asked, Key: "/b"},
			}},
			Operations: []storeop.Operation{operation("bob", "/a", 1, 9),
				operation("carol", "/b", 2, 3), operation("alice", "/a", 4, 0)},
		},
		Finding: invariant.Finding{Operations: []int{3, 1}},
	}
	r := must.Of(record.OfWatched(w, "test"))(t)
	var got []string
	for _, s := range r.Steps {
		got = append(got, s.Actor+" "+s.Kind)
	}
	if want := []string{"bob call", "alice call", "alice note", "bob answer"}; !slices.Equal(got, want) {
		t.Errorf("the steps are %q, want %q: those about the page of the violation", got, want)
	}
	if r.Violation == nil || r.Violation.Step != 4 || !r.Watched || r.Choices != "" {
		t.Errorf("the violation is %+v, want step 4", r.Violation)
	}
	var text bytes.Buffer
	must.OK(t, r.Write(&text))
	if _, err := record.Read(&text); err != nil {
		t.Error(err)
	}
}

// TestChangesOfOneRequestAreOneStep uses a change log in which a deletion by TTL and an event lie between changes.
func TestChangesOfOneRequestAreOneStep(t *testing.T) {
	change := func(seq, request int, sk string, cause ddbfake.Cause) ddbfake.Change {
		key := attr.Item{"pk": attr.S("CACHE#1"), "sk": attr.S(sk)}
		return ddbfake.Change{Seq: seq, Request: request, Time: start, Sent: start, Actor: "alice", Cause: cause,
			Table: "cache", Key: key, After: key}
	}
	w := record.Watched{Name: "serve", Start: start, Verdict: invariant.OK, Evidence: invariant.Evidence{
		Record: invariant.Record{Changes: []ddbfake.Change{
			change(1, 1, "META", ddbfake.CauseClient), change(2, 1, "LOCK", ddbfake.CauseClient),
			change(3, 0, "META", ddbfake.CauseTTL), change(4, 2, "META", ddbfake.CauseClient),
			change(5, 3, "META", ddbfake.CauseClient),
		},
			History: []history.Event{{Seq: 1, Time: start, Actor: "bob", Kind: history.Asked, Key: "/a", Change: 3}}},
	}}
	r := must.Of(record.OfWatched(w, "test"))(t)
	var got []string
	for _, s := range r.Steps {
		got = append(got, s.Lane+" "+s.Kind)
	}
	if want := []string{"alice effect", "ttl external", "bob note", "alice effect", "alice effect"}; !slices.Equal(got,
		want) || len(r.Steps[0].Changes) != 2 {
		t.Errorf("the steps are %q, want %q", got, want)
	}
	if _, err := record.OfWatched(record.Watched{Name: "serve", Start: start}, "test"); err == nil {
		t.Error("nothing at all has become a record")
	}
}

// The meaning of a row in a record agrees with the record's line in words.
func TestMeaningsAreThoseInWords(t *testing.T) {
	run := kernel.Run{
		Scenario: scenariotest.Embedded(t, "paused-writer"), Protocol: scenariotest.Protocol(t, "recipe-b"), Seed: 2,
	}
	r, _ := made(t, run)
	roles := map[string]int{}
	for _, s := range r.Steps {
		for _, c := range s.Changes {
			if len(c.Means) != 1 {
				t.Fatalf("%s means %+v, want one thing", c.Text, c.Means)
			}
			m := c.Means[0]
			roles[m.Role]++
			if gone := strings.HasSuffix(c.Text, "=> absent"); m.Gone != gone || gone != (c.After == nil) {
				t.Errorf("%s is gone: %v", c.Text, m.Gone)
			}
			_, after, _ := strings.Cut(c.Text, " => ")
			if m.Until != nil && !strings.Contains(after, " until +"+m.Until.Sub(r.Start).String()) {
				t.Errorf("%s means something until %v", c.Text, m.Until.Sub(r.Start))
			}
			if (m.Role == "lock" || m.Role == "version") && !m.Gone && m.Until == nil {
				t.Errorf("%s has no end", c.Text)
			}
			if m.Token != "" && !strings.Contains(after, "token "+m.Token+" ") {
				t.Errorf("%s has the token %s", c.Text, m.Token)
			}
		}
	}
	if roles["lock"] == 0 || roles["page"] == 0 || roles["version"] == 0 {
		t.Errorf("found the roles %v, want locks, pages and versions", roles)
	}
}

// A row with other names means the same.
func TestMeaningsOfOtherRows(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: own-rows
rows:
  - partition: pk = CACHE#{key}
    sort: sk = META
    body-key: s3_key
    generated: generated_at
    window: revalidate_seconds
  - partition: pk = CACHE#{key}
    sort: sk = LOCK
    token: lease_token
    expires: lease_expires_at
actors: [{name: alice, script: [get /home]}]
bounds: {ticks: 0}
`)
	r, _ := made(t, kernel.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: 2})
	until := map[string]time.Duration{}
	for _, step := range r.Steps {
		for _, c := range step.Changes {
			for _, m := range c.Means {
				if m.Until != nil {
					until[m.Role] = m.Until.Sub(step.Time)
				}
			}
		}
	}
	if until["lock"] <= 0 || until["page"] <= 0 {
		t.Errorf("found the ends %v, want those of a lock and of a page", until)
	}
}
