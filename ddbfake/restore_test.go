package ddbfake_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
)

func TestOnRestoreSeesWhatGoes(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	start := w.db.Snapshot()
	w.put(with(key("a", "b"), "v", n("1")))
	var got []string
	watch := func(name string) (stop func()) {
		return w.db.OnRestore(func(restore func()) {
			got = append(got, fmt.Sprintf("%s before: %d", name, len(w.db.Changes())))
			restore()
			got = append(got, fmt.Sprintf("%s after: %d", name, len(w.db.Changes())))
		})
	}
	stopFirst, stopSecond := watch("first"), watch("second")
	w.db.Restore(start)
	stopSecond()
	w.put(with(key("a", "b"), "v", n("1")))
	w.db.Reset(ddbfake.Options{Clock: w.clock}, start)
	stopFirst()
	w.db.Restore(start)
	want := []string{"second before: 1", "first before: 1", "first after: 0", "second after: 0", "first before: 1", "first after: 0"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
