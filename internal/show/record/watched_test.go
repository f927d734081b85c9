package record_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/scenario/history"
)

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
