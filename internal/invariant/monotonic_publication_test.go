package invariant_test

import (
	"maps"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// generated is a log of two generations, one after the other. The generated_at of the second is the given time after
// that of the first.
func generated(later time.Duration) *changeLog {
	made := func(at time.Duration) attr.Item { return attr.Item{"generated_at": attr.Int(in(at))} }
	l := newLog().at(20*second).lock("alice", "a1", 50*second)
	l.together(func() { l.page("alice", "1", made(20*second)).unlock("alice") }).lock("bob", "b1", 50*second)
	return l.together(func() { l.page("bob", "2", made(20*second+later)).unlock("bob") })
}

// three is a log of three versions, generated at 0 s, 100 s and 200 s, and of carol's lease after them.
func three() *changeLog {
	return newLog().lock("alice", "a1", 30*second).swap("alice", "1").at(100*second).lock("bob", "b1", 130*second).
		swap("bob", "2").
		at(200*second).lock("alice", "a2", 230*second).swap("alice", "3").at(210*second).lock("carol", "c1", 240*second)
}

// lasting gives a version a ttl.
func (l *changeLog) lasting(version string, until time.Duration) *changeLog {
	row := maps.Clone(l.rows[place{l.region, l.table, l.pk, "VER#" + version}])
	row["ttl"] = attr.Int(in(until))
	return l.write("admin", "VER#"+version, row)
}

func TestMonotonicPublicationPasses(t *testing.T) {
	for _, test := range []judged{
		{name: "one after the other",
			log: newLog().lock("alice", "a1", 30*second).publish("alice", "1").at(second).lock("bob", "b1", 31*second).
				publish("bob", "2")},
		{name: "twice under one lease",
			log: newLog().lock("alice", "a1", 30*second).meta("alice", "1").at(second).meta("alice", "2").
				unlock("alice")},
		{name: "a turn that came to nothing between them",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).lock("bob", "b1", 60*second).unlock("bob").
				at(31*second).lock("alice", "a2", 61*second).publish("alice", "1")},
		{name: "late, and before whoever came after",
			log: newLog().lock("alice", "a1", 30*second).at(40*second).lock("bob", "b1", 70*second).meta("alice", "1").
				publish("bob", "2")},
		{name: "generated in the same second", log: generated(0)},
		{name: "generated 2e before, by two clocks at the ends of the promise", skew: 2 * second,
			log: generated(-4 * second)},
		{name: "2e, in the whole seconds that rows hold", skew: second / 4, log: generated(-second)},
		{name: "2e that are hardly more than a second", skew: second/2 + 1, log: generated(-2 * second)},
		{name: "back to what has been visible",
			log: newLog().lock("alice", "a1", 30*second).swap("alice", "1").at(100*second).
				lock("bob", "b1", 130*second).swap("bob", "2").
				at(110*second).lock("carol", "c1", 140*second).rollback("carol", "1", 0).
				at(120*second).lock("alice", "a2", 150*second).swap("alice", "3")},
		{name: "back to the newest of those before", log: three().rollback("carol", "2", 100*second)},
		{name: "and then to the one before that",
			log: three().rollback("carol", "2", 100*second).lock("carol", "c2", 240*second).rollback("carol", "1", 0)},
		{name: "past a version that is gone", log: three().sweep("VER#2").rollback("carol", "1", 0)},
		{name: "past one whose ttl is over",
			log: three().lasting("1", 210*second).lasting("2", 210*second).rollback("carol", "1", 0)},
		{name: "past one that goes before it",
			log: three().lasting("1", 9999*second).lasting("2", 9998*second).rollback("carol", "1", 0)},
		{name: "past one that has never been visible",
			log: three().write("bob", "VER#2", nil).version("bob", "2").rollback("carol", "1", 0)},
		{name: "past one that clocks within the promise may take for newer", skew: 50 * second,
			log: three().rollback("carol", "1", 0)},
		{name: "past one of the same second", log: newLog().lock("alice", "a1", 30*second).swap("alice", "1").
			lock("bob", "b1", 30*second).swap("bob", "2").
			at(100*second).lock("alice", "a2", 130*second).swap("alice", "3").lock("carol", "c1", 130*second).
			rollback("carol", "1", 0)},
		{name: "past one whose row came after the pointer to the next",
			log: newLog().lock("alice", "a1", 30*second).swap("alice", "1").
				at(100*second).lock("bob", "b1", 130*second).point("bob", "2", 100*second).at(200*second).
				lock("alice", "a2", 230*second).swap("alice", "3").
				version("bob", "2").lock("carol", "c1", 240*second).rollback("carol", "1", 0)},
		{name: "a rollback that is taken back, as far as the log shows",
			log: three().rollback("carol", "2", 100*second).lock("carol", "c2", 240*second).
				rollback("carol", "3", 200*second)},
		{name: "a new version under an old name", log: three().rollback("carol", "1", 210*second)},
		{name: "where no page is visible", log: three().sweep("META").rollback("carol", "1", 0)},
		{name: "each key has an order of its own",
			log: newLog().lock("alice", "a1", 30*second).on("cache", "CACHE#2").lock("bob", "b1", 30*second).
				publish("bob", "2").
				on("cache", "CACHE#1").publish("alice", "1")},
		{name: "an invalidation shows nothing new",
			log: newLog().lock("alice", "a1", 30*second).at(40*second).lock("bob", "b1", 70*second).publish("bob", "2").
				page("alice", "2", attr.Item{"revalidate_seconds": attr.Int(0)})},
		{name: "nor does what it leaves where there is no page",
			log: newLog().write("alice", "META", attr.Item{"version": attr.Int(1), "revalidate_seconds": attr.Int(0)})},
		{name: "a page over one that only was invalidated",
			log: newLog().write("alice", "META", attr.Item{"version": attr.Int(1)}).lock("bob", "b1", 30*second).
				publish("bob", "1")},
		{name: "TTL deletes a page",
			log: newLog().lock("alice", "a1", 30*second).publish("alice", "1").at(9000 * second).sweep("META")},
	} {
		test.want = invariant.OK
		test.check(t, invariant.Named("monotonic-publication"))
	}
}

