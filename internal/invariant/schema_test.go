package invariant_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// shared is a cache with one row per page, and times in milliseconds.
var shared = isr.Schema{Rows: []isr.Row{{
	Partition: "id = page#{key}", Body: "html", Generated: "updated_at ms", Window: "= 1m", Token: "locked_by",
	Expires: "locked_until ms", TTL: "expires",
}}}

// ms is the millisecond at the given time after t0.
func ms(d time.Duration) attr.N { return attr.Int(t0.Add(d).UnixMilli()) }

// pageRow is the change log of one row of such a cache.
type pageRow struct {
	changes []ddbfake.Change
	last    attr.Item
	now     time.Duration
}

// set writes the row from pairs of name and value; a nil value removes the attribute.
func (r *pageRow) set(actor string, pairs ...any) *pageRow {
	next := attr.Item{"id": attr.S("page#/")}
	for name, v := range r.last {
		next[name] = v
	}
	for i := 0; i < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		if v, ok := pairs[i+1].(attr.Value); ok {
			next[name] = v
		} else {
			delete(next, name)
		}
	}
	return r.put(ddbfake.Change{Actor: actor}, next)
}

func (r *pageRow) put(c ddbfake.Change, next attr.Item) *pageRow {
	c.Seq, c.Table, c.Key = len(r.changes)+1, "pages", attr.Item{"id": attr.S("page#/")}
	if c.Cause == ddbfake.CauseClient {
		c.Request = c.Seq
	}
	c.Time = t0.Add(r.now)
	c.Sent, c.Before, c.After = c.Time, r.last, next
	r.last = next
	r.changes = append(r.changes, c)
	return r
}

func (r *pageRow) at(d time.Duration) *pageRow {
	r.now = d
	return r
}

// lock takes the lock until the given time after t0.
func (r *pageRow) lock(actor, token string, until time.Duration) *pageRow {
	return r.set(actor, "locked_by", attr.S(token), "locked_until", ms(until))
}

// publish puts a page and gives the lock back.
func (r *pageRow) publish(actor, html string) *pageRow {
	return r.set(actor, "html", attr.S(html), "updated_at", ms(r.now), "locked_by", nil, "locked_until", nil)
}

