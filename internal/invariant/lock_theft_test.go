package invariant_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
)

func TestLockTheftPasses(t *testing.T) {
	// Alice's lease lasts until 30 s unless a case says otherwise.
	for _, test := range []judged{
		{name: "acquire, publish, acquire by another",
			log: newLog().lock("alice", "a1", 30*second).publish("alice", "new").lock("bob", "b1", 30*second)},
		{name: "a takeover at the very second at which the lease is over",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).lock("bob", "b1", 60*second)},
		{name: "by a clock that is as far ahead as it may be", skew: 2 * second,
			log: newLog().lock("alice", "a1", 30*second).at(28*second).lock("bob", "b1", 60*second)},
		{name: "sent too early, and arrived when the lease was over: that harms nobody",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).sentAt(0).lock("bob", "b1", 60*second)},
		{name: "a removal at that very second, by anybody",
			log: newLog().lock("alice", "a1", 30*second).at(30 * second).unlock("bob")},
		{name: "a takeover with the same token, once the lease is over",
			log: newLog().lock("alice", "1", 30*second).at(30*second).lock("bob", "1", 60*second)},
		{name: "the holder refreshes",
			log: newLog().lock("alice", "a1", 30*second).at(20*second).lock("alice", "a1", 50*second)},
		{name: "the holder shortens",
			log: newLog().lock("alice", "a1", 30*second).at(10*second).lock("alice", "a1", 11*second)},
		{name: "the holder's put arrives twice",
			log: newLog().lock("alice", "a1", 30*second).lock("alice", "a1", 30*second)},
		{name: "the holder releases", log: newLog().lock("alice", "a1", 30*second).at(10 * second).unlock("alice")},
		{name: "the holder releases what was taken over by nobody, late",
			log: newLog().lock("alice", "a1", 30*second).at(time.Hour).unlock("alice")},
		{name: "TTL deletes a lock", log: newLog().lock("alice", "a1", 30*second).at(4000 * second).sweep("LOCK")},
		{name: "TTL deletes a live lock: that is no write",
			log: newLog().lock("alice", "a1", 30*second).at(10*second).sweep("LOCK").lock("bob", "b1", 40*second)},
		{name: "TTL deletes a malformed lock",
			log: newLog().write("alice", "LOCK", attr.Item{}).sweep("LOCK").lock("bob", "b1", 30*second)},
		{name: "each has the lock of a key of its own",
			log: newLog().lock("alice", "1", 30*second).on("cache", "CACHE#2").lock("bob", "1", 30*second).
				unlock("bob").
				on("other", "CACHE#1").lock("carol", "1", 30*second).unlock("carol").on("cache", "CACHE#1").
				unlock("alice")},
		{name: "a release by an update, and the next one's lock",
			log: newLog().lock("alice", "a1", 30*second).at(10*second).write("alice", "LOCK", attr.Item{}).
				lock("bob", "b1", 60*second).publish("bob", "x")},
		{name: "locks without an end, each given back",
			log: newLog().write("alice", "LOCK", endless("a1")).publish("alice", "x").at(time.Hour).
				write("bob", "LOCK", endless("b1")).unlock("bob")},
		{name: "a lock without an end, deleted by TTL",
			log: newLog().write("alice", "LOCK", endless("a1")).at(time.Hour).sweep("LOCK").write("bob",
				"LOCK", endless("b1"))},
		{name: "a lock that does not say its end, given back by its holder",
			log: newLog().write("alice", "LOCK", attr.Item{"lease_token": attr.S("a1")}).unlock("alice").
				lock("bob", "b1", 30*second)},
		{name: "META is no lock",
			log: newLog().lock("alice", "a1", 30*second).meta("bob", "new").write("carol", "META", nil)},
	} {
		test.want = invariant.OK
		test.check(t, invariant.Named("lock-theft"))
	}
}

