package invariant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/history"
)

func (h *told) asked(at time.Duration) *told {
	return h.event(at, history.Event{Actor: "visitor", Kind: history.Asked, Key: "/"})
}

func (h *told) failed(at time.Duration) *told {
	return h.event(at, history.Event{Actor: "visitor", Kind: history.Failed, Key: "/"})
}

func (h *told) settled(at time.Duration) *told {
	return h.event(at, history.Event{Actor: "visitor", Kind: history.Settled})
}

// In all these cases, every page must be fresh and in the cache within 30 s.
func TestLiveness(t *testing.T) {
	const fresh, stale = history.Fresh, history.Stale
	for _, test := range []struct {
		name string
		log  *told
		show []int // the events that a violation names; none if there is no violation
	}{
		{name: "faults have not stopped", log: newHistory().asked(0).failed(time.Hour)},
		{name: "fresh at once", log: newHistory().settled(0).asked(0).served("visitor", "1", fresh, 0)},
		{name: "fresh after a while",
			log: newHistory().settled(0).asked(0).failed(0).asked(20*second).served("visitor", "1", stale, 20*second).
				asked(30*second).served("visitor", "1", fresh, 30*second)},
		{name: "what was fresh stays said", log: newHistory().settled(0).asked(0).served("visitor", "1", fresh, 0).
			asked(time.Hour).served("visitor", "1", stale, time.Hour)},
		{name: "too late", log: newHistory().settled(0).asked(0).failed(0).asked(30*second).served("visitor",
			"1", fresh, 30*second+nano),
			show: []int{1, 5}},
		{name: "stale for ever", log: newHistory().settled(second).asked(second).
			served("visitor", "1", stale, 31*second), show: []int{1, 3}},
		{name: "never", log: newHistory().settled(0).asked(0).failed(31 * second), show: []int{1, 3}},
		{name: "made again for whoever asks",
			log: newHistory().settled(0).asked(0).rendered("visitor", "1", 0).served("visitor", "1", fresh, 0).
				asked(31*second).rendered("visitor", "2", 31*second).served("visitor", "2", fresh, 31*second),
			show: []int{1, 7}},
		{name: "made once and found",
			log: newHistory().settled(0).asked(0).rendered("visitor", "1", 0).served("visitor", "1", fresh, 0).
				asked(0).served("visitor", "1", fresh, 0)},
		{name: "no answer", log: newHistory().settled(0).asked(0), show: []int{1, 2}},
		{name: "fresh before, never since",
			log: newHistory().asked(0).served("alice", "1", fresh, 0).settled(second).asked(second).
				failed(31 * second),
			show: []int{3, 5}},
		{name: "answered before it is asked for",
			log:  newHistory().settled(0).served("visitor", "1", stale, 0).asked(0).failed(31 * second),
			show: []int{1, 4}},
		{name: "one page of two", log: newHistory().settled(0).asked(0).failed(31*second).asked(31*second).of("/b").
			served("visitor", "1", fresh, 31*second).of("/b"),
			show: []int{1, 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := invariant.OK
			if test.show != nil {
				want = invariant.Violated
			}
			f := invariant.Named("liveness").Check(invariant.Evidence{
				Record: invariant.Record{History: test.log.Events(), Settle: 30 * second},
			})
			if f.Verdict != want {
				t.Errorf("verdict %v (%s), want %v", f.Verdict, f.Why, want)
			}
			if diff := cmp.Diff(test.show, f.Events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// A cache whose leases are longer than the scenario's is told so, because the time within which a page must be there
// follows from the scenario's lease.
func TestLivenessSaysThatALeaseIsTooLong(t *testing.T) {
	lock := func(taken time.Duration) *run {
		return newRun().do(func(l *changeLog) { l.lock("alice", "a1", taken) })
	}
	odd := newRun().do(func(l *changeLog) {
		l.write("alice", "LOCK",
			attr.Item{"lease_expires_at": attr.Int(t0.Unix() + 100)})
	})
	for _, test := range []struct {
		run         *run
		lease, skew time.Duration
		says        string
	}{
		{lock(13 * second), 10 * second, 0, " (alice took the lock for 13s, and a lease of this world lasts 10s)"},
		{lock(12 * second), 10 * second, 0, ""},
		{lock(14 * second), 10 * second, second, " (alice took the lock for 14s, and a lease of this world lasts 10s)"},
		{lock(13 * second), 10 * second, second, ""},
		{lock(13 * second), 0, 0, ""},
		{newRun(), 10 * second, 0, ""},
		{odd, 10 * second, 0, ""},
	} {
		ev := test.run.happens("visitor", history.Settled).asks("visitor").wait(5*second).
			happens("visitor", history.Failed).evidence()
		ev.Settle, ev.MaxClockSkew = 4*second, test.skew
		ev.Held = test.lease
		f := invariant.Named("liveness").Check(ev)
		if want := "at most 4s is allowed" + test.says; f.Verdict != invariant.Violated ||
			!strings.HasSuffix(f.Why, want) {
			t.Errorf("%v, %s; want it to end with %q", f.Verdict, f.Why, want)
		}
	}
}

// A violation names the changes that show who holds the page's lock when the visitor gets its answer.
func TestLivenessShowsWhoHoldsTheLock(t *testing.T) {
	ends := func(r *run) *run { // the answer comes 31 s later, which is too late
		return r.happens("visitor", history.Settled).asks("visitor").wait(31*second).happens("visitor", history.Failed)
	}
	lock := func(r *run, tokens ...string) *run {
		for _, token := range tokens {
			r.do(func(l *changeLog) { l.lock("alice", token, 30*second) })
		}
		return r
	}
	for _, test := range []struct {
		name string
		run  *run
		show []int
	}{
		{"nobody", ends(newRun()), nil},
		{"one who took it", ends(newRun().take("alice")), []int{1}},
		{"one who gave it back", ends(newRun().take("alice").give("alice")), nil},
		{"one who took it twice", ends(newRun().take("alice").give("alice").take("alice")), []int{3}},
		{"one who extended it", ends(lock(newRun(), "a1", "a1", "a1")), []int{1, 3}},
		{"one who took it over", ends(lock(newRun(), "a1", "a1", "b1")), []int{3}},
		{"nobody can read who",
			ends(newRun().do(func(l *changeLog) { l.write("alice", "LOCK", attr.Item{}) })), []int{1}},
		{"one who took it then", ends(newRun().wait(31 * second).take("alice").wait(0)), []int{1}},
		{"one who took it later", ends(newRun().wait(31*second + 1).take("alice").wait(0)), nil},
		{"other rows of the page, and the lock of another",
			ends(newRun().shows("carol", "1").in("CACHE#/b").take("alice")), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			ev := test.run.evidence()
			ev.Settle = 30 * second
			checkFinding(t, invariant.Named("liveness").Check(ev), invariant.Violated, test.show, []int{1, 3})
		})
	}
}
