package invariant_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
)

const (
	second = time.Second
	nano   = time.Nanosecond
)

func TestStaleWriterPasses(t *testing.T) {
	// Alice's lease lasts until 30 s, unless a test says otherwise.
	for _, test := range []judged{
		{name: "a publish that puts META and then deletes LOCK",
			log: newLog().lock("alice", "a1", 30*second).at(10*second).publish("alice", "new")},
		{name: "one that deletes LOCK and then puts META",
			log: func() *changeLog {
				l := newLog().lock("alice", "a1", 30*second).at(10 * second)
				return l.together(func() { l.unlock("alice").meta("alice", "new") })
			}()},
		{name: "one that leaves the release for later",
			log: newLog().lock("alice", "a1", 30*second).at(10*second).meta("alice", "new").unlock("alice")},
		{name: "two generations",
			log: newLog().lock("alice", "a1", 30*second).publish("alice", "one").
				at(90*second).lock("bob", "b1", 120*second).at(100*second).publish("bob", "two")},
		{name: "a takeover at the very end of a lease",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).lock("bob", "b1", 60*second).
				publish("bob", "new")},
		{name: "a takeover with the same token, and a publish of the new holder",
			log: newLog().lock("alice", "1", 30*second).at(30*second).lock("bob", "1", 60*second).
				publish("bob", "new")},
		{name: "a lease refreshed, and published in its extension",
			log: newLog().lock("alice", "a1", 30*second).at(20*second).lock("alice", "a1", 50*second).at(40*second).
				publish("alice", "new")},
		{name: "a lock that TTL deleted, and a new one",
			log: newLog().lock("alice", "a1", 30*second).at(4000*second).sweep("LOCK").lock("bob", "b1", 4030*second).
				publish("bob", "new")},
		{name: "a token used again after its release",
			log: newLog().lock("alice", "1", 30*second).publish("alice", "one").lock("bob", "1", 30*second).
				publish("bob", "two")},
		{name: "equal tokens under two keys",
			log: newLog().lock("alice", "1", 30*second).on("cache", "CACHE#2").lock("bob", "1", 30*second).
				publish("bob", "two").
				on("cache", "CACHE#1").publish("alice", "one")},
		{name: "equal keys in two tables",
			log: newLog().lock("alice", "a1", 30*second).on("other", "CACHE#1").lock("bob", "b1", 30*second).
				publish("bob", "two").
				on("cache", "CACHE#1").publish("alice", "one")},

		{name: "META deleted by hand",
			log: newLog().lock("alice", "a1", 30*second).publish("alice", "new").write("bob", "META", nil)},
		{name: "META deleted by TTL",
			log: newLog().lock("alice", "a1", 30*second).publish("alice", "new").at(9000 * second).sweep("META")},
		{name: "a ttl set by hand shows no other generation",
			log: func() *changeLog {
				l := newLog().lock("alice", "a1", 30*second).publish("alice", "new")
				touched := maps.Clone(l.rows[place{"", "cache", "CACHE#1", "META"}])
				touched["ttl"] = attr.Int(in(90 * second))
				return l.write("bob", "META", touched)
			}()},
		{name: "rows that are neither META nor LOCK",
			log: newLog().write("bob", "VER#1", attr.Item{"s3_key": attr.S("x")})},
		{name: "rows without string keys",
			log: func() *changeLog {
				l := newLog().write("bob", "META", attr.Item{"n": attr.Int(1)})
				l.changes[0].Key = attr.Item{"id": attr.Int(7)}
				return l
			}()},
		{name: "a malformed lock under which nobody publishes",
			log: newLog().write("bob", "LOCK", attr.Item{"owner": attr.S("bob")}).unlock("bob").
				lock("alice", "a1", 30*second).publish("alice", "new")},
		{name: "a malformed lock that was repaired",
			log: newLog().write("alice", "LOCK", attr.Item{}).lock("alice", "a1", 30*second).publish("alice", "new")},
	} {
		test.want = invariant.OK
		test.check(t, invariant.Named("stale-writer"))
	}
}