func TestLockTheftCatches(t *testing.T) {
	for _, test := range []judged{
		{name: "a lock put over a live one",
			log: newLog().lock("alice", "a1", 30*second).at(20*second).lock("bob", "b1", 50*second),
			why: []string{"bob replaced the lock of alice", "10s before"}, show: []int{1, 2}},
		{name: "a nanosecond early",
			log: newLog().lock("alice", "a1", 30*second).at(30*second-nano).lock("bob", "b1", 60*second),
			why: []string{"bob replaced the lock of alice", "1ns before"}, show: []int{1, 2}},
		{name: "a nanosecond beyond what skew excuses", skew: 2 * second,
			log: newLog().lock("alice", "a1", 30*second).at(28*second-nano).lock("bob", "b1", 60*second),
			why: []string{"bob replaced the lock of alice", "2.000000001s before"}, show: []int{1, 2}},
		{name: "sent when the lease of the one before was over, and arrived in that of the next",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).lock("bob", "b1", 60*second).
				at(31*second).sentAt(30*second).lock("carol", "c1", 60*second),
			why: []string{"carol replaced the lock of bob", "29s before"}, show: []int{1, 2, 3}},
		{name: "a release of what is another's by now",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).lock("bob", "b1", 60*second).at(35 * second).
				unlock("alice"),
			why: []string{"alice removed the lock of bob", "25s before"}, show: []int{1, 2, 3}},
		{name: "a release within a publish",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).lock("bob", "b1", 60*second).
				publish("alice", "new"),
			why: []string{"alice removed the lock of bob", "30s before"}, show: []int{1, 2, 3, 4}},
		{name: "a heartbeat that asks for no token",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).lock("bob", "b1", 60*second).at(31*second).
				lock("alice", "b1", 61*second),
			why: []string{"alice changed the lock of bob", "29s before"}, show: []int{1, 2, 3}},
		{name: "a token that two share is the one's who came first",
			log: newLog().lock("alice", "host", 30*second).at(10*second).lock("alice.2", "host", 40*second),
			why: []string{"alice.2 changed the lock of alice", "20s before"}, show: []int{1, 2}},
		{name: "a holder that acquires what it holds",
			log: newLog().lock("alice", "a1", 30*second).at(10*second).lock("alice", "a2", 40*second),
			why: []string{"alice replaced the lock of alice", "20s before"}, show: []int{1, 2}},
		{name: "a holder whose lock is taken for another's, and over",
			log: newLog().lock("alice", "a1", 30*second).at(10*second).lock("alice", "a2", 5*second),
			why: []string{"alice replaced the lock of alice", "20s before"}, show: []int{1, 2}},
		{name: "a holder that leaves an end without a token",
			log: newLog().lock("alice", "a1", 30*second).at(10*second).write("alice", "LOCK", until(40*second)),
			why: []string{"alice replaced the lock of alice", "20s before"}, show: []int{1, 2}},
		{name: "a live lock without its token",
			log: newLog().lock("alice", "a1", 30*second).at(10*second).write("bob", "LOCK",
				attr.Item{"note": attr.S("mine")}),
			why: []string{"bob replaced the lock of alice"}, show: []int{1, 2}},
		{name: "a theft after a refresh, within the extension",
			log: newLog().lock("alice", "a1", 30*second).lock("alice", "a1", 50*second).at(30*second).
				lock("bob", "b1", 60*second),
			why: []string{"bob replaced the lock of alice", "20s before"}, show: []int{1, 2, 3}},
		{name: "beside a lock of which nothing is known",
			log: newLog().write("x", "LOCK", attr.Item{}).unlock("x").on("cache", "CACHE#2").
				lock("alice", "a1", 30*second).unlock("bob"),
			why: []string{"bob removed the lock of alice"}, show: []int{3, 4}},
		{name: "a heartbeat without a condition, after the lock was given back",
			log: newLog().lock("alice", "a1", 30*second).publish("alice", "x").at(10*second).write("alice",
				"LOCK", until(40*second)),
			why: []string{"alice extended a lease that was gone"}, show: []int{1, 2, 3, 4}},
		{name: "and after TTL has deleted it",
			log: newLog().lock("alice", "a1", 30*second).at(time.Hour).sweep("LOCK").write("alice",
				"LOCK", until(2*time.Hour)),
			why: []string{"alice extended a lease that was gone"}, show: []int{1, 2, 3}},
		{name: "and after another has given it back by an update",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).lock("bob", "b1", 60*second).
				write("bob", "LOCK", until(0)).
				at(40*second).write("alice", "LOCK", until(70*second)),
			why: []string{"alice extended a lease that was gone"}, show: []int{1, 2, 3, 4}},
		{name: "a lock without an end that another replaces",
			log: newLog().write("alice", "LOCK", endless("a1")).at(time.Hour).write("bob", "LOCK", endless("b1")),
			why: []string{"bob replaced the lock of alice", "which had not given it back"}, show: []int{1, 2}},
		{name: "a lock without an end that another deletes",
			log: newLog().write("alice", "LOCK", endless("a1")).at(time.Hour).unlock("bob"),
			why: []string{"bob removed the lock of alice", "which had not given it back"}, show: []int{1, 2}},
		{name: "of a long story the beginning and the end",
			log: func() *changeLog {
				l := newLog().lock("alice", "a1", 30*second)
				for i := range 20 {
					l.on("cache", "CACHE#2").meta("carol", string(rune('a'+i))) // of another key
					l.on("cache", "CACHE#1").lock("alice", "a1", time.Duration(31+i)*second)
				}
				return l.at(10 * second).unlock("bob")
			}(),
			why: []string{"bob removed the lock of alice", "40s before"}, show: []int{1, 31, 33, 35, 37, 39, 41, 42}},
	} {
		test.want = invariant.Violated
		test.check(t, invariant.Named("lock-theft"))
	}
}

