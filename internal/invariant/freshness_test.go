package invariant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// told is a history written by hand.
type told struct{ recorder.Log }

func newHistory() *told { return &told{} }

func (h *told) event(d time.Duration, e history.Event) *told {
	e.Time = t0.Add(d)
	h.Add(e)
	return h
}

func (h *told) rendered(actor, body string, at time.Duration) *told {
	return h.event(at, history.Event{Actor: actor, Kind: history.Rendered, Key: "/", Body: body})
}

func (h *told) served(actor, body string, as history.ServedAs, at time.Duration) *told {
	return h.event(at, history.Event{Actor: actor, Kind: history.Served, Key: "/", As: as, Body: body})
}

// of changes the key of the last event.
func (h *told) of(key string) *told {
	events := h.Events()
	events[len(events)-1].Key = key
	return h
}

// within makes the last event a rendering that is fresh for d.
func (h *told) within(d time.Duration) *told {
	events := h.Events()
	events[len(events)-1].Within = d
	return h
}

// A rendering may say how long it is fresh. If it does not, the promised window counts. Without a promise, a check that
// follows the events (Follow) does not know that window, and its verdict is unknown.
func TestARenderingHasItsOwnWindow(t *testing.T) {
	for _, test := range []struct {
		name           string
		within, served time.Duration
		want, follows  invariant.Verdict // with a promise of 60 s and without one
	}{
		{"a shorter one", 10 * second, 14 * second, invariant.OK, invariant.OK},
		{"older than a shorter one", 10 * second, 14*second + nano, invariant.Violated, invariant.Violated},
		{"a longer one", 120 * second, 124 * second, invariant.OK, invariant.OK},
		{"older than a longer one", 120 * second, 124*second + nano, invariant.Violated, invariant.Violated},
		{"none", 0, 64 * second, invariant.OK, invariant.Unknown},
		{"older than none", 0, 64*second + nano, invariant.Violated, invariant.Unknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			log := newHistory().rendered("alice", "1", 0).within(test.within).
				served("bob", "1", history.Fresh, test.served).Events()
			const skew = 2 * second
			if got := invariant.Named("freshness").Check(invariant.Evidence{
				Record: invariant.Record{History: log, Revalidate: time.Minute, MaxClockSkew: skew},
			}); got.Verdict != test.want {
				t.Errorf("with a promise: %v (%s), want %v", got.Verdict, got.Why, test.want)
			}
			for promised, want := range map[time.Duration]invariant.Verdict{time.Minute: test.want, 0: test.follows} {
				fresh := invariant.Named("freshness")
				f, last := fresh.Follow(invariant.Promise{MaxClockSkew: skew, Revalidate: promised}),
					invariant.Finding{}
				for i := range log {
					last = f.Event(&log[i])
				}
				if last.Verdict != want {
					t.Errorf("followed with a promise of %v: %v (%s), want %v", promised, last.Verdict, last.Why, want)
				}
			}
		})
	}
}

