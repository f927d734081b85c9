package invariant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func TestSingleFlightNeedsToKnowHowFarTheLogWas(t *testing.T) {
	r := newRun().named(isr.PartitionKey("", "/")).take("alice").asks("alice").renders("alice", "1").renders("bob", "2")
	for i := range r.told.Events() {
		r.told.Events()[i].Change = 0
	}
	found := invariant.Named("single-flight").Check(r.evidence())
	checkFinding(t, found, invariant.Unknown, nil, nil)
	if !strings.Contains(found.Why, "does not say how far the change log was when event 2 happened") {
		t.Errorf("%q names no reason, or another event than the first rendering", found.Why)
	}
}

// An exhaustive search counts two runs as one if their flights are the same, as far as they still matter. These cases
// have the flights of bob, whose lease lasts until 60 s, and of alice, whose lease lasts until 30 s and is usually
// over.
func TestFlightsAreRemembered(t *testing.T) {
	lock := func(r *run, actor, token string, until time.Duration) *run {
		return r.do(func(l *changeLog) { l.lock(actor, token, until) })
	}
	take := func(until time.Duration) *run { return lock(newRun(), "alice", "a1", until) }
	bobTakes := func(r *run, at time.Duration) *run { return lock(r.wait(at), "bob", "b1", 60*second) }
	page := func(with attr.Item) *run { return newRun().do(func(l *changeLog) { l.page("carol", "1", with) }) }
	later := func() *run { return page(attr.Item{rowmap.GeneratedNanos: attr.Int(1)}) }
	odd := func(r *run) *run { return r.do(func(l *changeLog) { l.write("alice", "LOCK", attr.Item{}) }) }
	for _, test := range []past{
		{name: "another node", a: newRun().take("alice"), b: newRun().take("bob")},
		{name: "another page", a: newRun().take("alice"), b: newRun().in("CACHE#/b").take("alice")},
		{name: "a longer lease", a: take(30 * second), b: take(31 * second)},
		{name: "both of them over", at: 31 * second, a: take(30 * second), b: take(31 * second), equal: true},
		{name: "a page that is fresh for longer", a: page(nil).take("bob"), b: later().take("bob")},
		{name: "both of them stale", at: 61 * second, a: page(nil).take("bob"), b: later().take("bob"), equal: true},
		{name: "a live lease without a page, and a fresh page under a lease that is over", at: 30 * second,
			a: take(60 * second), b: lock(page(nil), "alice", "a1", 30*second)},
		{name: "a page that does not say how long it is fresh", a: newRun().take("bob"),
			b: newRun().do(func(l *changeLog) { l.write("carol", "META", attr.Item{"html": attr.S("0")}) }).take(
				"bob",
			)},
		{name: "a lock that nobody can read", at: 31 * second, a: take(30 * second), b: odd(newRun())},
		{name: "from another change on", a: odd(newRun()),
			b: odd(newRun().do(func(l *changeLog) { l.version("carol", "1") })), equal: true},
		{name: "a crash", a: take(30 * second), b: take(30*second).happens("alice", history.Crashed)},
		{name: "a crash under a longer lease", a: take(30*second).happens("alice", history.Crashed),
			b: take(31*second).happens("alice", history.Crashed), equal: true},
		{name: "a rendering", a: take(30 * second), b: take(30*second).renders("alice", "1")},
		{name: "at a time", at: 60 * second, a: bobTakes(take(30*second), 10*second),
			b: bobTakes(take(30*second), 30*second)},
		{name: "at a time, and the second has made the page", at: 60 * second,
			a: bobTakes(take(30*second), 10*second).renders("bob", "2"),
			b: bobTakes(take(30*second), 30*second).renders("bob", "2")},
		{name: "with more than e left, and with e", at: 60 * second, skew: second,
			a: bobTakes(take(30*second), 28*second), b: bobTakes(take(30*second), 29*second)},
		{name: "with e left, and with less", at: 60 * second, skew: 2 * second, equal: true,
			a: bobTakes(take(30*second), 28*second), b: bobTakes(take(30*second), 29*second)},
		{name: "and the first has crashed", at: 60 * second, equal: true,
			a: bobTakes(take(30*second), 10*second).happens("alice", history.Crashed),
			b: bobTakes(take(30*second), 30*second).happens("alice", history.Crashed)},
		{name: "and the first takes it again", at: 100 * second, equal: true,
			a: lock(bobTakes(take(30*second), 10*second).renders("bob", "2").wait(70*second), "alice", "a2",
				100*second),
			b: lock(bobTakes(take(30*second), 30*second).renders("bob", "2").wait(70*second), "alice", "a2",
				100*second)},
		{name: "which had made the page before", at: 100 * second,
			a: lock(bobTakes(take(30*second), 10*second).wait(70*second), "alice", "a2", 100*second),
			b: lock(bobTakes(take(30*second).renders("alice", "1"), 10*second).wait(70*second), "alice", "a2",
				100*second)},
		{name: "a page whose rows are not known", a: newRun(), b: newRun().renders("alice", "1")},
		{name: "made by another node", a: newRun().renders("alice", "1"), b: newRun().renders("bob", "1")},
		{name: "another body", a: newRun().renders("alice", "1"), b: newRun().renders("alice", "2")},
		{name: "another tenant's", a: newRun().renders("alice", "1"), b: newRun().of("t1").renders("alice", "1")},
		{name: "another one", a: newRun().renders("alice", "1"), b: newRun().renders("alice", "1").keyed("/other")},
	} {
		test.check(t, invariant.Named("single-flight"))
	}
}

