package invariant_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/history"
)

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