func TestStaleWriterCatches(t *testing.T) {
	for _, test := range []judged{
		{name: "a publish without any lease", log: newLog().meta("alice", "new"),
			why: []string{"alice", "without having taken the lease"}, show: []int{1}},
		{name: "a publish in one request with its acquire",
			log: func() *changeLog {
				l := newLog()
				return l.together(func() { l.lock("alice", "a1", 30*second).meta("alice", "new") })
			}(),
			why: []string{"alice", "without having taken the lease"}, show: []int{1, 2}},
		{name: "a paused writer, after the takeover",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).lock("bob", "b1", 60*second).at(31*second).
				meta("alice", "new"),
			why: []string{"alice published, although bob had taken the lease"}, show: []int{1, 2, 3}},
		{name: "a paused writer, after a takeover with the same token",
			log: newLog().lock("alice", "1", 30*second).at(30*second).lock("bob", "1", 60*second).meta("alice", "old"),
			why: []string{"alice published, although bob had taken the lease"}, show: []int{1, 2, 3}},
		{name: "a writer paused on the wire: sent before the takeover, arrived after it",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).lock("bob", "b1", 60*second).
				at(31*second).sentAt(10*second).meta("alice", "new"),
			why: []string{"alice published, although bob had taken the lease"}, show: []int{1, 2, 3}},
		{name: "a paused writer of older data, after its successor published",
			log: overtaken(attr.Int(in(29 * second))),
			why: []string{"alice published over a newer page, although bob had taken"}, show: []int{1, 2, 3, 4, 5}},
		{name: "a paused writer who read the origin last",
			log: overtaken(attr.Int(in(31 * second))),
			why: []string{"alice published, although bob had taken"}, show: []int{1, 2, 3, 4, 5}},
		{name: "a paused writer of data from the same second", log: overtaken(attr.Int(in(30 * second))),
			why: []string{"alice published, although bob had taken"}, show: []int{1, 2, 3, 4, 5}},
		{name: "a paused writer of data that clocks do not tell from newer data", skew: second,
			log: overtaken(attr.Int(in(28 * second))),
			why: []string{"alice published, although bob had taken"}, show: []int{1, 2, 3, 4, 5}},
		{name: "a paused writer whose page does not say when its data was read",
			log: overtaken(attr.S("at noon")),
			why: []string{"alice published over a newer page, although bob had taken"}, show: []int{1, 2, 3, 4, 5}},
		{name: "a past self's publish, after its restart took over",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).lock("alice.2", "a2", 60*second).
				meta("alice", "new"),
			why: []string{"alice published, although alice.2 had taken the lease"}, show: []int{1, 2, 3}},
		{name: "a token used again, and the past holder's publish",
			log: newLog().lock("alice", "1", 30*second).at(4000*second).sweep("LOCK").lock("bob", "1", 4030*second).
				publish("alice", "new"),
			why: []string{"alice published, although bob had taken the lease"}, show: []int{1, 2, 3, 4}},
		{name: "a lock refreshed by somebody else stays its holder's",
			log: newLog().lock("alice", "a1", 30*second).lock("bob", "a1", 60*second).meta("bob", "new"),
			why: []string{"bob published without having taken the lease"}, show: []int{2, 3}},
		{name: "skew excuses no foreign token", skew: time.Hour,
			log: newLog().lock("alice", "a1", 30*second).at(30*second).lock("bob", "b1", 60*second).
				meta("alice", "new"),
			why: []string{"alice", "bob"}, show: []int{1, 2, 3}},
		{name: "the lease of another key",
			log: newLog().lock("alice", "a1", 30*second).on("cache", "CACHE#2").meta("alice", "new"),
			why: []string{"alice published without having taken the lease"}, show: []int{2}},
		{name: "the lease of another table",
			log: newLog().lock("alice", "a1", 30*second).on("other", "CACHE#1").meta("alice", "new"),
			why: []string{"alice published without having taken the lease"}, show: []int{2}},
		{name: "another etag is another generation",
			log: newLog().lock("alice", "a1", 30*second).publish("alice", "one").
				write("bob", "META",
					attr.Item{"s3_key": attr.S("one"), "generated_at": attr.Int(in(0)), "etag": attr.S("x")}),
			why: []string{"bob", "without having taken the lease"}, show: []int{1, 2, 3, 4}},
		{name: "and so is another current_sk",
			log: newLog().lock("alice", "a1", 30*second).
				write("alice", "META", attr.Item{"current_sk": attr.S("VER#1")}).unlock("alice").
				write("bob", "META", attr.Item{"current_sk": attr.S("VER#2")}),
			why: []string{"bob", "without having taken the lease"}, show: []int{1, 2, 3, 4}},
		{name: "the first of two",
			log: newLog().meta("alice", "one").meta("bob", "two"), why: []string{"alice"}, show: []int{1}},
		{name: "beside a lock of which nothing is known",
			log: newLog().write("x", "LOCK", attr.Item{}).meta("x", "one").on("cache", "CACHE#2").meta("alice", "new"),
			why: []string{"alice", "without having taken the lease"}, show: []int{3}},
	} {
		test.want = invariant.Violated
		test.check(t, invariant.Named("stale-writer"))
	}
}

// overtaken is the log of a publish by alice after bob has published what he read at 30 s.
func overtaken(generated attr.Value) *changeLog {
	return newLog().lock("alice", "a1", 30*second).at(30*second).lock("bob", "b1", 60*second).publish("bob", "newer").
		at(31*second).page("alice", "new", attr.Item{"generated_at": generated})
}