func TestMonotonicPublicationCatches(t *testing.T) {
	for _, test := range []judged{
		{name: "whoever had the lease before publishes after",
			log: newLog().lock("alice", "a1", 30*second).at(30*second).lock("bob", "b1", 60*second).publish("bob", "2").
				at(31*second).meta("alice", "1"),
			why: []string{"alice published", "bob"}, show: []int{1, 2, 3, 4, 5}},
		{name: "a pointer to a version that is late",
			log: newLog().lock("alice", "a1", 30*second).version("alice", "1").at(30*second).
				lock("bob", "b1", 60*second).swap("bob", "2").
				point("alice", "1", 0),
			why: []string{"alice published"}, show: []int{1, 2, 3, 4, 5, 6, 7}},
		{name: "a rollback out of turn",
			log: newLog().lock("alice", "a1", 30*second).swap("alice", "1").at(30*second).
				lock("carol", "c1", 60*second).
				at(60*second).lock("bob", "b1", 90*second).swap("bob", "2").point("carol", "1", 0),
			why: []string{"carol published", "bob"}, show: []int{5, 6, 7, 8, 9, 10}},
		{name: "generated a second before what is visible", log: generated(-second),
			why: []string{"bob published", "1s before", "at most 0s"}, show: []int{2, 4, 5}},
		{name: "a second more than 2e before", skew: 2 * second, log: generated(-5 * second),
			why: []string{"5s before", "at most 4s"}, show: []int{2, 4, 5}},
		{name: "two seconds before, where 2e is one", skew: second / 2, log: generated(-2 * second),
			why: []string{"2s before", "at most 1s"}, show: []int{2, 4, 5}},
		{name: "before what was visible once, and has been set back",
			log: newLog().lock("alice", "a1", 30*second).swap("alice", "1").at(100*second).
				lock("bob", "b1", 130*second).swap("bob", "2").
				at(110*second).lock("carol", "c1", 140*second).rollback("carol", "1", 0).
				lock("alice", "a2", 140*second).version("alice", "3").rollback("alice", "3", 50*second),
			why: []string{"alice published", "50s before"}, show: []int{10, 12, 13, 14}},
		{name: "a rollback that goes too far", log: three().rollback("carol", "1", 0),
			why:  []string{"carol set the page back", "3m20s before", "VER#2", "1m40s before"},
			show: []int{7, 11, 13, 14}},
		{name: "as far as clocks within the promise allow", skew: 49 * second, log: three().rollback("carol", "1", 0),
			why: []string{"carol set the page back", "VER#2"}, show: []int{7, 11, 13, 14}},
		{name: "past one that outlasts it",
			log: three().lasting("1", 9999*second).lasting("2", 9999*second).rollback("carol", "1", 0),
			why: []string{"carol set the page back", "VER#2"}, show: []int{7, 11, 13, 14, 15, 16}},
		{name: "past a version that only another's rollback had shown again",
			log: three().rollback("carol", "2", 100*second).lock("alice", "a3", 240*second).swap("alice", "4").
				lock("carol", "c2", 240*second).rollback("carol", "2", 100*second),
			why: []string{"carol set the page back", "VER#3"}, show: []int{11, 18, 20, 21}},
		{name: "by an actor that never took the lease", log: three().point("dave", "1", 0),
			why: []string{"dave set the page back", "VER#2"}, show: []int{1, 8, 9, 10, 11, 12, 13, 14}},
	} {
		test.want = invariant.Violated
		test.check(t, invariant.Named("monotonic-publication"))
	}
}

