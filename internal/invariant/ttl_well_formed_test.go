package invariant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

func TestTTLIsGC(t *testing.T) {
	story := func() *run { return newRun().asks("alice").take("alice").renders("alice", "1").gets("alice", "1") }
	swept := newRun().take("carol").do(func(l *changeLog) { l.sweep("LOCK") }).asks("alice").take("alice").
		renders("alice", "1").gets("alice", "1")
	abroad := story().told.Events()
	for i := range abroad {
		abroad[i].Time = abroad[i].Time.In(time.FixedZone("", 3600))
	}
	for _, test := range []struct {
		name   string
		other  []history.Event
		ended  string
		want   invariant.Verdict
		why    string
		events []int
	}{
		{name: "the same", other: story().told.Events()},
		{name: "the same at other places in the log", other: swept.told.Events()},
		{name: "the same in another time zone", other: abroad},
		{name: "another body", other: newRun().asks("alice").renders("alice", "2").told.Events(),
			want: invariant.Violated, why: "event 2", events: []int{2}},
		{name: "another time", other: story().wait(second).gets("bob", "1").told.Events(), want: invariant.Violated,
			why: "more happens: bob", events: []int{3}},
		{name: "less", other: newRun().asks("alice").told.Events(), want: invariant.Violated,
			why: "nothing happens any more after 1", events: []int{2}},
		{name: "nothing", want: invariant.Violated, why: "after 0", events: []int{1}},
		{name: "later", other: newRun().wait(1).asks("alice").told.Events(), want: invariant.Violated,
			why: "event 1", events: []int{1}},
		{name: "the schedule leads elsewhere", other: newRun().asks("alice").told.Events(),
			ended: "step 9 is not possible", want: invariant.Violated, why: "step 9 is not possible", events: []int{3}},
		{name: "other decisions come before where it leads", other: newRun().asks("bob").told.Events(),
			ended: "step 9 is not possible", want: invariant.Violated, why: "event 1", events: []int{1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ev := story().evidence()
			ev.Lags = []recorder.Lagged{{Lag: "1h", History: story().told.Events()},
				{Lag: "48h", History: test.other, Diverged: test.ended}}
			got := invariant.Named("ttl-is-gc").Check(ev)
			checkFinding(t, got, max(test.want, invariant.OK), nil, test.events)
			if test.want == invariant.Violated && (!strings.Contains(got.Why, "48h") ||
				!strings.Contains(got.Why, test.why)) {
				t.Errorf("%q does not mention 48h and %q", got.Why, test.why)
			}
		})
	}
}

func TestTTLIsGCWhereNothingHappens(t *testing.T) {
	for _, other := range []recorder.Lagged{{History: newRun().asks("alice").told.Events()},
		{Diverged: "step 1 is not possible"}} {
		var ev invariant.Evidence
		ev.Lags = []recorder.Lagged{other}
		got := invariant.Named("ttl-is-gc").Check(ev)
		checkFinding(t, got, invariant.Violated, nil, nil)
	}
}