// TestRowsInMilliseconds checks both sides of each boundary that whole seconds would hide.
func TestRowsInMilliseconds(t *testing.T) {
	const ms1 = time.Millisecond
	row := func() *pageRow { return &pageRow{} }
	taken := func() *pageRow { return row().lock("alice", "a1", 10*second+500*ms1) }
	for _, test := range []struct {
		name string
		row  *pageRow
		by   invariant.Invariant
		skew time.Duration
		want invariant.Verdict
		why  string
		show []int
	}{
		{"in turn", taken().publish("alice", "1").at(second).lock("bob", "b1", 20*second).publish("bob", "2"),
			invariant.Named("stale-writer"), 0, invariant.OK, "", nil},
		{"a publish in the last millisecond of the lease", taken().at(10*second+499*ms1).publish("alice", "1"),
			invariant.Named("expired-publish"), 0, invariant.OK, "", nil},
		{"a publish when the lease is over", taken().at(10*second+500*ms1).publish("alice", "1"),
			invariant.Named("expired-publish"), 0, invariant.Violated,
			"alice sent its publish at the end of its own lease", []int{1, 2}},
		{"within e", taken().at(10*second+500*ms1).publish("alice", "1"), invariant.Named("expired-publish"),
			ms1, invariant.OK, "", nil},
		{"a publish without the lock", row().publish("bob", "1"), invariant.Named("stale-writer"), 0,
			invariant.Violated, "bob published without having taken the lease", []int{1}},
		{"over the lock of another", taken().publish("bob", "1"), invariant.Named("stale-writer"), 0,
			invariant.Violated, "bob published without having taken the lease", []int{1, 2}},
		{"a takeover a millisecond early", taken().at(10*second+499*ms1).lock("bob", "b1", 20*second),
			invariant.Named("lock-theft"), 0, invariant.Violated,
			"bob replaced the lock of alice by one with another token 1ms before the end of the lease", []int{1, 2}},
		{"a takeover in time", taken().at(10*second+500*ms1).lock("bob", "b1", 20*second),
			invariant.Named("lock-theft"), 0, invariant.OK, "", nil},
		{"a lock removed with the row", taken().put(ddbfake.Change{Actor: "bob"}, nil), invariant.Named("lock-theft"),
			0, invariant.Violated, "bob removed the lock of alice", []int{1, 2}},
		{"a row that TTL deletes", taken().put(ddbfake.Change{Cause: ddbfake.CauseTTL}, nil),
			invariant.Named("lock-theft"), 0, invariant.OK, "", nil},
		{"a publish that keeps the lock", taken().set("alice", "html", attr.S("1"), "updated_at", ms(0)),
			invariant.Named("atomic-publish"), 0, invariant.Violated, "alice published and kept its lock", []int{1, 2}},
		{"a page three milliseconds older", taken().at(5*ms1).publish("alice", "1").lock("bob", "b1", 20*second).
			at(2*ms1).publish("bob", "2"), invariant.Named("monotonic-publication"), ms1,
			invariant.Violated,
			"bob published what was generated 3ms before what had been visible; at most 2ms is allowed",
			[]int{2, 3, 4}},
		{"a page two milliseconds older", taken().at(4*ms1).publish("alice", "1").lock("bob", "b1", 20*second).
			at(2*ms1).publish("bob", "2"), invariant.Named("monotonic-publication"), ms1, invariant.OK, "", nil},
		{"a ttl before the end of the lease", taken().set("alice", "expires", attr.Int(in(10*second))),
			invariant.Named("ttl-well-formed"), 0, invariant.Violated,
			"alice gave the lock an expires that comes 500ms before the end of its lease", []int{1, 2}},
		{"a ttl after it", taken().set("alice", "expires", attr.Int(in(11*second))), invariant.Named("ttl-well-formed"),
			0, invariant.OK, "", nil},
		{"a ttl before the page is stale", row().publish("alice", "1").set("alice", "expires", attr.Int(in(59*second))),
			invariant.Named("ttl-well-formed"), 0, invariant.Violated,
			"alice gave the page an expires that comes 1s before the end of its freshness", []int{1, 2}},
		{"a page that does not say when it was made", taken().set("alice", "html", attr.S("1"), "locked_by", nil),
			invariant.Named("monotonic-publication"), 0, invariant.Unknown, "publishes without updated_at (ms)", nil},
		{"rows that fit nothing", row().put(ddbfake.Change{Actor: "a"}, attr.Item{"id": attr.S("other")}),
			invariant.Named("stale-writer"), 0, invariant.Unknown, "", nil},
	} {
		if test.name == "rows that fit nothing" {
			for i := range test.row.changes {
				test.row.changes[i].Key = attr.Item{"id": attr.S("other")}
			}
			test.why = `pages {id: "other"}: id is not of the form page#{key}`
		}
		ev := invariant.Evidence{
			Record: invariant.Record{Changes: test.row.changes, Schema: shared, MaxClockSkew: test.skew},
		}
		ev.Recipe = true
		f := test.by.Check(ev)
		if f.Verdict != test.want || !strings.Contains(f.Why, test.why) {
			t.Errorf("%s: %v (%s), want %v (%s)", test.name, f.Verdict, f.Why, test.want, test.why)
		}
		if test.want == invariant.Violated {
			if diff := cmp.Diff(test.show, f.Changes); diff != "" {
				t.Errorf("%s shows (-want +got):\n%s", test.name, diff)
			}
		}
		found := invariant.Finding{Verdict: invariant.OK}
		invariant.Judge(ev, func(inv invariant.Invariant, f invariant.Finding) {
			if inv.Name == test.by.Name {
				found = f
			}
			if strings.Contains(inv.Statement, "LOCK") {
				t.Errorf("%s: the statement %s has names that the rows do not", test.name, inv.Statement)
			}
		})
		if !reflect.DeepEqual(f, found) {
			t.Errorf("%s: Judge finds %+v, Check finds %+v", test.name, found, f)
		}
	}
}

