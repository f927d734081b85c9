package invariant_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

func TestNoLostInvalidation(t *testing.T) {
	const begin, told = history.Invalidating, history.Invalidated
	// Carol invalidates at 10 s, and is told so at 12 s.
	invalidated := func(r *run) *run {
		return r.wait(10*second).happens("carol", begin).wait(12*second).happens("carol", told)
	}
	for _, test := range []struct {
		name   string
		run    *run
		want   invariant.Verdict
		events []int
	}{
		{name: "what was read before", run: invalidated(newRun().renders("alice", "1")).wait(13*second).asks("bob").gets("bob", "1"),
			want: invariant.Violated, events: []int{1, 2, 3, 4, 5}},
		{name: "by whoever published it late", run: invalidated(newRun().renders("alice", "1")).wait(20*second).asks("alice").gets("alice", "1"),
			want: invariant.Violated, events: []int{1, 2, 3, 4, 5}},
		{name: "as stale", run: invalidated(newRun().renders("alice", "1")).wait(13*second).asks("bob").getsStale("bob", "1")},
		{name: "read since", run: invalidated(newRun()).renders("alice", "1").wait(13*second).asks("bob").gets("bob", "1")},
		{name: "read while it was under way", run: newRun().wait(10*second).happens("carol", begin).renders("alice", "1").wait(12*second).happens("carol", told).
			wait(13*second).asks("bob").gets("bob", "1")},
		{name: "read at the instant at which it was asked for: nobody knows which came first",
			run: invalidated(newRun().wait(10*second).renders("alice", "1")).wait(13*second).asks("bob").gets("bob", "1")},
		{name: "unless one node did both", run: invalidated(newRun().wait(10*second).renders("carol", "1")).wait(13*second).asks("bob").gets("bob", "1"),
			want: invariant.Violated, events: []int{1, 2, 3, 4, 5}},
		{name: "made again since", run: invalidated(newRun().renders("alice", "1")).renders("bob", "1").wait(13*second).asks("bob").gets("bob", "1")},
		{name: "asked for before it was confirmed", run: newRun().renders("alice", "1").wait(10*second).happens("carol", begin).wait(11*second).asks("bob").
			wait(12*second).happens("carol", told).wait(13*second).gets("bob", "1")},
		{name: "asked for at the instant at which it was", run: invalidated(newRun().renders("alice", "1")).asks("bob").gets("bob", "1")},
		{name: "unless by the one who was told", run: invalidated(newRun().renders("alice", "1")).asks("carol").gets("carol", "1"),
			want: invariant.Violated, events: []int{1, 2, 3, 4, 5}},
		{name: "the invalidation failed", run: newRun().renders("alice", "1").wait(10*second).happens("carol", begin).happens("carol", history.Failed).
			wait(13*second).asks("bob").gets("bob", "1")},
		{name: "its node crashed", run: newRun().renders("alice", "1").wait(10*second).happens("carol", begin).happens("carol", history.Crashed).
			wait(13*second).asks("bob").gets("bob", "1")},
		{name: "another tenant's page", run: invalidated(newRun().of("t1")).of("").renders("alice", "1").wait(13*second).asks("bob").gets("bob", "1")},
		{name: "the second of two", run: invalidated(newRun()).renders("alice", "1").wait(15*second).happens("carol", begin).happens("carol", told).
			wait(16*second).asks("bob").gets("bob", "1"), want: invariant.Violated, events: []int{3, 4, 5, 6, 7}},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkFinding(t, invariant.Named("no-lost-invalidation").Check(test.run.evidence()), max(test.want, invariant.OK), nil, test.events)
		})
	}
}
