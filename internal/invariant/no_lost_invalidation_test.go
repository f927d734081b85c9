package invariant_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/history"
)

func TestNoLostInvalidation(t *testing.T) {
	const begin, told = history.Invalidating, history.Invalidated
	// Carol invalidates the page at 10 s, and is told at 12 s that it is invalidated.
	invalidated := func(r *run) *run {
		return r.wait(10*second).happens("carol", begin).wait(12*second).happens("carol", told)
	}
	for _, test := range []struct {
		name   string
		run    *run
		want   invariant.Verdict
		events []int
	}{
		{name: "what was read before",
			run:  invalidated(newRun().renders("alice", "1")).wait(13*second).asks("bob").gets("bob", "1"),
			want: invariant.Violated, events: []int{1, 2, 3, 4, 5}},
		{name: "by whoever published it late",
			run:  invalidated(newRun().renders("alice", "1")).wait(20*second).asks("alice").gets("alice", "1"),
			want: invariant.Violated, events: []int{1, 2, 3, 4, 5}},
		{name: "as stale",
			run: invalidated(newRun().renders("alice", "1")).wait(13*second).asks("bob").getsStale("bob", "1")},
		{name: "read since",
			run: invalidated(newRun()).renders("alice", "1").wait(13*second).asks("bob").gets("bob", "1")},
		{name: "read while it was under way", run: newRun().wait(10*second).happens("carol", begin).
			renders("alice", "1").wait(12*second).happens("carol", told).
			wait(13*second).asks("bob").gets("bob", "1")},
		{name: "read at the instant at which it was asked for: nobody knows which came first",
			run: invalidated(newRun().wait(10*second).renders("alice", "1")).wait(13*second).asks("bob").
				gets("bob", "1")},
		{name: "unless one node did both", run: invalidated(newRun().wait(10*second).renders("carol", "1")).
			wait(13*second).asks("bob").gets("bob", "1"),
			want: invariant.Violated, events: []int{1, 2, 3, 4, 5}},
		{name: "made again since", run: invalidated(newRun().renders("alice", "1")).renders("bob", "1").wait(13*second).
			asks("bob").gets("bob", "1")},
		{name: "asked for before it was confirmed",
			run: newRun().renders("alice", "1").wait(10*second).happens("carol", begin).wait(11*second).asks("bob").
				wait(12*second).happens("carol", told).wait(13*second).gets("bob", "1")},
		{name: "asked for at the instant at which it was",
			run: invalidated(newRun().renders("alice", "1")).asks("bob").gets("bob", "1")},
		{name: "unless by the one who was told",
			run:  invalidated(newRun().renders("alice", "1")).asks("carol").gets("carol", "1"),
			want: invariant.Violated, events: []int{1, 2, 3, 4, 5}},
		{name: "the invalidation failed", run: newRun().renders("alice", "1").wait(10*second).happens("carol", begin).
			happens("carol", history.Failed).
			wait(13*second).asks("bob").gets("bob", "1")},
		{name: "its node crashed", run: newRun().renders("alice", "1").wait(10*second).happens("carol", begin).
			happens("carol", history.Crashed).
			wait(13*second).asks("bob").gets("bob", "1")},
		{name: "another tenant's page", run: invalidated(newRun().of("t1")).of("").renders("alice", "1").
			wait(13*second).asks("bob").gets("bob", "1")},
		{name: "the second of two", run: invalidated(newRun()).renders("alice", "1").wait(15*second).
			happens("carol", begin).happens("carol", told).
			wait(16*second).asks("bob").gets("bob", "1"), want: invariant.Violated, events: []int{3, 4, 5, 6, 7}},
		{name: "somebody else's is not confirmed by it",
			run: newRun().happens("carol", begin).wait(5*second).renders("alice", "1").
				wait(10*second).happens("dave", begin).wait(12*second).happens("carol", told).wait(13*second).
				asks("bob").gets("bob", "1")},
		{name: "nor its own of another page",
			run: newRun().renders("alice", "1").wait(10*second).happens("carol", begin).
				of("t1").happens("carol", begin).happens("carol", told).of("").wait(13*second).asks("bob").
				gets("bob", "1")},
		{name: "nor the one before, which failed", run: newRun().renders("alice", "1").wait(10*second).
			happens("carol", begin).happens("carol", history.Failed).
			wait(12*second).happens("carol", begin).happens("carol", told).wait(13*second).asks("bob").gets("bob", "1"),
			want: invariant.Violated, events: []int{1, 4, 5, 6, 7}},
		{name: "nor the one before a crash, which is one for all pages",
			run: newRun().renders("alice", "1").wait(10*second).happens("carol", begin).
				of("t1").happens("carol", history.Crashed).of("").happens("carol", begin).happens("carol", told).
				wait(13*second).asks("bob").gets("bob", "1"),
			want: invariant.Violated, events: []int{1, 4, 5, 6, 7}},
		{name: "nor the one before, which was confirmed",
			run: invalidated(newRun().renders("alice", "1")).wait(20*second).happens("carol", begin).
				happens("carol", told).
				wait(30*second).asks("bob").gets("bob", "1"), want: invariant.Violated, events: []int{1, 2, 3, 6, 7}},
		{name: "while it was under way, others were served, and its node failed with another page",
			run: newRun().renders("alice", "1").wait(10*second).happens("carol", begin).asks("bob").
				getsStale("bob", "1").
				of("t1").happens("carol", history.Failed).of("").wait(12*second).happens("carol", told).wait(13*second).
				asks("bob").gets("bob", "1"),
			want: invariant.Violated, events: []int{1, 2, 6, 7, 8}},
		{name: "asked for once more: served, failed and crashed before",
			run: invalidated(newRun().renders("alice", "1")).wait(13*second).
				asks("bob").getsStale("bob", "1").asks("bob").happens("bob", history.Failed).asks("bob").of("t1").
				happens("bob", history.Crashed).of("").
				asks("bob").gets("bob", "1"), want: invariant.Violated, events: []int{1, 2, 3, 10, 11}},
		{name: "asked for, and meanwhile others are served, and the node fails with another page",
			run: invalidated(newRun().renders("alice", "1")).wait(13*second).asks("bob").asks("dave").
				getsStale("dave", "1").
				of("t1").happens("bob", history.Failed).of("").gets("bob", "1"),
			want: invariant.Violated, events: []int{1, 2, 3, 4, 8}},
		{name: "served to another, who had asked before",
			run: newRun().renders("alice", "1").wait(10*second).happens("carol", begin).asks("dave").
				wait(12*second).happens("carol", told).wait(13*second).asks("bob").gets("dave", "1")},
		{name: "an equal body of another page",
			run: invalidated(newRun().renders("alice", "1").of("t1").renders("alice", "1").of("")).
				wait(13*second).asks("bob").of("t1").gets("bob", "1")},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkFinding(t, invariant.Named("no-lost-invalidation").Check(test.run.evidence()),
				max(test.want, invariant.OK), nil, test.events)
		})
	}
}

