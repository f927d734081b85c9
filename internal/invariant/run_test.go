package invariant_test

import (
	"maps"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// run is a log, a history and a log of bodies written by hand, all for the page "/". Each event and each body notes how
// long the log was at its moment.
type run struct {
	*changeLog
	told   told
	bodies []recorder.Body
	tenant string
	at     string // the partition that renderings name
	as     string // the idempotency key of the requests that follow
	inputs string
}

func newRun() *run { return &run{changeLog: newLog().on("cache", isr.PartitionKey("", "/"))} }

func (r *run) do(something func(l *changeLog)) *run {
	something(r.changeLog)
	return r
}

// wait moves to the instant d after t0.
func (r *run) wait(d time.Duration) *run { return r.do(func(l *changeLog) { l.at(d) }) }

// take puts LOCK for 30 s, and give deletes it.
func (r *run) take(actor string) *run {
	return r.do(func(l *changeLog) { l.lock(actor, actor, l.now.Sub(t0)+30*second) })
}

func (r *run) give(actor string) *run { return r.do(func(l *changeLog) { l.unlock(actor) }) }

// shows is the transaction of recipe A, without its body.
func (r *run) shows(actor, body string) *run {
	return r.do(func(l *changeLog) { l.publish(actor, body) })
}

// with makes the following requests regenerations with this idempotency key and these inputs. With "" they are plain
// requests again.
func (r *run) with(request, inputs string) *run {
	r.as, r.inputs = request, inputs
	return r
}

// named puts the page of the following renderings into this partition, as if the node had named it.
func (r *run) named(pk string) *run {
	r.at = pk
	return r
}

// of assigns the following events to a tenant.
func (r *run) of(tenant string) *run {
	r.tenant = tenant
	return r
}

func (r *run) event(actor string, kind history.Kind, as history.ServedAs, body string) *run {
	r.told.Add(history.Event{
		Time: r.now, Actor: actor, Kind: kind, Key: "/", As: as, Body: body,
		Tenant: r.tenant, Request: r.as, Inputs: r.inputs, Partition: r.at, Change: len(r.changes),
	})
	return r
}

func (r *run) asks(actor string) *run {
	return r.event(actor, history.Asked, history.Unclaimed, "")
}

func (r *run) renders(actor, body string) *run {
	return r.event(actor, history.Rendered, history.Unclaimed, body)
}

func (r *run) gets(actor, body string) *run {
	return r.event(actor, history.Served, history.Fresh, body)
}

func (r *run) getsStale(actor, body string) *run {
	return r.event(actor, history.Served, history.Stale, body)
}

func (r *run) happens(actor string, kind history.Kind) *run {
	return r.event(actor, kind, history.Unclaimed, "")
}

// makes renders a body and stores it under its own name.
func (r *run) makes(actor, body string) *run {
	r.renders(actor, body)
	r.bodies = append(r.bodies,
		recorder.Body{Time: r.now, Actor: actor, Name: body, Body: body, Change: len(r.changes)})
	return r
}

// claims writes a REQ row, kept for an hour.
func (r *run) claims(actor, request, inputs string) *run {
	return r.do(func(l *changeLog) {
		l.write(actor, "REQ#"+request, attr.Item{"request_hash": attr.S(inputs), "ttl": attr.Int(l.now.Unix() + 3600)})
	})
}

// TestPasts checks what invariants remember.
func TestPasts(t *testing.T) {
	for _, name := range []string{"single-flight", "lock-theft", "monotonic-publication", "no-lost-invalidation"} {
		for _, past := range invariant.Pasts(t, name) {
			checkPast(t, invariant.Named(name), past)
		}
	}
}

func checkPast(t *testing.T, inv invariant.Invariant, past invariant.Past) {
	t.Helper()
	sum := func(ev invariant.Evidence) uint64 {
		keep := func(m recorder.Memory, c *ddbfake.Change, e *history.Event) recorder.Memory {
			hear(m, c, e)
			return m
		}
		plain := remembered(inv, past.At, ev, keep)
		if copied := remembered(inv, past.At, ev, leave); copied != plain {
			t.Errorf("%s: a copy remembers something else, after what happened to the memories that it was made from",
				past.Name)
		}
		return plain
	}
	if equal := sum(past.A) == sum(past.B); equal != past.Equal {
		t.Errorf("%s: equal memories: %v, want %v", past.Name, equal, past.Equal)
	}
}

// remembered is the fingerprint of the memory of a run; next feeds it the next change or event.
func remembered(
	inv invariant.Invariant, at time.Duration, ev invariant.Evidence,
	next func(recorder.Memory, *ddbfake.Change, *history.Event) recorder.Memory,
) uint64 {
	m, log := inv.Memory(invariant.Promise{MaxClockSkew: ev.MaxClockSkew}), ev.Changes
	for _, e := range ev.History {
		for ; len(log) > 0 && log[0].Seq <= e.Change; log = log[1:] {
			m = next(m, &log[0], nil)
		}
		m = next(m, nil, &e)
	}
	for i := range log {
		m = next(m, &log[i], nil)
	}
	return m.Fingerprint(t0.Add(at))
}

func hear(m recorder.Memory, c *ddbfake.Change, e *history.Event) {
	if c != nil {
		m.Change(*c)
	} else {
		m.Event(*e)
	}
}

// leave goes on with a copy of the memory, as a search does that returns to a moment, while other things happen to the
// memory itself. The copy is told only the events that it heeds.
func leave(m recorder.Memory, c *ddbfake.Change, e *history.Event) recorder.Memory {
	of, can := m.(interface {
		Clone() recorder.Memory
		Heeds(*history.Event) bool
	})
	if !can {
		hear(m, c, e)
		return m
	}
	own := of.Clone()
	if of.Heeds(e) {
		hear(own, c, e)
	}
	other := history.Event{Key: "/"}
	if e != nil {
		other = *e
	}
	for _, actor := range []string{"alice", "bob", "carol"} {
		for _, kind := range []history.Kind{history.Invalidating, history.Asked, history.Rendered, history.Invalidated,
			history.Served, history.Failed, history.Crashed, history.RollingBack} {
			other.Actor, other.Kind, other.Body = actor, kind, "another"
			m.Event(other)
		}
	}
	l := newLog().on("cache", isr.PartitionKey("", "/"))
	for _, actor := range []string{"alice", "bob", "carol"} {
		for _, change := range l.lock(actor, actor+"'s other", time.Minute).publish(actor, "another").changes {
			m.Change(change)
		}
	}
	return own
}

func (r *run) evidence() invariant.Evidence {
	ev := invariant.Evidence{
		Record: invariant.Record{Changes: r.changes, History: r.told.Events(), Revalidate: time.Minute},
	}
	ev.Bodies, ev.Recipe = r.bodies, true
	return ev
}

// inline is the META row of a cache that keeps the body in META, and no ttl.
func (l *changeLog) inline(actor, body string, with attr.Item) *changeLog {
	row := attr.Item{"html": attr.S("<p>" + body + "</p>"), "generated_at": attr.Int(l.sent.Unix()),
		"revalidate_seconds": attr.Int(60)}
	maps.Copy(row, with)
	return l.write(actor, "META", row)
}

// ownRows is a run of a cache that keeps the page "/" in a partition with another key.
func ownRows() *run {
	r := newRun()
	r.on("cache", "CACHE#/")
	return r
}

// puts publishes a body inline and gives the lease back.
func (r *run) puts(actor, body string, with attr.Item) *run {
	return r.do(func(l *changeLog) { l.together(func() { l.inline(actor, body, with).unlock(actor) }) })
}
