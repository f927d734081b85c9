package invariant_test

import (
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/invariant"
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
