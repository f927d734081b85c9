package ddbfake_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
)

// The instant that NextDeletion names is the first at which a row is gone, and there is always one until the last row
// has gone.
func TestNextDeletion(t *testing.T) {
	for _, tc := range []struct {
		lag  ddbfake.Lag
		want []time.Duration // since the epoch, of rows due after 10 s and 20 s
	}{
		{ddbfake.LagManual, nil},
		{ddbfake.LagNever, nil},
		{ddbfake.LagAtOnce, []time.Duration{11 * time.Second, 21 * time.Second}},
		{ddbfake.LagFixed(time.Hour), []time.Duration{time.Hour + 11*time.Second, time.Hour + 21*time.Second}},
		{ddbfake.LagFixed(6 * 365 * 24 * time.Hour), nil}, // by then TTL takes both for mistakes
	} {
		w := lagWorld(t, tc.lag, 0, 0)
		w.put(with(key("a", "1"), "ttl", due(10*time.Second)), with(key("a", "2"), "ttl", due(20*time.Second)), key("a", "3"))
		var got []time.Duration
		for at, ok := w.db.NextDeletion(); ok; at, ok = w.db.NextDeletion() {
			rows := len(w.db.Items("cache"))
			w.clock.AdvanceTo(at.Add(-1))
			if n := len(w.db.Items("cache")); n != rows {
				t.Fatalf("%v: %d of %d rows are left before %v", tc.lag, n, rows, at)
			}
			w.clock.AdvanceTo(at)
			if n := len(w.db.Items("cache")); n != rows-1 {
				t.Fatalf("%v: %d of %d rows are left at %v", tc.lag, n, rows, at)
			}
			got = append(got, at.Sub(fakeclock.Epoch))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%v: deletions (-want +got):\n%s", tc.lag, diff)
		}
	}
}

// Under a lag that a seed decides, too, every row goes when it was said to.
func TestNextDeletionOfRandomLags(t *testing.T) {
	for _, lag := range []ddbfake.Lag{ddbfake.LagUniform(time.Minute, time.Hour), ddbfake.LagExponential(time.Hour)} {
		w := lagWorld(t, lag, 7, 50)
		gone := 0
		for at, ok := w.db.NextDeletion(); ok; at, ok = w.db.NextDeletion() {
			w.clock.AdvanceTo(at)
			w.db.Items("cache")
			order, _ := w.deletions()
			if len(order) <= gone {
				t.Fatalf("%v: no row goes at %v", lag, at)
			}
			gone = len(order)
		}
		if gone != 50 {
			t.Errorf("%v: %d of 50 rows were said to go", lag, gone)
		}
	}
}