func TestMonotonicPublicationDoesNotGuess(t *testing.T) {
	for _, test := range []judged{
		{name: "a publisher that never took the lease", why: []string{"change 1", "alice"},
			log: newLog().meta("alice", "1")},
		{name: "one beside those that did", why: []string{"change 4", "carol"},
			log: newLog().lock("alice", "a1", 30*second).publish("alice", "1").meta("carol", "2")},
		{name: "a page that does not say when it was made", why: []string{"change 2", "generated_at"},
			log: newLog().lock("alice", "a1", 30*second).write("alice", "META", attr.Item{"s3_key": attr.S("1")})},
	} {
		test.want = invariant.Unknown
		test.check(t, invariant.Named("monotonic-publication"))
	}
}

// The log does not say who was asked for a rollback: the history does.
func TestARollbackThatLeadsForward(t *testing.T) {
	back := func(asked ...string) invariant.Evidence {
		r := &run{changeLog: three().rollback("carol", "2", 100*second)}
		for _, actor := range asked {
			r.happens(actor, history.RollingBack)
		}
		return r.do(func(l *changeLog) { l.lock("carol", "c2", 240*second).rollback("carol", "3", 200*second) }).
			evidence()
	}
	monotonic := invariant.Named("monotonic-publication")
	checkFinding(t, monotonic.Check(back("carol")), invariant.Violated, []int{14, 16, 17}, nil)
	checkFinding(t, monotonic.Check(back("bob")), invariant.OK, nil, nil)
	// It is not known when the replaced version was generated.
	silent := &run{changeLog: three()}
	silent.happens("carol", history.RollingBack)
	silent.do(func(l *changeLog) {
		l.version("carol", "4").write("carol", "META", attr.Item{"current_sk": attr.S("VER#4")}).
			rollback("carol", "3", 200*second)
	})
	checkFinding(t, monotonic.Check(silent.evidence()), invariant.Unknown, nil, nil)
	ev := back("carol")
	ev.MaxClockSkew = 50 * second
	checkFinding(t, monotonic.Check(ev), invariant.OK, nil, nil)
}

func TestMonotonicPublicationRemembers(t *testing.T) {
	runs := func(l *changeLog) *run { return &run{changeLog: l} }
	late := func(wait bool) *run { // wait: the row of version 1 is put only after version 2 is shown
		l := newLog().lock("alice", "a1", 30*second).point("alice", "1", 0)
		if !wait {
			l.version("alice", "1")
		}
		l.lock("alice", "a1", 30*second).swap("alice", "2")
		if wait {
			l.at(0).version("alice", "1")
		}
		return runs(l)
	}
	shown := func(at time.Duration) *run { // with a generated_at other than that of its row
		return runs(newLog().lock("alice", "a1", 30*second).version("alice", "1").point("alice", "1", at).
			lock("alice", "a1", 30*second).swap("alice", "2"))
	}
	both := func(first bool) *run {
		l := newLog().lock("alice", "a1", 30*second)
		return runs(l.together(func() {
			if first {
				l.version("alice", "1").point("alice", "1", 0)
			} else {
				l.point("alice", "1", 0).version("alice", "1")
			}
		}))
	}
	for _, test := range []past{
		{name: "a version that came late", a: late(true), b: late(false)},
		{name: "when a version was generated as it was shown", a: shown(-second), b: shown(0)},
		{name: "who was asked for a rollback", a: newRun().happens("alice", history.RollingBack),
			b: newRun().happens("bob", history.RollingBack)},
		{name: "and not how often", a: newRun().happens("alice", history.RollingBack), equal: true,
			b: newRun().happens("alice", history.RollingBack).happens("alice", history.RollingBack)},
		{name: "the order of rows within a transaction", a: both(true), b: both(false), equal: true},
	} {
		test.check(t, invariant.Named("monotonic-publication"))
	}
}
