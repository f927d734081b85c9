package invariant_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

func TestIdempotentRegeneration(t *testing.T) {
	first := func() *run { // alice has published for r1, with the inputs h
		return newRun().with("r1", "h").asks("alice").claims("alice", "r1", "h").take("alice").makes("alice", "1").
			shows("alice", "1")
	}
	late := func(after time.Duration) *run { // after is the time since the claim
		r := newRun().with("r1", "h").asks("alice").claims("alice", "r1", "h")
		return r.wait(after).take("alice").makes("alice", "1").shows("alice", "1")
	}
	again := func(r *run) *run { return r.asks("bob").take("bob").makes("bob", "2").shows("bob", "2") }
	for _, test := range []struct {
		name            string
		skew, buffer    time.Duration
		run             *run
		want            invariant.Verdict
		changes, events []int
	}{
		{name: "once", run: first()},
		{name: "twice", run: again(first()), want: invariant.Violated, changes: []int{3, 5, 6}},
		{name: "made twice and published once", run: first().take("bob").makes("bob", "2").give("bob")},
		{name: "two names", run: again(first().with("r2", "h"))},
		{name: "once more without a name", run: again(first().with("", ""))},
		{name: "the same name for another tenant's page", run: again(first().of("t1"))},
		{name: "a nanosecond before REQ may go", run: again(first().wait(3600*second - nano)), want: invariant.Violated,
			changes: []int{3, 5, 6}},
		{name: "when REQ may go", run: again(first().wait(3600 * second))},
		{name: "when nodes may take it for gone", skew: 2 * second, buffer: 100 * second,
			run: again(first().wait(3498 * second))},
		{name: "a nanosecond before that", skew: 2 * second, buffer: 100 * second,
			run:  again(first().wait(3498*second - nano)),
			want: invariant.Violated, changes: []int{3, 5, 6}},
		{name: "forgotten and claimed anew at the instant of a late publish",
			run: again(late(3600*second).claims("bob", "r1", "h"))},
		{name: "a nanosecond before it may be forgotten", run: again(late(3600*second-nano).claims("bob", "r1", "h")),
			want: invariant.Violated, changes: []int{3, 6, 7}},
		{name: "without any REQ row", run: again(newRun().with("r1", "h").take("alice").makes("alice", "1").
			shows("alice", "1").wait(9000 * second)),
			want: invariant.Violated, changes: []int{2, 4, 5}},
		{name: "two requests, and one body for both", want: invariant.Unknown, run: first().with("r2", "h").asks("bob").
			claims("bob", "r2", "h").take("bob").makes("bob", "1").shows("bob", "1")},
		{name: "a request's body is made again for none", want: invariant.Unknown,
			run: first().with("", "").take("bob").makes("bob", "1").shows("bob", "1")},
		{name: "a rollback publishes nothing",
			run: newRun().with("r1", "h").makes("alice", "1").do(func(l *changeLog) { l.swap("alice", "1") }).
				with("r2", "h").makes("alice", "2").
				do(func(l *changeLog) { l.swap("alice", "2").rollback("bob", "1", 0) })},

		{name: "two requests, and one name for all bodies", run: newRun().with("r1", "h").makesAs("alice", "page", "1").
			with("r2", "h").makesAs("alice", "page", "2")},
		{name: "twice, and then the name stands for another body",
			run: newRun().with("r1", "h").makesAs("alice", "page", "1").
				makesAs("bob", "page", "2").with("", "").makesAs("bob", "page", "3"), want: invariant.Violated,
			changes: []int{1, 2, 3}},

		{name: "other inputs", run: first().with("r1", "other").asks("bob").renders("bob", "2"),
			want: invariant.Violated, events: []int{4}},
		{name: "the row is claimed for them in time",
			run: newRun().claims("alice", "r1", "h").wait(3600*second).with("r1", "other").asks("bob").
				claims("bob", "r1", "other").renders("bob", "2")},
		{name: "the other's is past its ttl",
			run: first().wait(3600*second).with("r1", "other").asks("bob").renders("bob", "2")},
		{name: "the other's comes later",
			run: newRun().with("r1", "other").asks("bob").renders("bob", "2").wait(second).claims("alice", "r1", "h")},
		{name: "the own was there when it was asked for",
			run: newRun().claims("bob", "r1", "other").wait(second).with("r1", "other").asks("bob").
				wait(2*second).claims("alice", "r1", "h").wait(3*second).renders("bob", "2")},
		{name: "the own was there before",
			run: newRun().claims("bob", "r1", "other").wait(second).claims("alice", "r1", "h").wait(2*second).
				with("r1", "other").asks("bob").renders("bob", "2"), want: invariant.Violated, events: []int{2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ev := test.run.evidence()
			ev.MaxClockSkew, ev.TTLBuffer = test.skew, test.buffer
			if ev.Bodies == nil {
				ev.Bodies = []recorder.Body{{Name: "x"}}
			}
			checkFinding(t, invariant.Named("idempotent-regeneration").Check(ev), max(test.want, invariant.OK),
				test.changes, test.events)
		})
	}
}

