package invariant_test

import (
	"strconv"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
)

// TestRowsFarAway checks the messages about rows whose numbers are milliseconds or missing. These times are too far
// away for a time.Duration.
func TestRowsFarAway(t *testing.T) {
	expires := in(30*second) * 1000
	away := func(a, b int64) string { return " " + strconv.FormatInt(a-b, 10) + "s " }
	inMilliseconds := attr.Item{"lease_token": attr.S("a1"), "lease_expires_at": attr.Int(expires)}
	made := func(at int64) attr.Item { return attr.Item{"generated_at": attr.Int(at)} }
	published := func(first, second int64) *changeLog {
		l := newLog().lock("alice", "a1", 50e9)
		l.together(func() { l.page("alice", "1", made(first)).unlock("alice") }).lock("bob", "b1", 50e9)
		return l.together(func() { l.page("bob", "2", made(second)).unlock("bob") })
	}
	for _, test := range []struct {
		judged
		by invariant.Invariant
	}{
		{judged{name: "a lock stolen from a lease in milliseconds",
			log: newLog().write("alice", "LOCK", inMilliseconds).at(60*second).lock("bob", "b1", 90*second),
			why: []string{"bob replaced the lock of alice by one with another token" + away(expires, in(60*second)) +
				"before the end of the lease"}, show: []int{1, 2}},
			invariant.Named("lock-theft")},
		{judged{name: "a ttl in seconds of a lease in milliseconds",
			log:  newLog().write("alice", "LOCK", lockUntil(expires, in(90*second))),
			why:  []string{"a ttl that comes" + away(expires, in(90*second)) + "before the end of its lease"},
			show: []int{1}},
			invariant.Named("ttl-well-formed")},
		{judged{name: "a lease that ended at the beginning of the epoch",
			log: newLog().write("alice", "LOCK",
				attr.Item{"lease_token": attr.S("a1"), "lease_expires_at": attr.Int(0)}).page("alice", "1", nil),
			why:  []string{"alice sent its publish" + away(in(0), 0) + "after the end of its own lease"},
			show: []int{1, 2}},
			invariant.Named("expired-publish")},
		{judged{name: "generated in seconds after milliseconds", log: published(expires, in(30*second)),
			why:  []string{"bob published what was generated" + away(expires, in(30*second)) + "before"},
			show: []int{2, 4, 5}},
			invariant.Named("monotonic-publication")},
		// In a time.Duration, which overflows, this distance would have the other sign.
		{judged{name: "generated so long before that it comes round", log: published(in(0)+10_000_000_000, in(0)),
			why: []string{"bob published what was generated 10000000000s before"}, show: []int{2, 4, 5}},
			invariant.Named("monotonic-publication")},
	} {
		test.want = invariant.Violated
		test.check(t, test.by)
	}
}
