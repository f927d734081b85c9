package invariant_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// inline is the META row of a cache that keeps the body in META, and no ttl.
func (l *changeLog) inline(actor, body string, with attr.Item) *changeLog {
	row := attr.Item{"html": attr.S("<p>" + body + "</p>"), "generated_at": attr.Int(l.sent.Unix()),
		"revalidate_seconds": attr.Int(60)}
	maps.Copy(row, with)
	return l.write(actor, "META", row)
}

// odd is a META row with other names and units than the schema's.
func (l *changeLog) odd(actor, body string, with attr.Item) *changeLog {
	row := attr.Item{"html": attr.S(body), "created": attr.S(l.sent.Format(time.RFC3339))}
	maps.Copy(row, with)
	return l.write(actor, "META", row)
}

// oddLock is a LOCK row of the same cache.
func (l *changeLog) oddLock(actor string) *changeLog {
	return l.write(actor, "LOCK", attr.Item{"owner": attr.S(actor)})
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

// regenerated is a page that alice has regenerated with an idempotency key.
func regenerated() *run {
	return newRun().with("r1", "h").asks("alice").renders("alice", "1").gets("alice", "1").with("", "")
}

// TestRowsOfAnotherShape gives each invariant rows outside the schema. The invariant must judge the rows that it can
// read. If it cannot read them, it must not say ok.
func TestRowsOfAnotherShape(t *testing.T) {
	const okay, violated, unknown = invariant.OK, invariant.Violated, invariant.Unknown
	type shape struct {
		name string
		run  *run
		want invariant.Verdict
	}
	tagged := func(etag string) attr.Item { return attr.Item{"etag": attr.S(etag)} }
	odd := func(with attr.Item) *run { // a correct publish of a page that cannot be read
		return ownRows().take("alice").renders("alice", "body-1").
			do(func(l *changeLog) { l.together(func() { l.odd("alice", "body-1", with).unlock("alice") }) })
	}
	inTurn := func() *run { return ownRows().take("alice").renders("alice", "1").puts("alice", "1", nil) }
	asked := func() *run { // a regeneration with an idempotency key, published inline
		return ownRows().with("r1", "h").asks("alice").claims("alice", "r1", "h").take("alice").renders("alice", "1").
			puts("alice", "1", nil)
	}
	oddLock := func() *run { return ownRows().do(func(l *changeLog) { l.oddLock("alice") }) }
	visitor := func() *run { return newRun().event("visitor", history.Settled, 0, "") }
	invalidated := func() *run {
		return newRun().happens("carol", history.Invalidating).happens("carol", history.Invalidated).asks("carol")
	}
	shapes := map[string][]shape{
		"stale-writer": {
			{"in turn", inTurn(), okay},
			{"a body in the row, put blindly", inTurn().puts("bob", "2", nil), violated},
			{"the same second and window, another body",
				inTurn().do(func(l *changeLog) { l.inline("bob", "2", nil) }), violated},
			{"a count of readers is no publish",
				inTurn().do(func(l *changeLog) { l.inline("alice", "1", attr.Item{"hits": attr.Int(1)}) }), okay},
			{"a page that nobody can read", inTurn().do(func(l *changeLog) { l.odd("bob", "2", nil) }), violated},
			{"under a lock that nobody can read",
				oddLock().do(func(l *changeLog) { l.inline("alice", "1", nil) }), unknown},
		},
		"lock-theft": {
			{"in turn", inTurn().take("bob"), okay},
			{"a lock that nobody can read is replaced", oddLock().take("bob"), unknown},
			{"a live lock is replaced", ownRows().take("alice").take("bob"), violated},
		},
		"monotonic-publication": {
			{"in turn", inTurn().wait(time.Minute).take("bob").puts("bob", "2", nil), okay},
			{"an older body in the row",
				inTurn().take("bob").puts("bob", "2", attr.Item{"generated_at": attr.Int(in(-second))}), violated},
			{"a page that does not say when it was made", odd(nil), unknown},
		},
		"expired-publish": {
			{"in turn", inTurn(), okay},
			{"twice under one lease",
				inTurn().do(func(l *changeLog) { l.inline("alice", "2", nil) }), violated},
			{"a page that nobody can read", inTurn().do(func(l *changeLog) { l.odd("alice", "2", nil) }), violated},
			{"under a lock that nobody can read",
				oddLock().do(func(l *changeLog) { l.inline("alice", "1", nil) }), unknown},
		},
		"atomic-publish": {
			{"in turn", inTurn(), okay},
			{"a body in the row, and the lock kept",
				ownRows().take("alice").do(func(l *changeLog) { l.inline("alice", "1", nil) }), violated},
			{"a lock that nobody can read is kept",
				oddLock().do(func(l *changeLog) { l.odd("alice", "1", nil) }), unknown},
		},
		"no-dangling-pointer": {
			{"a body in the row", inTurn().stores("alice", "9"), okay},
			{"a body in the version's row", ownRows().stores("alice", "9").
				do(func(l *changeLog) {
					l.write("alice", "VER#1", attr.Item{"html": attr.S("1")}).write("alice", "META",
						attr.Item{"current_sk": attr.S("VER#1")})
				}), okay},
			{"one etag for two bodies in the row", inTurn().puts("alice", "1", tagged("e")).renders("bob", "2").
				puts("bob", "2", tagged("e")).stores("bob", "9"), violated},
			{"two etags", inTurn().puts("alice", "1", tagged("e")).renders("bob", "2").puts("bob", "2", tagged("f")).
				stores("bob", "9"), okay},
			{"an etag of what nobody can read",
				odd(attr.Item{"html": attr.B{1, 2}, "etag": attr.S("e")}).stores("alice", "9"), unknown},
			{"a body in a store that nobody sees", ownRows().shows("alice", "1").stores("", ""), unknown},
		},
		"ttl-well-formed": {
			{"a body in the row", inTurn().puts("alice", "1", attr.Item{"ttl": attr.Int(in(time.Minute))}), okay},
			{"a second too early",
				inTurn().puts("alice", "1", attr.Item{"ttl": attr.Int(in(time.Minute - second))}), violated},
			{"without a window of its own, a second too early",
				ownRows().do(func(l *changeLog) {
					l.write("alice", "META", attr.Item{
						"html": attr.S("1"), "generated_at": attr.Int(in(0)), "ttl": attr.Int(in(time.Minute - second)),
					})
				}), violated},
			{"a page that does not say when it was made", odd(attr.Item{"ttl": attr.Int(in(time.Minute))}), unknown},
			{"in milliseconds, all the same", odd(attr.Item{"ttl": attr.Int(in(time.Minute) * 1000)}), violated},
			{"a lock that does not say when it ends", ownRows().do(func(l *changeLog) {
				l.write("alice", "LOCK", attr.Item{"owner": attr.S("alice"), "ttl": attr.Int(in(time.Minute))})
			}), unknown},
		},
		"freshness": {
			{"its own", newRun().renders("alice", "1").getsStale("bob", "1"), okay},
			{"a body that nobody made", newRun().renders("alice", "1").gets("bob", "<p>1</p>"), unknown},
			{"and as stale", newRun().renders("alice", "1").getsStale("bob", "<p>1</p>"), unknown},
		},
		"ttl-is-gc": {
			{"it reads no rows", odd(nil), okay}, // the scenario declares the histories that it compares
		},
		"single-flight": {
			{"in turn", inTurn(), okay},
			{"one after the other", inTurn().wait(time.Minute).take("bob").renders("bob", "2"), okay},
			{"without a second look",
				inTurn().wait(time.Minute-second).take("bob").renders("bob", "2").puts("bob", "2", nil), violated},
			{"and without publishing it, where the node has named the rows",
				inTurn().wait(time.Minute-second).take("bob").named("CACHE#/").renders("bob", "2"), violated},
			{"without a lease, where nothing was published",
				ownRows().named("CACHE#/").renders("alice", "1"), violated},
			{"of two pages, by the body and not by what was named",
				inTurn().in("CACHE#/other").take("bob").named("CACHE#/other").renders("bob", "2"), violated},
			{"nothing tells which rows", ownRows().take("alice").renders("alice", "1"), unknown},
			{"a page that does not say when it was made",
				odd(nil).take("bob").named("CACHE#/").renders("bob", "2"), unknown},
		},
		"no-lost-invalidation": {
			{"made since", invalidated().renders("alice", "1").gets("carol", "1"), okay},
			{"a body that nobody made", invalidated().renders("alice", "1").gets("carol", "<p>1</p>"), unknown},
		},
		"monotonic-reads": {
			{"it reads no rows", odd(nil), okay},
			{"bodies that nobody made",
				newRun().asks("bob").gets("bob", "<p>1</p>").asks("bob").gets("bob", "<p>2</p>"), unknown},
		},
		"read-your-writes": {
			{"its own", regenerated().asks("alice").gets("alice", "1"), okay},
			{"a body that nobody made", regenerated().asks("alice").gets("alice", "<p>1</p>"), unknown},
		},
		"bounded-staleness": {
			{"it reads no rows", odd(nil), okay}, // the scenario states the bound
		},
		"idempotent-regeneration": {
			{"once", asked(), okay},
			{"twice", asked().take("bob").renders("bob", "2").puts("bob", "2", nil), violated},
			{"with other inputs", asked().with("r1", "other").asks("bob").renders("bob", "2"), violated},
			{"a body that nobody can read",
				ownRows().with("r1", "h").asks("alice").claims("alice", "r1", "h").take("alice").renders("alice", "1").
					puts("alice", "compressed", nil), unknown},
			{"other inputs, and no REQ row of the schema",
				ownRows().with("r1", "h").asks("alice").take("alice").renders("alice", "1").puts("alice", "1", nil).
					with("r1", "other").asks("bob").renders("bob", "2"), unknown},
		},
		"tenant-isolation": {
			{"a body that nobody made", newRun().of("t1").renders("alice", "1").gets("alice", "<p>1</p>"), unknown},
		},
		"linearizable": {
			{"it reads no rows", odd(nil), okay}, // it judges the operations of stores that can be observed
		},
		"liveness": {
			{"fresh", visitor().asks("visitor").gets("visitor", "1"), okay},
			{"nobody has asked", visitor(), unknown},
		},
	}
	for _, inv := range invariant.All() {
		if len(shapes[inv.Name]) == 0 {
			t.Errorf("%s is given no rows of another shape", inv.Name)
		}
		for _, s := range shapes[inv.Name] {
			t.Run(inv.Name+"/"+s.name, func(t *testing.T) {
				if got := inv.Check(s.run.evidence()); got.Verdict != s.want {
					t.Errorf("%v (%s), want %v", got.Verdict, got.Why, s.want)
				}
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		if !slices.ContainsFunc(invariant.All(), func(inv invariant.Invariant) bool { return inv.Name == name }) {
			t.Errorf("there is no invariant %s", name)
		}
	}
}

// stores puts a body into the body store. If the name is "", the body store is observed but stays empty.
func (r *run) stores(actor, name string) *run {
	if r.bodies == nil {
		r.bodies = []recorder.Body{}
	}
	if name != "" {
		r.bodies = append(r.bodies,
			recorder.Body{Time: r.now, Actor: actor, Name: name, Body: name, Change: len(r.changes)})
	}
	return r
}

// in moves the next changes to another partition.
func (r *run) in(pk string) *run { return r.do(func(l *changeLog) { l.on(l.table, pk) }) }
