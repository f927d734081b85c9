package invariant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

func ttl(v attr.Value) attr.Item { return attr.Item{"ttl": v} }

func lockUntil(expires, ttl int64) attr.Item {
	return attr.Item{"lease_token": attr.S("a1"), "lease_expires_at": attr.Int(expires), "ttl": attr.Int(ttl)}
}

func TestTTLWellFormedPasses(t *testing.T) {
	for _, test := range []judged{
		{name: "none", log: newLog().lock("alice", "a1", 30*second).publish("alice", "1")},
		{name: "META at the end of its freshness", log: newLog().page("alice", "1", ttl(attr.Int(in(60*second))))},
		{name: "VER at the end of its freshness",
			log: newLog().write("alice", "VER#1", attr.Item{
				"generated_at": attr.Int(in(0)), "revalidate_seconds": attr.Int(60), "ttl": attr.Int(in(60 * second)),
			})},
		{name: "LOCK at the end of its lease", log: newLog().write("alice", "LOCK",
			lockUntil(in(30*second), in(30*second)))},
		{name: "LOCK without an end, at any time",
			log: newLog().write("alice", "LOCK",
				attr.Item{"lease_token": attr.S("a1"), "lease_expires_at": attr.NULL{}, "ttl": attr.Int(in(0))})},
		{name: "the first second", log: newLog().write("alice", "REQ#1", ttl(attr.Int(1)))},
		{name: "REQ, at any time", log: newLog().write("alice", "REQ#1", ttl(attr.Int(in(0))))},
		{name: "what an invalidation leaves", log: newLog().write("alice", "META",
			attr.Item{"version": attr.Int(1), "revalidate_seconds": attr.Int(0), "ttl": attr.Int(in(0))})},
		{name: "the last second of the year 9999", log: newLog().page("alice", "1", ttl(attr.Int(253402300799)))},
		{name: "somebody else's row", log: newLog().write("alice", "SESSION", ttl(attr.S("soon")))},
		{name: "a row that is deleted",
			log: newLog().write("alice", "LOCK", lockUntil(in(30*second), in(30*second))).unlock("bob").sweep("META")},
	} {
		test.want = invariant.OK
		test.check(t, invariant.Named("ttl-well-formed"))
	}
}

func TestTTLWellFormedCatches(t *testing.T) {
	for _, test := range []judged{
		{name: "META a second too early", log: newLog().page("alice", "1", ttl(attr.Int(in(59*second)))),
			why: []string{"alice", "META", "1s before", "fresh"}, show: []int{1}},
		{name: "META a nanosecond too early", log: newLog().page("alice", "1",
			attr.Item{rowmap.GeneratedNanos: attr.Int(1), "ttl": attr.Int(in(60 * second))}),
			why: []string{"1ns before"}, show: []int{1}},
		{name: "LOCK without an end, in milliseconds", why: []string{"epoch seconds"}, show: []int{1},
			log: newLog().write("alice", "LOCK", attr.Item{
				"lease_token": attr.S("a1"), "lease_expires_at": attr.NULL{}, "ttl": attr.Int(in(0) * 1000),
			})},
		{name: "what an invalidation leaves, in milliseconds", why: []string{"epoch seconds"}, show: []int{1},
			log: newLog().write("alice", "META", attr.Item{"version": attr.Int(1), "ttl": attr.Int(in(0) * 1000)})},
		{name: "VER a second too early",
			log: newLog().write("alice", "VER#1", attr.Item{
				"generated_at": attr.Int(in(0)), "revalidate_seconds": attr.Int(60), "ttl": attr.Int(in(59 * second)),
			}),
			why: []string{"VER#1", "1s before"}, show: []int{1}},
		{name: "LOCK a second too early", log: newLog().write("alice", "LOCK", lockUntil(in(30*second), in(29*second))),
			why: []string{"LOCK", "1s before the end of its lease"}, show: []int{1}},
		{name: "a heartbeat that leaves the ttl behind",
			log: newLog().write("alice", "LOCK", lockUntil(in(30*second), in(30*second))).write("alice", "LOCK",
				lockUntil(in(50*second), in(30*second))),
			why: []string{"20s before"}, show: []int{1, 2}},
		{name: "in milliseconds", log: newLog().page("alice", "1", ttl(attr.Int(in(60*second)*1000))),
			why: []string{"looks like milliseconds"}, show: []int{1}},
		{name: "a string", log: newLog().page("alice", "1", ttl(attr.S("2000000060"))),
			why: []string{"epoch seconds"}, show: []int{1}},
		{name: "a fraction", log: newLog().page("alice", "1", ttl(fraction)),
			why: []string{"epoch seconds"}, show: []int{1}},
		{name: "nought", log: newLog().write("alice", "REQ#1", ttl(attr.Int(0))),
			why: []string{"REQ#1"}, show: []int{1}},
		{name: "the second of two rows of a transaction",
			log: func() *changeLog {
				l := newLog()
				return l.together(func() {
					l.page("alice", "1", ttl(attr.Int(in(60*second)))).write("alice", "LOCK",
						lockUntil(in(30*second), in(29*second)))
				})
			}(),
			why: []string{"LOCK"}, show: []int{1, 2}},
	} {
		test.want = invariant.Violated
		test.check(t, invariant.Named("ttl-well-formed"))
	}
}

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
