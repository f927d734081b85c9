package invariant_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// readsCase is a run and the expected finding.
type readsCase struct {
	name    string
	run     *run
	promise invariant.Record // AcrossNodes, MaxAge, MaxClockSkew
	want    invariant.Verdict
	events  []int
}

func checkReads(t *testing.T, inv invariant.Invariant, tests []readsCase) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ev := test.run.evidence()
			ev.AcrossNodes, ev.MaxAge, ev.MaxClockSkew = test.promise.AcrossNodes, test.promise.MaxAge,
				test.promise.MaxClockSkew
			checkFinding(t, inv.Check(ev), max(test.want, invariant.OK), nil, test.events)
		})
	}
}

// foreign makes a body for another key.
func (r *run) foreign(actor, body string) *run {
	r.told.Add(history.Event{Time: r.now, Actor: actor, Kind: history.Rendered, Key: "/other", Body: body})
	return r
}

// oldAndNew is a run in which carol renders the page as "old", and alice renders it as "new" a minute later.
func oldAndNew() *run {
	return newRun().asks("carol").renders("carol", "old").gets("carol", "old").
		wait(60*second).asks("alice").renders("alice", "new").gets("alice", "new")
}

// atNext lets a second pass. Then the actor asks for the page, and is served the body.
func (r *run) atNext(actor string, as history.ServedAs, body string) *run {
	r.wait(r.now.Sub(t0) + second)
	return r.asks(actor).event(actor, history.Served, as, body)
}

func TestMonotonicReads(t *testing.T) {
	const fresh, stale = history.Fresh, history.Stale
	const violated, unknown = invariant.Violated, invariant.Unknown
	across := invariant.Record{AcrossNodes: true}
	checkReads(t, invariant.Named("monotonic-reads"), []readsCase{
		{name: "newer and newer", run: oldAndNew().atNext("alice", fresh, "new").atNext("carol", fresh, "new")},
		{name: "back in time", run: oldAndNew().atNext("alice", fresh, "new").atNext("alice", fresh, "old"),
			want: violated, events: []int{2, 5, 6, 9, 10}},
		{name: "as stale", run: oldAndNew().atNext("alice", fresh, "new").atNext("alice", stale, "old"),
			want: violated, events: []int{2, 5, 6, 9, 10}},
		{name: "and it is known later that the newer one was in the cache",
			run:  oldAndNew().atNext("alice", stale, "old").atNext("bob", fresh, "new"),
			want: violated, events: []int{2, 5, 6, 7, 8, 10}},
		{name: "a page that was refused, and served to its maker alone",
			run: oldAndNew().atNext("alice", stale, "old")},
		{name: "and once more to its maker, for another request",
			run: oldAndNew().atNext("alice", fresh, "new").atNext("bob", stale, "old")},
		{name: "and others made the same bytes of it, and had as little luck",
			run: newRun().renders("alice", "old").wait(60*second).asks("carol").renders("carol", "new").
				renders("bob", "new").gets("carol", "new").atNext("carol", stale, "old")},
		{name: "another node", run: oldAndNew().atNext("bob", fresh, "new").atNext("carol", stale, "old")},
		{name: "another node, where that is promised", promise: across,
			run:  oldAndNew().atNext("bob", fresh, "new").atNext("carol", stale, "old"),
			want: violated, events: []int{2, 5, 6, 9, 10}},
		{name: "another node that asked before", promise: across,
			run: oldAndNew().asks("carol").atNext("bob", fresh, "new").getsStale("carol", "old")},
		{name: "another node that asked at the same instant", promise: across,
			run: oldAndNew().asks("bob").gets("bob", "new").asks("carol").getsStale("carol", "old")},
		{name: "the same node at the same instant",
			run:  oldAndNew().asks("bob").gets("bob", "new").asks("bob").getsStale("bob", "old"),
			want: violated, events: []int{2, 5, 8, 9, 10}},
		{name: "read at the same instant: nobody knows which is older",
			run: newRun().asks("carol").renders("carol", "1").gets("carol", "1").asks("alice").renders("alice", "2").
				gets("alice", "2").
				atNext("bob", fresh, "2").atNext("bob", fresh, "1")},
		{name: "made again since",
			run: oldAndNew().atNext("alice", fresh, "new").renders("bob", "old").atNext("alice", fresh, "old")},
		{name: "asked for by a request's name",
			run: oldAndNew().atNext("alice", fresh, "new").with("r1", "h").atNext("alice", stale, "old")},
		{name: "rolled back", run: oldAndNew().atNext("alice", fresh, "new").happens("carol", history.RollingBack).
			atNext("alice", fresh, "old")},
		{name: "another tenant's page is rolled back",
			run: oldAndNew().atNext("alice", fresh, "new").of("t1").happens("carol", history.RollingBack).of("").
				atNext("alice", fresh, "old"), want: violated,
			events: []int{2, 5, 6, 10, 11}},
		{name: "two requests of one node that overlap",
			run: oldAndNew().asks("bob").atNext("bob", fresh, "new").getsStale("bob", "old")},
		{name: "a body that nobody made, after another", run: oldAndNew().atNext("alice", fresh, "x"), want: unknown},
		{name: "a body that nobody made, before another",
			run: oldAndNew().atNext("bob", fresh, "x").atNext("bob", fresh, "new"), want: unknown},
		{name: "a body that nobody made, alone", run: oldAndNew().atNext("bob", fresh, "x").atNext("bob", fresh, "x")},
		{name: "a body of another key is another matter",
			run: newRun().foreign("carol", "other").atNext("alice", fresh, "other").renders("alice", "new").
				atNext("alice", fresh, "new")},
		{name: "a doubt hides no violation",
			run:  oldAndNew().atNext("alice", fresh, "x").atNext("alice", fresh, "new").atNext("alice", fresh, "old"),
			want: violated, events: []int{2, 5, 6, 11, 12}},
	})
}

