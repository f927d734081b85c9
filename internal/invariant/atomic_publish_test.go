package invariant_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
)

// released is a transaction that publishes and leaves a LOCK row.
func released(lock attr.Item) *changeLog {
	l := newLog().lock("alice", "a1", 30*second).at(10 * second)
	return l.together(func() { l.meta("alice", "1").write("alice", "LOCK", lock) })
}

func TestAtomicPublishPasses(t *testing.T) {
	for _, test := range []judged{
		{name: "recipe A", log: newLog().lock("alice", "a1", 30*second).publish("alice", "1")},
		{name: "recipe B", log: newLog().lock("alice", "a1", 30*second).swap("alice", "1")},
		{name: "a rollback",
			log: newLog().lock("alice", "a1", 30*second).swap("alice", "1").lock("bob", "b1", 30*second).
				swap("bob", "2").
				lock("carol", "c1", 30*second).rollback("carol", "1", 0)},
		{name: "a lock left without a token", log: released(attr.Item{"lease_expires_at": attr.Int(in(30 * second))})},
		{name: "a lock left that is over now",
			log: released(attr.Item{"lease_token": attr.S("a1"), "lease_expires_at": attr.Int(in(10 * second))})},
		{name: "a lease that was over anyway",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).meta("alice", "1")},
		{name: "without any lease: that is a stale writer's", log: newLog().meta("alice", "1")},
		{name: "under another's: so is that", log: newLog().lock("bob", "b1", 30*second).meta("alice", "1")},
		{name: "an invalidation by the holder",
			log: newLog().lock("alice", "a1", 30*second).publish("alice", "1").lock("alice", "a2", 30*second).
				page("alice", "1", attr.Item{"revalidate_seconds": attr.Int(0)})},
	} {
		test.want = invariant.OK
		test.check(t, invariant.Named("atomic-publish"))
	}
}

func TestAtomicPublishCatches(t *testing.T) {
	for _, test := range []judged{
		{name: "a release after the publish",
			log: newLog().lock("alice", "a1", 30*second).at(10*second).meta("alice", "1").unlock("alice"),
			why: []string{"alice published and kept its lock"}, show: []int{1, 2}},
		{name: "no release at all",
			log: newLog().lock("alice", "a1", 30*second).version("alice", "1").point("alice", "1", 0),
			why: []string{"alice"}, show: []int{1, 2, 3}},
		{name: "a lock left with a nanosecond of its lease",
			log: func() *changeLog {
				l := newLog().lock("alice", "a1", 30*second).at(30*second - nano)
				return l.meta("alice", "1")
			}(),
			why: []string{"alice"}, show: []int{1, 2}},
		{name: "a lock extended instead of released",
			log: released(attr.Item{"lease_token": attr.S("a1"), "lease_expires_at": attr.Int(in(40 * second))}),
			why: []string{"alice"}, show: []int{1, 2}},
	} {
		test.want = invariant.Violated
		test.check(t, invariant.Named("atomic-publish"))
	}
}

func TestAtomicPublishDoesNotGuess(t *testing.T) {
	for name, lock := range map[string]attr.Item{
		"a lock without a token": {}, "a lock without an end": {"lease_token": attr.S("a1")},
	} {
		judged{name: name, want: invariant.Unknown, why: []string{"change 1", "change 2"},
			log: newLog().write("alice", "LOCK", lock).meta("alice", "1")}.check(t, invariant.Named("atomic-publish"))
	}
}
