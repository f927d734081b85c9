package invariant_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func TestSingleFlight(t *testing.T) {
	// Leases are of 30 s, pages fresh for 60 s.
	stolen := func(at time.Duration) *run { // bob takes alice's lock, which is until 30 s
		return newRun().take("alice").renders("alice", "1").wait(at).take("bob").renders("bob", "2")
	}
	shown := func() *run { return newRun().take("alice").renders("alice", "1").shows("alice", "1") } // fresh until 60 s
	for _, test := range []struct {
		name            string
		skew            time.Duration
		run             *run
		want            invariant.Verdict
		changes, events []int
	}{
		{name: "one after the other", run: shown().wait(60*second).take("bob").renders("bob", "2").shows("bob", "2")},
		{name: "the lease is over when it is taken", run: stolen(30 * second)},
		{name: "by a clock that is as far ahead as it may be", skew: 2 * second, run: stolen(28 * second)},
		{name: "a nanosecond before", skew: 2 * second, run: stolen(28*second - nano), want: invariant.Violated, changes: []int{1, 2}, events: []int{1, 2}},
		{name: "a lease that was refreshed", want: invariant.Violated, changes: []int{1, 2, 3}, events: []int{1, 2},
			run: newRun().take("alice").renders("alice", "1").do(func(l *changeLog) { l.lock("alice", "alice", 60*second) }).
				wait(30*second).take("bob").renders("bob", "2")},
		{name: "TTL deletes the lock under way", want: invariant.Violated, changes: []int{1, 2, 3}, events: []int{1, 2},
			run: newRun().take("alice").renders("alice", "1").do(func(l *changeLog) { l.sweep("LOCK") }).take("bob").renders("bob", "2")},
		{name: "the first to take the lease renders last", want: invariant.Violated, changes: []int{1, 2}, events: []int{1, 2},
			run: newRun().take("alice").take("bob").renders("bob", "2").renders("alice", "1")},
		{name: "who takes the lease and looks first makes nothing", run: newRun().take("alice").take("bob").renders("bob", "2")},
		{name: "given back, and taken by the next", run: newRun().take("alice").renders("alice", "1").give("alice").take("bob").renders("bob", "2")},
		{name: "the first has crashed", run: newRun().take("alice").renders("alice", "1").happens("alice", history.Crashed).take("bob").renders("bob", "2")},
		{name: "a reading of the origin on its way when its sender crashed", run: newRun().take("alice").happens("alice", history.Crashed).renders("alice", "1")},

		{name: "taken when the page was fresh", run: shown().wait(10*second).take("bob").renders("bob", "2"), want: invariant.Violated, changes: []int{1, 2, 3, 4}, events: []int{2}},
		{name: "fresh for e more", skew: 2 * second, run: shown().wait(58*second).take("bob").renders("bob", "2")},
		{name: "fresh for a nanosecond more", skew: 2 * second, run: shown().wait(58*second-nano).take("bob").renders("bob", "2"),
			want: invariant.Violated, changes: []int{1, 2, 3, 4}, events: []int{2}},
		{name: "fresh when it was taken, and not any more", run: shown().wait(59*second).take("bob").wait(60*second).renders("bob", "2")},
		{name: "published by another since", run: newRun().take("bob").wait(30*second).take("alice").renders("alice", "1").shows("alice", "1").renders("bob", "2")},
		{name: "invalidated", run: shown().do(func(l *changeLog) { l.page("carol", "1", attr.Item{"revalidate_seconds": attr.Int(0)}) }).take("bob").renders("bob", "2")},
		{name: "invalidated since it was taken", run: shown().take("bob").do(func(l *changeLog) { l.page("carol", "1", attr.Item{"revalidate_seconds": attr.Int(0)}) }).renders("bob", "2")},
		{name: "deleted by TTL since", run: shown().take("bob").do(func(l *changeLog) { l.sweep("META") }).renders("bob", "2")},
		{name: "past its ttl", run: newRun().do(func(l *changeLog) { l.page("carol", "1", attr.Item{"ttl": attr.Int(in(5 * second))}) }).
			wait(5*second).take("bob").renders("bob", "2")},
		{name: "asked for by name", run: shown().take("bob").with("r1", "h").renders("bob", "2")},
		{name: "a pointer to a version that is gone",
			run: newRun().do(func(l *changeLog) { l.point("carol", "1", 0) }).take("bob").renders("bob", "2")},

		{name: "without the lease", run: shown().wait(60*second).renders("bob", "2"), want: invariant.Violated, events: []int{2}},
		{name: "given back before", run: newRun().take("alice").give("alice").renders("alice", "1"), want: invariant.Violated, events: []int{1}},
		{name: "a lock that nobody can read", run: newRun().do(func(l *changeLog) { l.write("alice", "LOCK", attr.Item{}) }).renders("alice", "1"),
			want: invariant.Unknown},
		{name: "a page that has no rows, and whose node has named none", run: newRun().renders("alice", "1"), want: invariant.Unknown},
		{name: "a page that has no rows", run: newRun().named(isr.PartitionKey("", "/")).renders("alice", "1"), want: invariant.Violated, events: []int{1}},
		{name: "each tenant has a page of its own", run: newRun().take("alice").renders("alice", "1").named("CACHE#t1").of("t1").renders("bob", "2"),
			want: invariant.Violated, events: []int{2}},
		{name: "a page that does not say when it was made", want: invariant.Unknown,
			run: newRun().do(func(l *changeLog) { l.write("carol", "META", attr.Item{"html": attr.S("0")}) }).take("bob").renders("bob", "1")},
		{name: "asked for by name, of a page that does not say when it was made",
			run: newRun().do(func(l *changeLog) { l.write("carol", "META", attr.Item{"html": attr.S("0")}) }).with("r1", "h").take("bob").renders("bob", "1")},
	} {
		t.Run(test.name, func(t *testing.T) {
			ev := test.run.evidence()
			ev.MaxClockSkew = test.skew
			checkFinding(t, invariant.Named("single-flight").Check(ev), max(test.want, invariant.OK), test.changes, test.events)
		})
	}
}

func TestSingleFlightNeedsToKnowHowFarTheLogWas(t *testing.T) {
	r := newRun().take("alice").renders("alice", "1")
	r.told.Events()[0].Change = 0
	checkFinding(t, invariant.Named("single-flight").Check(r.evidence()), invariant.Unknown, nil, nil)
}