// A node with goroutines may begin a turn while an earlier turn of its own, whose lease is over, goes on. Each such
// turn may still render once, unless the page was fresh all the time.
func TestALateTurnMayRender(t *testing.T) {
	again := func(r *run) *run { // alice takes the lease again, makes the page, and gives the lease back
		return r.wait(30*second).do(func(l *changeLog) { l.lock("alice", "a2", 60*second) }).renders("alice", "2").
			shows("alice", "2")
	}
	late := func() *run { return again(newRun().take("alice")).renders("alice", "1") }
	for _, test := range []struct {
		name               string
		run                *run
		alone, overlapping invariant.Verdict
	}{
		{"after the later turn", late(), invariant.Violated, invariant.OK},
		{"twice", late().renders("alice", "3"), invariant.Violated, invariant.Violated},
		{"after it has made the page", again(newRun().take("alice").renders("alice", "1")).renders("alice", "3"),
			invariant.Violated, invariant.Violated},
		{"after it was given back", again(newRun().take("alice").give("alice")).renders("alice", "1"),
			invariant.Violated, invariant.Violated},
		{"by another node", again(newRun().take("alice")).renders("bob", "1"), invariant.Violated, invariant.Violated},
		{"under the later turn, which found the page fresh",
			newRun().take("alice").wait(30*second).take("bob").renders("bob", "2").shows("bob", "2").
				do(func(l *changeLog) { l.lock("alice", "a2", 60*second) }).renders("alice", "1"),
			invariant.Violated, invariant.OK},
		{"of a page that was fresh all the time",
			newRun().take("bob").renders("bob", "2").shows("bob", "2").take("alice").wait(30*second).
				do(func(l *changeLog) { l.lock("alice", "a2", 60*second) }).renders("alice", "1"),
			invariant.Violated, invariant.Violated},
	} {
		for _, overlapping := range []bool{false, true} {
			ev, want := test.run.evidence(), test.alone
			if ev.Overlapping = overlapping; overlapping {
				want = test.overlapping
			}
			if f := invariant.Named("single-flight").Check(ev); f.Verdict != want {
				t.Errorf("%s, overlapping %v: %v (%s), want %v", test.name, overlapping, f.Verdict, f.Why, want)
			}
		}
	}
}

// A page is made without a lease, whether another node writes its rows before that or after it.
func TestARenderingWithoutALeaseHasNoOrder(t *testing.T) {
	for name, run := range map[string]*run{
		"before": newRun().take("bob").renders("alice", "1"),
		"after":  newRun().renders("alice", "1").take("bob").renders("bob", "2"),
	} {
		checkFinding(t, invariant.Named("single-flight").Check(run.evidence()), invariant.Violated, nil, []int{1})
		if t.Failed() {
			t.Fatal(name)
		}
	}
}
