package invariant

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

type LockTerms = promise.LockTerms

// promised is a lease of ten seconds, under terms.
func promised(terms LockTerms, record Record) Evidence {
	return Evidence{Record: record, Held: 10 * time.Second, Lock: &terms}
}

// told is one event of a history of locks: the node, its hold, the kind and the time.
type told struct {
	at       time.Duration
	actor    string
	kind     history.Kind
	hold     string
	token    int64 // 0 is none
	excused  time.Duration
	troubled bool
	note     string
	silent   time.Duration
}

// of makes a history of the lock "job".
func of(all ...told) []history.Event {
	var events []history.Event
	for i, a := range all {
		e := history.Event{Seq: i + 1, Time: time.Unix(1e9, 0).Add(a.at), Actor: a.actor, Kind: a.kind, Note: a.note}
		if a.hold != "" {
			e.Key = "job"
			e.Hold = &history.Hold{
				ID: a.hold, Token: a.token, Fenced: a.token != 0, Excused: a.excused, Troubled: a.troubled,
				Silent: a.silent,
			}
		}
		events = append(events, e)
	}
	return events
}

// takes asks for the lock and gets it at the same time.
func takes(at time.Duration, actor, hold string, token int64) []told {
	return []told{{at: at, actor: actor, kind: mark.EventLockAsked, hold: hold},
		{at: at, actor: actor, kind: mark.EventLockTaken, hold: hold, token: token}}
}

func is(at time.Duration, actor string, kind history.Kind, hold string, token int64) []told {
	return []told{{at: at, actor: actor, kind: kind, hold: hold, token: token}}
}

// claims asks whether the lock is still held, and gets the answer yes.
func claims(at time.Duration, actor, hold string) []told {
	return append(is(at, actor, mark.EventLockChecking, hold, 0), is(at, actor, mark.EventLockHeld, hold, 0)...)
}

func join(parts ...[]told) []told {
	var all []told
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

const s, ms = time.Second, time.Millisecond

// judge returns the finding of one invariant of locks.
func judge(name string, ev Evidence) Finding {
	all := OfLocks()
	return all[slices.IndexFunc(all, func(inv Invariant) bool { return inv.Name == name })].Check(ev)
}

// TestFindingsOfMutualExclusionShowTheRows: the changes of a finding are those, between its first and its last event,
// of the rows that either holder wrote in that time.
func TestFindingsOfMutualExclusionShowTheRows(t *testing.T) {
	row := func(table, key string) ddbfake.Change {
		return ddbfake.Change{
			Table: table, Key: attr.Item{"gate": attr.S(key)}, Actor: "alice", Cause: ddbfake.CauseClient,
		}
	}
	by := func(actor string, c ddbfake.Change) ddbfake.Change {
		c.Actor = actor
		return c
	}
	purged := by("", row("t", "job"))
	purged.Cause = ddbfake.CauseTTL
	copied := row("t", "copy")
	copied.Cause = ddbfake.CauseReplica
	job := row("t", "job")
	for _, test := range []struct {
		name string
		log  []ddbfake.Change
		want []int // the first change precedes the first event, and the last one follows the last event
	}{
		{"of both", []ddbfake.Change{job, job, by("bob", job), job, job}, []int{2, 3, 4}},
		{"of one", []ddbfake.Change{job, by("bob", job), job}, []int{2}},
		{"none", []ddbfake.Change{job, job}, nil},
		{"of others, too", []ddbfake.Change{job, by("carol", job), job, purged, job}, []int{2, 3, 4}},
		{"of others only", []ddbfake.Change{job, by("carol", job), purged, job}, nil},
		{"of another row",
			[]ddbfake.Change{job, job, by("carol", row("t", "mail")), by("carol", row("u", "job")), job}, []int{2}},
		{"that was copied", []ddbfake.Change{job, copied, job}, nil},
		{"that fill a story", slices.Repeat([]ddbfake.Change{job}, 10), []int{2, 3, 4, 5, 6, 7, 8, 9}},
		{"one too many", slices.Repeat([]ddbfake.Change{job}, 11), []int{2, 4, 5, 6, 7, 8, 9, 10}},
		{"too many", slices.Repeat([]ddbfake.Change{job}, 12), []int{2, 5, 6, 7, 8, 9, 10, 11}},
	} {
		for i := range test.log {
			test.log[i].Seq = i + 1
		}
		ev := promised(LockTerms{}, Record{
			Changes: test.log, History: of(join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0),
				claims(12*s, "alice", "a"))...),
		})
		for i := range ev.History {
			ev.History[i].Change = 2
		}
		ev.History[0].Change, ev.History[len(ev.History)-1].Change = 1, len(test.log)-1
		if f := judge("mutual-exclusion", ev); f.Verdict != Violated || !slices.Equal(f.Changes, test.want) {
			t.Errorf("%s: got %v, changes %v; want it violated, with changes %v", test.name, f.Verdict, f.Changes,
				test.want)
		}
	}
}

