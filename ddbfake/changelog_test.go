package ddbfake_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// However many changes there were, the latest ones are kept, and not many more. Each keeps its number.
func TestKeepChanges(t *testing.T) {
	const keep = 10
	w := worldOf(t, ddbfake.Options{KeepChanges: keep})
	early := []ddbfake.Change(nil)
	for i := 1; i <= 200; i++ {
		w.put(with(key("a", "b"), "v", n(fmt.Sprint(i))))
		log := w.db.Changes()
		if i <= keep && len(log) != i || i > keep && (len(log) < keep || len(log) > 2*keep) {
			t.Fatalf("of %d changes %d are kept", i, len(log))
		}
		for j, c := range log {
			seq := i - len(log) + j + 1
			if v, _ := c.After.Int("v"); c.Seq != seq || v != int64(seq) {
				t.Fatalf("after %d changes, at %d: got seq %d of version %d, want %d", i, j, c.Seq, v, seq)
			}
		}
		if got := w.db.ChangesSince(i - 3); i > 3 && (len(got) != 3 || got[0].Seq != i-2) {
			t.Fatalf("since %d: got %d changes", i-3, len(got))
		}
		if got := w.db.ChangesSince(i); len(got) != 0 {
			t.Fatalf("since the last: got %d changes", len(got))
		}
		if i == keep {
			early = log
		}
	}
	for i, c := range early {
		if v, _ := c.After.Int("v"); v != int64(i+1) {
			t.Errorf("a slice that was returned has changed: version %d at %d", v, i)
		}
	}
	if got := w.db.ChangesSince(0); len(got) == 0 || got[0].Seq <= 1 {
		t.Error("what was dropped came back")
	}
}

func TestKeepOneChange(t *testing.T) {
	w := worldOf(t, ddbfake.Options{KeepChanges: 1, Lag: ddbfake.LagAtOnce})
	w.enableTTL()
	for i := range 50 {
		w.put(with(key("a", fmt.Sprint(i)), "ttl", due(0)))
	}
	w.clock.Advance(time.Minute)
	log := w.db.Changes()
	if n := len(log); n < 1 || n > 2 || log[n-1].Seq != 100 || log[n-1].Cause != ddbfake.CauseTTL {
		t.Errorf("got %d changes, the last %+v", n, log[n-1])
	}
	if rows := w.db.Items("cache"); len(rows) != 0 {
		t.Errorf("%d rows are left", len(rows))
	}
}

// A snapshot has the log of its instant, and every DB that goes on from it has the same numbers.
func TestKeepChangesOfSnapshots(t *testing.T) {
	w := worldOf(t, ddbfake.Options{KeepChanges: 4})
	version := func(i int) values { return with(key("a", "b"), "v", n(fmt.Sprint(i))) }
	for i := 1; i <= 7; i++ {
		w.put(version(i))
	}
	kept := w.db.Snapshot()
	for i := 8; i <= 30; i++ {
		w.put(version(i))
	}
	other := ddbfake.New(ddbfake.Options{})
	other.Restore(kept)
	w.db.Restore(kept)
	for _, db := range []*ddbfake.DB{w.db, other} {
		must.OK(t, db.Put("cache", fromSDK(t, with(key("a", "b"), "v", n("80")))))
		log := db.Changes()
		last := log[len(log)-1]
		if v, _ := last.After.Int("v"); last.Seq != 8 || v != 80 {
			t.Errorf("got seq %d of version %d, want 8 of 80", last.Seq, v)
		}
		if before, _ := last.Before.Int("v"); before != 7 {
			t.Errorf("before it was version %d, want 7", before)
		}
	}
}

// A lagging replica is never further behind than the beginning of the log.
func TestReplicaOfBoundedLog(t *testing.T) {
	w := worldOf(t, ddbfake.Options{KeepChanges: 2})
	for i := 1; i <= 9; i++ {
		w.put(with(key("a", "b"), "v", n(fmt.Sprint(i))))
	}
	w.db.SetReplicaLag(time.Hour)
	oldest, _ := w.db.Changes()[0].Before.Int("v")
	if got, _ := w.get(key("a", "b")).Int("v"); got != oldest || got < 9-4 {
		t.Errorf("read version %d, want %d: the oldest that the log knows", got, oldest)
	}
	w.db.SetReplicaLag(0)
	w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultStaleRead})
	if got, _ := w.get(key("a", "b")).Int("v"); got != 8 {
		t.Errorf("a stale read saw version %d, want 8", got)
	}
}
