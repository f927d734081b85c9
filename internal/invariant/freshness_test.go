package invariant_test

import (
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
