package invariant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/history"
)

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