// until is the LOCK row that remains if an update sets only its end.
func until(d time.Duration) attr.Item { return attr.Item{"lease_expires_at": attr.Int(in(d))} }

// endless is a LOCK row without an end.
func endless(token string) attr.Item {
	return attr.Item{"lease_token": attr.S(token), "lease_expires_at": attr.NULL{}}
}

func TestLockTheftDoesNotGuess(t *testing.T) {
	late := newLog().lock("alice", "a1", 30*second).unlock("bob")
	late.changes = late.changes[1:]
	for _, test := range []judged{
		{name: "a lock without a token", why: []string{"change 2", "lease_token"},
			log: newLog().write("alice", "LOCK", attr.Item{"lease_expires_at": attr.Int(in(30 * second))}).unlock(
				"bob",
			)},
		{name: "a lock without an expiry", why: []string{"change 2", "lease_expires_at"},
			log: newLog().write("alice", "LOCK", attr.Item{"lease_token": attr.S("a1")}).lock("bob", "b1", 30*second)},
		{name: "an expiry that is not a whole second", why: []string{"change 2"},
			log: newLog().write("alice", "LOCK", attr.Item{"lease_token": attr.S("a1"), "lease_expires_at": fraction}).
				unlock("bob")},
		{name: "a lock from before the log began", why: []string{"change 2", "began"}, log: late},
		{name: "an end without a token, after a lock that had one", why: []string{"change 4"},
			log: newLog().lock("alice", "a1", 30*second).unlock("alice").write("bob", "LOCK", until(60*second)).
				lock("carol", "c1", 30*second)},
		{name: "and extended by whoever had that one", why: []string{"change 4"},
			log: newLog().lock("alice", "a1", 30*second).unlock("alice").write("bob", "LOCK", until(60*second)).
				write("alice", "LOCK", until(70*second))},
		{name: "the first of two", why: []string{"change 2"},
			log: newLog().write("alice", "LOCK", attr.Item{}).write("alice", "LOCK", attr.Item{"n": attr.Int(1)}).
				unlock("bob")},
	} {
		test.want = invariant.Unknown
		test.check(t, invariant.Named("lock-theft"))
	}
}