// An exhaustive search counts two runs as one if their confirmed invalidations, open questions and old bodies are the
// same.
func TestInvalidationsAreRemembered(t *testing.T) {
	made := func(body string) *run { return newRun().renders("alice", body) }
	asked := func(actor string, r *run) *run { return r.wait(10*second).happens(actor, history.Invalidating) }
	told := func(at time.Duration) *run {
		return asked("carol", made("1")).wait(at).happens("carol", history.Invalidated)
	}
	confirmed := func() *run { return told(12 * second) }
	four := func(last string) *run {
		return confirmed().wait(13 * second).asks("alice").asks("bob").asks("carol").asks(last)
	}
	for _, test := range []past{
		{name: "under way", a: made("1"), b: asked("carol", made("1"))},
		{name: "by another node", a: asked("carol", made("1")), b: asked("dave", made("1"))},
		{name: "of another body", a: asked("carol", made("1")), b: asked("carol", made("2"))},
		{name: "of another tenant's page", a: confirmed(),
			b: asked("carol", newRun().of("t1").renders("alice", "1")).wait(12*second).happens("carol",
				history.Invalidated)},
		{name: "of another page", a: confirmed(), b: confirmed().keyed("/other")},
		{name: "confirmed", a: asked("carol", made("1")), b: confirmed()},
		{name: "a second later", a: confirmed(), b: told(13 * second)},
		{name: "a nanosecond later", a: confirmed(), b: told(12*second + nano)},
		{name: "asked for since", a: confirmed(), b: confirmed().wait(13 * second).asks("bob")},
		{name: "asked for by four", a: four("dave"), b: four("carol")},
		{name: "asked for by another", a: confirmed().wait(13 * second).asks("bob"),
			b: confirmed().wait(13 * second).asks("dave")},
		{name: "another page asked for", a: confirmed(),
			b: confirmed().wait(13 * second).of("t1").asks("bob"), equal: true},
		{name: "asked for and served", a: confirmed(),
			b: confirmed().wait(13*second).asks("bob").gets("bob", "2"), equal: true},
		{name: "told to a node that crashed then", a: confirmed(),
			b: confirmed().happens("carol", history.Crashed), equal: true},
		{name: "of a page that nobody has made", a: newRun(), b: asked("carol", newRun()), equal: true},
		{name: "failed", a: made("1"), b: asked("carol", made("1")).happens("carol", history.Failed), equal: true},
	} {
		test.check(t, invariant.Named("no-lost-invalidation"))
	}
}
