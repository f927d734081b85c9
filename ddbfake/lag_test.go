package ddbfake_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
)

// lagWorld is a table of n rows, all due an hour after the epoch.
func lagWorld(t *testing.T, lag ddbfake.Lag, seed uint64, n int) *world {
	t.Helper()
	w := worldOf(t, ddbfake.Options{Lag: lag, Seed: seed})
	w.enableTTL()
	for i := range n {
		w.put(with(key("a", fmt.Sprintf("%03d", i)), "ttl", due(time.Hour)))
	}
	return w
}

// deletions returns which rows TTL has deleted, and the lag of each.
func (w *world) deletions() (order []string, lags []time.Duration) {
	for _, c := range w.db.Changes() {
		if c.Cause == ddbfake.CauseTTL {
			sk, _ := c.Key.Str("sk")
			order = append(order, sk)
			lags = append(lags, c.Time.Sub(fakeclock.Epoch.Add(time.Hour+time.Second)))
		}
	}
	return order, lags
}

// Random lags lie within their bounds, and are spread over the range.
func TestRandomLags(t *testing.T) {
	const n = 400
	for _, tc := range []struct {
		lag         ddbfake.Lag
		least, most time.Duration
		mean        time.Duration // within a tenth
	}{
		{ddbfake.LagUniform(10*time.Minute, 20*time.Minute), 10 * time.Minute, 20 * time.Minute, 15 * time.Minute},
		{ddbfake.LagUniform(0, 48*time.Hour), 0, 48 * time.Hour, 24 * time.Hour},
		{ddbfake.LagUniform(time.Minute, time.Minute), time.Minute, time.Minute, time.Minute},
		{ddbfake.LagExponential(10 * time.Minute), 0, 400 * time.Minute, 10 * time.Minute},
	} {
		w := lagWorld(t, tc.lag, 1, n)
		w.clock.Advance(time.Hour)
		if order, _ := w.deletions(); len(order) > 0 {
			t.Errorf("%v: %d rows went before they expired", tc.lag, len(order))
		}
		w.clock.Advance(1000 * time.Hour)
		_, lags := w.deletions()
		if len(lags) != n || !slices.IsSorted(lags) {
			t.Fatalf("%v: %d rows went, in the order of time: %v; want %d, in order", tc.lag, len(lags),
				slices.IsSorted(lags), n)
		}
		var sum time.Duration
		for _, lag := range lags {
			sum += lag
		}
		if lags[0] < tc.least || lags[n-1] > tc.most || (sum/n-tc.mean).Abs() > tc.mean/10 {
			t.Errorf("%v: lags from %v to %v, mean %v; want them from %v to %v, mean %v", tc.lag, lags[0], lags[n-1],
				sum/n, tc.least, tc.most, tc.mean)
		}
	}
}

// With one seed, rows are deleted in one order, however often they are read meanwhile; with another seed, in another
// order.
func TestOneSeedOneOrder(t *testing.T) {
	for _, lag := range []ddbfake.Lag{ddbfake.LagUniform(time.Minute, 48*time.Hour),
		ddbfake.LagExponential(10 * time.Minute)} {
		run := func(seed uint64, looks int) string {
			w := lagWorld(t, lag, seed, 20)
			for range looks {
				w.clock.Advance(100 * time.Hour / time.Duration(looks))
				w.db.Items("cache")
			}
			order, lags := w.deletions()
			return fmt.Sprint(order, lags)
		}
		want := run(7, 1)
		for _, looks := range []int{1, 10, 5000} {
			if d := cmp.Diff(want, run(7, looks)); d != "" {
				t.Errorf("%v, %d looks (-want +got):\n%s", lag, looks, d)
			}
		}
		if run(8, 1) == want {
			t.Errorf("%v: two seeds, one order", lag)
		}
	}
}