func TestReadYourWrites(t *testing.T) {
	const fresh, stale = history.Fresh, history.Stale
	const violated, unknown = invariant.Violated, invariant.Unknown
	// Alice regenerates a minute-old page with the idempotency key r1.
	forced := func() *run {
		return newRun().asks("carol").renders("carol", "old").gets("carol", "old").
			wait(60*second).with("r1", "h").asks("alice").renders("alice", "new").gets("alice", "new").with("", "")
	}
	checkReads(t, invariant.Named("read-your-writes"), []readsCase{
		{name: "regenerated", run: forced().atNext("alice", fresh, "new")},
		{name: "regenerated, and the page from before", run: forced().atNext("alice", fresh, "old"), want: violated,
			events: []int{2, 5, 6, 7, 8}},
		{name: "regenerated, and the page from before as stale", run: forced().atNext("alice", stale, "old"),
			want: violated, events: []int{2, 5, 6, 7, 8}},
		{name: "regenerated, and another node", run: forced().atNext("bob", stale, "old")},
		{name: "regenerated, and asked for before",
			run: newRun().asks("carol").renders("carol", "old").gets("carol", "old").
				wait(60*second).asks("alice").with("r1", "h").asks("alice").renders("alice", "new").
				gets("alice", "new").with("", "").getsStale("alice", "old")},
		{name: "regenerated, and the answer to another name",
			run: forced().with("r0", "h").atNext("alice", stale, "old")},
		{name: "regenerated, and rolled back",
			run: forced().happens("bob", history.RollingBack).atNext("alice", fresh, "old")},
		{name: "regenerated, and made again since", run: forced().renders("bob", "old").atNext("alice", fresh, "old")},
		{name: "the regeneration failed", run: newRun().asks("carol").renders("carol", "old").gets("carol", "old").
			wait(60*second).with("r1", "h").asks("alice").renders("alice", "new").happens("alice", history.Failed).
			with("", "").atNext("alice", stale, "old")},
		{name: "regenerated, and a body that nobody made", run: forced().atNext("alice", fresh, "x"), want: unknown},

		// This case belongs to no-lost-invalidation.
		{name: "invalidated, and the page from before",
			run: newRun().asks("carol").renders("carol", "old").gets("carol", "old").
				wait(10*second).happens("alice", history.Invalidating).happens("alice", history.Invalidated).
				atNext("alice", fresh, "old")},
	})
}