// In translated rows, the partition of a page follows from its key, whatever partition key the cache's rows have.
func TestSingleFlightOfOwnRows(t *testing.T) {
	row := (&pageRow{}).lock("alice", "a1", 10*second)
	events := []history.Event{
		{Seq: 1, Time: t0, Actor: "alice", Kind: history.Rendered, Key: "/", Body: "1", Change: 1, Partition: "page#/"},
		{Seq: 2, Time: t0, Actor: "bob", Kind: history.Rendered, Key: "/", Body: "2", Change: 1, Partition: "page#/"},
	}
	ev := invariant.Evidence{Record: invariant.Record{Changes: row.changes, History: events[:1], Schema: shared}}
	if f := invariant.Named("single-flight").Check(ev); f.Verdict != invariant.OK {
		t.Errorf("%v: %s", f.Verdict, f.Why)
	}
	ev.History = events
	if f := invariant.Named("single-flight").Check(ev); f.Verdict != invariant.Violated ||
		!strings.Contains(f.Why, "bob made / without having taken its lease") {
		t.Errorf("%v: %s", f.Verdict, f.Why)
	}
}

// A cache without a lock is judged by the page that each page replaces, not by leases.
func TestPagesWithoutLocks(t *testing.T) {
	unlocked := isr.Schema{Rows: []isr.Row{{Partition: "id = page#{key}", Body: "html", Generated: "updated_at ms",
		Window: "= 1m", TTL: "expires"}}}
	page := func(r *pageRow, actor string, at, expires time.Duration) *pageRow {
		return r.set(actor, "html", attr.S(actor), "updated_at", ms(at), "expires", attr.Int(in(expires)))
	}
	first := func() *pageRow { return page(&pageRow{}, "alice", 20*second, 100*second) }
	for name, test := range map[string]struct {
		row  *pageRow
		want invariant.Verdict
	}{
		"one page":     {first(), invariant.OK},
		"a newer one":  {page(first(), "bob", 30*second, 100*second), invariant.OK},
		"an older one": {page(first(), "bob", 10*second, 100*second), invariant.Violated},
		"in place of one whose ttl is over": {
			page(page(&pageRow{}, "alice", 20*second, 0), "bob", 10*second, 100*second), invariant.OK,
		},
		"after one that is gone": {page(first().put(ddbfake.Change{Actor: "carol"}, nil), "bob", 10*second, 100*second),
			invariant.OK},
	} {
		ev := invariant.Evidence{Record: invariant.Record{Changes: test.row.changes, Schema: unlocked}}
		if f := invariant.Named("monotonic-publication").Check(ev); f.Verdict != test.want {
			t.Errorf("%s: %v: %s", name, f.Verdict, f.Why)
		}
		if f := invariant.Named("stale-writer").Check(ev); f.Verdict != invariant.Violated {
			t.Errorf("%s: stale-writer: %v: %s", name, f.Verdict, f.Why)
		}
	}
}

func TestAWrongSchemaIsUnknown(t *testing.T) {
	ev := invariant.Evidence{Record: invariant.Record{
		Changes: (&pageRow{}).publish("bob", "1").changes, Schema: isr.Schema{Rows: []isr.Row{{}}},
	}}
	if f := invariant.Named("stale-writer").Check(ev); f.Verdict != invariant.Unknown ||
		!strings.Contains(f.Why, "no partition") {
		t.Errorf("%v: %s", f.Verdict, f.Why)
	}
}