// Each row's own attribute decides when it is deleted.
func TestLagPerItem(t *testing.T) {
	w := lagWorld(t, ddbfake.LagPerItem("lag_seconds"), 0, 0)
	for sk, lag := range map[string]types.AttributeValue{ //isrsim:unordered the rows are sorted
		"0": n("0"), "1 later": n("90"), "2 soon": n("5"), "3 text": s("5"), "4 negative": n("-5"),
		"5 fraction": n("1.5"), "6 for ever": n("99999999999"),
	} {
		w.put(with(key("a", sk), "ttl", due(time.Hour), "lag_seconds", lag))
	}
	w.put(with(key("a", "7 none"), "ttl", due(time.Hour)))
	w.clock.Advance(1000 * time.Hour)
	order, lags := w.deletions()
	if d := cmp.Diff([]string{"0", "2 soon", "1 later"}, order); d != "" {
		t.Errorf("deleted (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]time.Duration{0, 5 * time.Second, 90 * time.Second}, lags); d != "" {
		t.Errorf("lags (-want +got):\n%s", d)
	}
	if n := w.db.SweepExpired(); n != 5 {
		t.Errorf("by hand went %d rows, want the other 5", n)
	}
}

// A raised ttl saves a row, whatever its lag would have been; a rewritten row gets another lag.
func TestARaisedTTLDrawsAnotherLag(t *testing.T) {
	w := lagWorld(t, ddbfake.LagUniform(time.Hour, 2*time.Hour), 3, 1)
	w.clock.Advance(90 * time.Minute)
	w.put(with(key("a", "000"), "ttl", due(3*time.Hour)))
	w.clock.Advance(2*time.Hour + 29*time.Minute) // 59 minutes after the new ttl
	if order, _ := w.deletions(); len(order) != 0 {
		t.Errorf("deleted %v, want nothing before its lag is over", order)
	}
	w.clock.Advance(time.Hour + 2*time.Minute)
	if order, _ := w.deletions(); len(order) != 1 {
		t.Errorf("deleted %v, want the row", order)
	}
}

// After a restore, the lag and seed of the DB apply, not those of the DB that made the snapshot.
func TestLagsAfterRestore(t *testing.T) {
	from := lagWorld(t, ddbfake.LagUniform(time.Hour, 48*time.Hour), 1, 20)
	from.clock.Advance(time.Hour + time.Minute)
	from.db.Items("cache")
	snapshot := from.db.Snapshot()
	into := lagWorld(t, ddbfake.LagUniform(time.Second, time.Minute), 2, 20)
	into.db.Restore(snapshot)
	into.clock.Advance(time.Hour + time.Minute + time.Second)
	if got := len(into.db.Items("cache")); got != 0 {
		t.Errorf("%d rows are left, want none", got)
	}
	from.clock.Advance(48 * time.Hour)
	want, _ := lagWorldAfter(t, 1, 50*time.Hour)
	if got, _ := from.deletions(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func lagWorldAfter(t *testing.T, seed uint64, d time.Duration) ([]string, []time.Duration) {
	w := lagWorld(t, ddbfake.LagUniform(time.Hour, 48*time.Hour), seed, 20)
	w.clock.Advance(d)
	return w.deletions()
}

// Fate predicts the deletion of a row under every lag.
func TestFate(t *testing.T) {
	for _, lag := range []ddbfake.Lag{
		ddbfake.LagAtOnce, ddbfake.LagFixed(10 * time.Minute), ddbfake.LagUniform(time.Minute, 48*time.Hour),
		ddbfake.LagExponential(10 * time.Minute), ddbfake.LagPerItem("lag_seconds"),
		ddbfake.LagManual, ddbfake.LagNever,
	} {
		w := lagWorld(t, lag, 7, 20)
		w.put(with(key("b", "slow"), "ttl", due(time.Hour), "lag_seconds", n("90")))
		w.put(with(key("c", "no number"), "ttl", s("soon")))
		w.put(with(key("c", "too old"), "ttl", n("1")))
		w.put(key("c", "none"))
		foretold := map[string]time.Time{}
		for _, row := range w.db.Items("cache") {
			pk, _ := row.Str("pk")
			sk, _ := row.Str("sk")
			id := attr.Item{"pk": attr.S(pk), "sk": attr.S(sk)}
			dies, deletion := w.db.Fate(ddbfake.Row{Table: "cache", Key: id})
			if pk == "c" {
				if !dies.IsZero() || !deletion.IsZero() {
					t.Errorf("%v: %s is due at %v and goes at %v, want neither", lag, sk, dies, deletion)
				}
				continue
			}
			if want := fakeclock.Epoch.Add(time.Hour); !dies.Equal(want) {
				t.Errorf("%v: %s is due at %v, want %v", lag, sk, dies, want)
			}
			if !deletion.IsZero() {
				foretold[sk] = deletion
			}
		}
		w.clock.Advance(1000 * time.Hour)
		w.db.Items("cache")
		happened := map[string]time.Time{}
		for _, c := range w.db.Changes() {
			if c.Cause == ddbfake.CauseTTL {
				sk, _ := c.Key.Str("sk")
				happened[sk] = c.Time
			}
		}
		if d := cmp.Diff(foretold, happened); d != "" {
			t.Errorf("%v: deletions (-foretold +happened):\n%s", lag, d)
		}
	}
	w := lagWorld(t, ddbfake.LagAtOnce, 7, 1)
	for _, nobody := range []struct {
		table string
		key   attr.Item
	}{{"stash", attr.Item{"pk": attr.S("a"), "sk": attr.S("000")}}, {"cache", attr.Item{"pk": attr.S("a")}},
		{"cache", attr.Item{"pk": attr.S("x"), "sk": attr.S("y")}}} {
		dies, deletion := w.db.Fate(ddbfake.Row{Table: nobody.table, Key: nobody.key})
		if !dies.IsZero() || !deletion.IsZero() {
			t.Errorf("%s %v is due at %v and goes at %v, want neither", nobody.table, nobody.key, dies, deletion)
		}
	}
}