func TestBoundedStaleness(t *testing.T) {
	const fresh, stale = history.Fresh, history.Stale
	const violated, unknown = invariant.Violated, invariant.Unknown
	served := func(age time.Duration, as history.ServedAs) *run {
		return newRun().asks("carol").renders("carol", "1").wait(age).asks("bob").event("bob", history.Served, as, "1")
	}
	bound := invariant.Record{MaxAge: time.Hour}
	skewed := invariant.Record{MaxAge: time.Hour, MaxClockSkew: 2 * second}
	checkReads(t, invariant.Named("bounded-staleness"), []readsCase{
		{name: "no bound is stated", run: served(100*time.Hour, stale)},
		{name: "the smallest bound", promise: invariant.Record{MaxAge: nano}, run: served(2*nano, stale),
			want: violated, events: []int{2, 3, 4}},
		{name: "exactly as old as may be", promise: bound, run: served(time.Hour, stale)},
		{name: "a nanosecond older", promise: bound, run: served(time.Hour+nano, stale), want: violated,
			events: []int{2, 3, 4}},
		{name: "and as fresh", promise: bound, run: served(time.Hour+nano, fresh), want: violated,
			events: []int{2, 3, 4}},
		{name: "exactly as old as two skewed clocks can make it", promise: skewed,
			run: served(time.Hour+4*second, stale)},
		{name: "a nanosecond older than that", promise: skewed, run: served(time.Hour+4*second+nano, stale),
			want: violated, events: []int{2, 3, 4}},
		{name: "asked for in time, and served late", promise: bound,
			run: newRun().renders("carol", "1").wait(time.Hour).asks("bob").wait(2*time.Hour).getsStale("bob", "1")},
		{name: "without a request, the answer counts", promise: bound,
			run:  newRun().renders("carol", "1").wait(2*time.Hour).getsStale("bob", "1"),
			want: violated, events: []int{1, 2}},
		{name: "a body that nobody made", promise: bound, run: newRun().asks("bob").gets("bob", "x"), want: unknown},
		{name: "another page's body has an age that is not this page's", promise: bound,
			run: newRun().foreign("carol", "x").wait(2*time.Hour).asks("bob").gets("bob", "x")},
		{name: "a doubt hides no violation", promise: bound,
			run: newRun().asks("bob").gets("bob", "x").renders("carol", "1").wait(2*time.Hour).asks("bob").
				getsStale("bob", "1"), want: violated, events: []int{3, 4, 5}},
	})
}

// TestMonotonicReadsJudgesWhoAsksAgain: if no page is served twice, nothing is judged, and ok means nothing.
func TestMonotonicReadsJudgesWhoAsksAgain(t *testing.T) {
	asked := func(h *told, actor, key string) *told {
		return h.event(0, history.Event{Actor: actor, Kind: history.Asked, Key: key}).
			served(actor, "r1", history.Fresh, 0).of(key)
	}
	of := invariant.Named("monotonic-reads")
	for name, test := range map[string]struct {
		h            *told
		alone, among bool // with a promise for each node by itself, and for all nodes together
	}{
		"once":      {asked(newHistory(), "alice", "/"), false, false},
		"twice":     {asked(asked(newHistory(), "alice", "/"), "alice", "/"), true, true},
		"by two":    {asked(asked(newHistory(), "alice", "/"), "bob", "/"), false, true},
		"two pages": {asked(asked(newHistory(), "alice", "/"), "alice", "/other"), false, false},
		"asked, no answer": {
			asked(newHistory(), "alice", "/").event(0, history.Event{Actor: "alice", Kind: history.Asked, Key: "/"}),
			false, false,
		},
	} {
		alone := invariant.Evidence{Record: invariant.Record{History: test.h.Events()}}
		among := alone
		among.AcrossNodes = true
		got := [2]bool{of.HasSubject(alone), of.HasSubject(among)}
		if got != [2]bool{test.alone, test.among} {
			t.Errorf("%s: something to judge: %v, want %v", name, got, [2]bool{test.alone, test.among})
		}
	}
}