// The freshness window is 60 s throughout.
func TestFreshness(t *testing.T) {
	const fresh, stale = history.Fresh, history.Stale
	for _, test := range []struct {
		name string
		skew time.Duration
		log  *told
		want invariant.Verdict
		why  []string
		show []int
	}{
		{name: "served at once",
			log: newHistory().rendered("alice", "1", 0).served("alice", "1", fresh, 0), want: invariant.OK},
		{name: "exactly as old as may be",
			log: newHistory().rendered("alice", "1", 0).served("bob", "1", fresh, 60*second), want: invariant.OK},
		{name: "a nanosecond older",
			log:  newHistory().rendered("alice", "1", 0).served("bob", "1", fresh, 60*second+nano),
			want: invariant.Violated,
			why:  []string{"bob served", "alice", "1m0.000000001s", "1m0s"}, show: []int{1, 2}},
		{name: "exactly as old as two skewed clocks can make it", skew: 2 * second,
			log: newHistory().rendered("alice", "1", 0).served("bob", "1", fresh, 64*second), want: invariant.OK},
		{name: "a nanosecond older than that", skew: 2 * second,
			log:  newHistory().rendered("alice", "1", 0).served("bob", "1", fresh, 64*second+nano),
			want: invariant.Violated, why: []string{"1m4.000000001s", "1m4s"}, show: []int{1, 2}},
		{name: "old, and declared to be",
			log: newHistory().rendered("alice", "1", 0).served("bob", "1", stale, time.Hour), want: invariant.OK},
		{name: "the first of two",
			log: newHistory().rendered("alice", "1", 0).served("bob", "1", fresh, 0).
				served("bob", "1", fresh, 61*second).served("carol", "1", fresh, 62*second),
			want: invariant.Violated, why: []string{"bob served", "1m1s"}, show: []int{1, 3}},
		{name: "an old page beside a new one",
			log: newHistory().rendered("alice", "1", 0).rendered("bob", "2", 61*second).
				served("bob", "2", fresh, 61*second).served("alice", "1", fresh, 61*second),
			want: invariant.Violated, why: []string{"alice served"}, show: []int{1, 4}},
		{name: "a body that two renderings made alike holds the later data too",
			log: newHistory().rendered("alice", "1", 0).rendered("bob", "1", 50*second).
				served("alice", "1", fresh, 100*second),
			want: invariant.OK},
		{name: "but not the data of another key",
			log: newHistory().rendered("alice", "1", 0).rendered("bob", "1", 50*second).of("/other").
				served("alice", "1", fresh, 100*second),
			want: invariant.Violated, why: []string{"alice served"}, show: []int{1, 3}},
		{name: "what else happens to nodes",
			log: newHistory().event(0, history.Event{Actor: "alice", Kind: history.Asked, Key: "/"}).
				event(0, history.Event{Actor: "alice", Kind: history.Crashed}).
				event(0, history.Event{Actor: "bob", Kind: history.Failed, Key: "/", Note: "timeout"}),
			want: invariant.OK},

		{name: "a body from nowhere",
			log: newHistory().served("alice", "x", fresh, 0), want: invariant.Unknown,
			why: []string{"event 1", `"x"`, "/"}},
		{name: "a body made later than served",
			log: newHistory().served("alice", "1", fresh, 0).rendered("bob", "1", second), want: invariant.Unknown,
			why: []string{"event 1"}},
		{name: "a body known of another key alone",
			log:  newHistory().rendered("alice", "1", 0).of("/other").served("alice", "1", fresh, 0),
			want: invariant.Violated, why: []string{"alice served for /", "/other"}, show: []int{1, 2}},
		{name: "a body known of another key alone, declared stale",
			log:  newHistory().rendered("alice", "1", 0).of("/other").served("alice", "1", stale, 0),
			want: invariant.Violated, why: []string{"alice served for /", "/other"}, show: []int{1, 2}},
		{name: "a body from nowhere, declared stale",
			log: newHistory().served("alice", "x", stale, 0), want: invariant.Unknown,
			why: []string{"event 1", `"x"`, "stale"}},
		{name: "a body from nowhere hides no stale one",
			log: newHistory().served("alice", "x", fresh, 0).rendered("alice", "1", 0).
				served("bob", "1", fresh, time.Hour),
			want: invariant.Violated, why: []string{"bob served"}, show: []int{2, 3}},
		{name: "a body from nowhere, where others are as they were made",
			log: newHistory().rendered("alice", "1", 0).served("alice", "1", fresh, 0).
				served("bob", "x", stale, time.Hour),
			want: invariant.Violated,
			why:  []string{"bob served for /, as stale, what nobody has ever made", `"x"`}, show: []int{3}},
		{name: "a body of an earlier run",
			log: newHistory().rendered("alice", "/@0#alice-render-1", 0).
				served("alice", "/@0#alice-render-1", fresh, 0).
				served("bob", "/@0#carol.2-render-4", fresh, second), want: invariant.Violated,
			why: []string{"bob served", "hint: these are bytes of an earlier run"}, show: []int{3}},
		{name: "a body of an earlier run alone", log: newHistory().served("bob", "/@0#same", fresh, second),
			want: invariant.Unknown, why: []string{"hint: these are bytes of an earlier run"}},
		{name: "and fresh, before the one that is as it was made",
			log: newHistory().rendered("alice", "<1>", 0).served("bob", "<", fresh, 0).
				served("alice", "<1>", fresh, 0),
			want: invariant.Violated, why: []string{"bob served"}, show: []int{2}},
		{name: "a rendering with a frame around it",
			log:  newHistory().rendered("alice", "1", 0).served("alice", "1", fresh, 0).served("bob", "<1>", stale, 0),
			want: invariant.Unknown, why: []string{"event 3"}},
		{name: "the first of two from nowhere",
			log:  newHistory().served("alice", "x", fresh, 0).served("alice", "y", fresh, 0),
			want: invariant.Unknown, why: []string{`"x"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := invariant.Named("freshness").Check(invariant.Evidence{
				Record: invariant.Record{History: test.log.Events(), Revalidate: time.Minute, MaxClockSkew: test.skew},
			})
			if got.Verdict != test.want {
				t.Fatalf("%v (%s), want %v", got.Verdict, got.Why, test.want)
			}
			for _, word := range test.why {
				if !strings.Contains(got.Why, word) {
					t.Errorf("%q does not mention %q", got.Why, word)
				}
			}
			checkShown(t, got, nil, test.show)
		})
	}
}