// A publish after the end of one's own lease is no stale write, and breaks a rule of the recipe.
func TestExpiredPublish(t *testing.T) {
	stale, expired := invariant.Named("stale-writer"), invariant.Named("expired-publish")
	for _, test := range []judged{
		{name: "a publish after the release",
			log: newLog().lock("alice", "a1", 30*second).unlock("alice").meta("alice", "new"),
			why: []string{"alice", "LOCK row was gone"}, show: []int{1, 2, 3}},
		{name: "a publish after TTL deleted the lock",
			log: newLog().lock("alice", "a1", 30*second).at(4000*second).sweep("LOCK").meta("alice", "new"),
			why: []string{"alice", "LOCK row was gone"}, show: []int{1, 2, 3}},
		{name: "a lease over at the very second of sending",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).publish("alice", "new"),
			why: []string{"alice", "at the end of its own lease"}, show: []int{1, 2}},
		{name: "just beyond what skew excuses", skew: 2 * second,
			log: newLog().lock("alice", "a1", 30*second).at(32*second).publish("alice", "new"),
			why: []string{"alice", "2s after the end of its own lease"}, show: []int{1, 2}},
		{name: "a lock that TTL deleted before its time excuses nobody",
			log: newLog().lock("alice", "a1", 30*second).at(10*second).sweep("LOCK").meta("alice", "new"),
			why: []string{"LOCK row was gone"}, show: []int{1, 2, 3}},
	} {
		test.want = invariant.Violated
		test.check(t, expired)
		if f := expired.Check(invariant.Evidence{Record: invariant.Record{Changes: test.log.changes}}); f.Harm() != 0 ||
			!strings.Contains(f.Why, "nobody is harmed") {
			t.Errorf("%s: harm %d (%s), want 0", test.name, f.Harm(), f.Why)
		}
		test.want, test.why, test.show = invariant.OK, nil, nil
		test.check(t, stale)
	}
	for _, test := range []judged{
		{name: "sent in the last nanosecond of the lease",
			log: newLog().lock("alice", "a1", 30*second).at(30*second-nano).publish("alice", "new")},
		{name: "sent in time, and long on its way, with nobody taking over",
			log: newLog().lock("alice", "a1", 30*second).at(300*second).sentAt(30*second-nano).publish("alice", "new")},
		{name: "sent in the last nanosecond that skew excuses", skew: 2 * second,
			log: newLog().lock("alice", "a1", 30*second).at(32*second-nano).publish("alice", "new")},

		{name: "in two regions, each under its own lease",
			log: newLog().to("a").lock("alice", "a1", 30*second).to("b").lock("bob", "b1", 30*second).
				to("a").publish("alice", "1").to("b").publish("bob", "2")},
		{name: "a stale write is none of its matters", log: newLog().meta("alice", "new")},
	} {
		test.want = invariant.OK
		test.check(t, expired)
	}
}

func TestPublishesUnderUnreadableLocks(t *testing.T) {
	until := attr.Int(in(30 * second))
	for _, test := range []struct {
		name           string
		row            attr.Item
		stale, expired invariant.Verdict
	}{
		{"no token", attr.Item{"lease_expires_at": until}, invariant.Unknown, invariant.Unknown},
		{"an empty token", attr.Item{"lease_expires_at": until, "lease_token": attr.S("")},
			invariant.Unknown, invariant.Unknown},
		{"a number for a token", attr.Item{"lease_expires_at": until, "lease_token": attr.Int(1)},
			invariant.Unknown, invariant.Unknown},
		{"no expiry", attr.Item{"lease_token": attr.S("a1")}, invariant.OK, invariant.Unknown},
		{"a text for an expiry", attr.Item{"lease_token": attr.S("a1"), "lease_expires_at": attr.S("30")},
			invariant.OK, invariant.Unknown},
		{"a fraction for an expiry", attr.Item{"lease_token": attr.S("a1"), "lease_expires_at": fraction},
			invariant.OK, invariant.Unknown},
	} {
		for name, log := range map[string]*changeLog{
			"":                         newLog().write("alice", "LOCK", test.row).meta("alice", "new"),
			", published and released": newLog().write("alice", "LOCK", test.row).publish("alice", "new"),
		} {
			one := judged{name: test.name + name, log: log, want: test.stale}
			if one.want == invariant.Unknown {
				one.why = []string{"change 1", "change 2", "lease_token"}
			}
			one.check(t, invariant.Named("stale-writer"))
			one.want, one.why = test.expired, []string{"change 1", "change 2", "lease_token", "lease_expires_at"}
			one.check(t, invariant.Named("expired-publish"))
		}
	}
	// Whoever left an unreadable lock may have taken the lease, even if the row is gone by now.
	judged{name: "an unreadable lock that is gone", want: invariant.Unknown, why: []string{"change 2", "change 4"},
		log: newLog().lock("alice", "a1", 30*second).write("bob", "LOCK", attr.Item{"lease_expires_at": until}).
			unlock("bob").meta("alice", "new")}.check(t, invariant.Named("stale-writer"))
}

// fraction is a number of seconds that is not whole.
var fraction = func() attr.N {
	v, err := attr.ParseNumber("2000000030.5")
	if err != nil {
		panic(err)
	}
	return attr.N{Number: v}
}()