// TestALateWriteOfADeadHolder: a write in the change log makes its node count as
// a holder, even if the request was still in the network when the node crashed.
func TestALateWriteOfADeadHolder(t *testing.T) {
	story := join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0),
		is(20*s, "alice", mark.EventLockAsked, "a", 0), is(20*s, "alice", mark.EventLockRefused, "a", 0))
	ev := promised(LockTerms{Wait: s}, Record{History: of(story...)})
	if f := freeLock.Check(ev); f.Verdict != Violated {
		t.Errorf("without a late write: got %v", f)
	}
	start := time.Unix(1e9, 0).Add(s)
	ev.History =
		of(join(is(0, "carol", history.Settled, "", 0), is(s, "bob", mark.EventLockAsked, "b", 0), story[1:])...)
	late := ddbfake.Change{Seq: 1, Actor: "bob", Cause: ddbfake.CauseClient, Sent: start, Time: start.Add(14 * s)}
	for _, test := range []struct {
		name   string
		change func(c *ddbfake.Change)
		want   Verdict
	}{
		{"with a late write", func(*ddbfake.Change) {}, OK},
		{"with one of another node", func(c *ddbfake.Change) { c.Actor = "carol" }, Violated},
		{"with a deletion by TTL", func(c *ddbfake.Change) { c.Cause = ddbfake.CauseTTL }, Violated},
		{"with one that was sent before", func(c *ddbfake.Change) { c.Sent = start.Add(-1) }, Violated},
	} {
		c := late
		test.change(&c)
		ev.Changes = []ddbfake.Change{c}
		if f := freeLock.Check(ev); f.Verdict != test.want {
			t.Errorf("%s: got %v, want %v", test.name, f, test.want)
		}
	}
}

// A search takes two moments for one only if clients were told the same until then, in the same order.
func TestAllThatClientsWereToldIsRemembered(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	event := func(change func(*history.Event, *history.Hold)) history.Event {
		e := history.Event{Time: at(1), Actor: "alice", Kind: mark.EventLockTaken, Key: "job"}
		facts := &history.Hold{ID: "alice-hold-1"}
		change(&e, facts)
		e.Hold = facts
		return e
	}
	same := event(func(*history.Event, *history.Hold) {})
	other := event(func(e *history.Event, h *history.Hold) { e.Actor, h.ID = "bob", "bob-hold-1" })
	crash := history.Event{Time: at(1), Actor: "alice", Kind: history.Crashed}
	wrote := ddbfake.Change{Actor: "alice", Cause: ddbfake.CauseClient, Sent: at(1), Time: at(1)}
	sum := func(events []history.Event, changes ...ddbfake.Change) uint64 {
		inv := OfLocks()[0]
		m := inv.Memory(Promise{})
		for _, c := range changes {
			m.Change(c)
		}
		for _, e := range events {
			m.Event(e)
		}
		return m.Fingerprint(at(9))
	}
	pasts := map[string]uint64{
		"nothing":         sum(nil),
		"one event":       sum([]history.Event{same}),
		"two events":      sum([]history.Event{same, other}),
		"the other order": sum([]history.Event{other, same}),
		"a crash":         sum([]history.Event{same, crash}),
		"a crash before":  sum([]history.Event{crash, same}),
		"a write":         sum(nil, wrote),
		"two writes":      sum(nil, wrote, wrote),
		"a write sent later": sum(nil,
			ddbfake.Change{Actor: "alice", Cause: ddbfake.CauseClient, Sent: at(2), Time: at(1)}),
		"a later write": sum(nil,
			ddbfake.Change{Actor: "alice", Cause: ddbfake.CauseClient, Sent: at(1), Time: at(2)}),
		"a write of bob": sum(nil, ddbfake.Change{Actor: "bob", Cause: ddbfake.CauseClient, Sent: at(1), Time: at(1)}),
	}
	for name, change := range map[string]func(*history.Event, *history.Hold){
		"time":     func(e *history.Event, _ *history.Hold) { e.Time = at(2) },
		"node":     func(e *history.Event, _ *history.Hold) { e.Actor = "bob" },
		"kind":     func(e *history.Event, _ *history.Hold) { e.Kind = mark.EventLockLost },
		"lock":     func(e *history.Event, _ *history.Hold) { e.Key = "mail" },
		"payload":  func(e *history.Event, _ *history.Hold) { e.Inputs = "7" },
		"result":   func(e *history.Event, _ *history.Hold) { e.Body = "7" },
		"an error": func(e *history.Event, _ *history.Hold) { e.Note = "no" },
	} {
		pasts[name] = sum([]history.Event{event(change)})
	}
	for i, field := range reflect.VisibleFields(reflect.TypeFor[history.Hold]()) {
		pasts[field.Name] = sum([]history.Event{event(func(_ *history.Event, h *history.Hold) {
			switch v := reflect.ValueOf(h).Elem().Field(i); v.Kind() {
			case reflect.Bool:
				v.SetBool(true)
			case reflect.String:
				v.SetString("other")
			default:
				v.SetInt(1)
			}
		})})
	}
	known := map[uint64]string{}
	for _, name := range slices.Sorted(maps.Keys(pasts)) {
		if before, is := known[pasts[name]]; is {
			t.Errorf("%q and %q count as one", before, name)
		}
		known[pasts[name]] = name
	}
	replaced := wrote
	replaced.Cause = ddbfake.CauseTTL
	if sum(nil, replaced) != sum(nil) {
		t.Error("a deletion by TTL is no write of a node's")
	}
}