func TestIdempotentRegenerationNeedsTheBodies(t *testing.T) {
	ev := newRun().with("r1", "h").take("alice").makes("alice", "1").shows("alice", "1").evidence()
	ev.Bodies = nil
	checkFinding(t, invariant.Named("idempotent-regeneration").Check(ev), invariant.Unknown, nil, nil)
}

// A search takes two moments for one if the code knows the same in both, even if it learnt it at different times. So a
// memory must hold the time of an event if it will be compared with another time later.
func TestTheTimesOfClaimsAndOfQuestionsAreRemembered(t *testing.T) {
	remembered := func(r *run) (sum uint64) {
		ev := r.evidence()
		for _, m := range invariant.Memories(invariant.Promise{}, true, nil, nil) {
			for _, e := range ev.History {
				m.Event(e)
			}
			for _, c := range ev.Changes {
				m.Change(c)
			}
			sum += m.Fingerprint(time.Time{})
		}
		return sum
	}
	ask := func() *run { return newRun().with("r1", "h").asks("alice") }
	if once := ask().claims("alice", "r1", "h"); remembered(once) == remembered(ask().wait(second).claims("alice", "r1",
		"h")) {
		t.Error("a claim is remembered without its time")
	}
	kept := func(until int64) *run {
		return ask().do(func(l *changeLog) {
			l.write("alice", "REQ#r1", attr.Item{"request_hash": attr.S("h"), "ttl": attr.Int(until)})
		}).claims("bob", "r1", "h")
	}
	if remembered(kept(20)) == remembered(kept(21)) {
		t.Error("a claim that another has replaced is remembered without its ttl")
	}
	if remembered(newRun()) == remembered(ask().happens("alice", history.Crashed)) {
		t.Error("what is published from now on would be remembered in one of two equal memories")
	}
	if remembered(ask()) == remembered(newRun().wait(second).with("r1", "h").asks("alice")) {
		t.Error("a question is remembered without its time")
	}
}

// If a question and a change of REQ happen at the same instant, only the log says which came first. The memory does not
// hold this order.
func TestTheOrderOfAnInstantIsNotRemembered(t *testing.T) {
	ev := newRun().with("r1", "h").claims("bob", "r1", "g").asks("alice").claims("bob", "r1", "h").evidence()
	// before is the number of changes before the question; first says whether it is the first question
	remembered := func(before int, first bool) uint64 {
		inv := invariant.Named("idempotent-regeneration")
		m := inv.Memory(invariant.Promise{})
		if !first {
			m.Event(history.Event{Kind: history.Asked, Actor: "carol", Request: "r2"})
		}
		for _, c := range ev.Changes[:before] {
			m.Change(c)
		}
		for _, e := range ev.History {
			m.Event(e)
		}
		for _, c := range ev.Changes[before:] {
			m.Change(c)
		}
		return m.Fingerprint(time.Time{})
	}
	for before := range len(ev.Changes) {
		for _, first := range []bool{false, true} {
			if remembered(before, first) != remembered(len(ev.Changes), first) {
				t.Errorf(
					"asked after %d of %d changes of that instant, first question %v: another memory than after all",
					before, len(ev.Changes), first,
				)
			}
		}
	}
}
