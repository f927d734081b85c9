package invariant_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// searched is the fingerprint of everything that a search remembers of a run for the invariants that it proves.
func searched(r *run, skew time.Duration) uint64 {
	at := 0
	body := func(name string) (is string) {
		for _, b := range r.bodies {
			if b.Name == name && b.Change < at {
				is = b.Body
			}
		}
		return is
	}
	log, all := r.changes, fingerprint.Hash(0)
	memories := invariant.Memories(invariant.Promise{MaxClockSkew: skew}, true, nil, body)
	changes := func(until int) {
		for ; len(log) > 0 && log[0].Seq <= until; log = log[1:] {
			at = log[0].Seq
			for _, m := range memories {
				m.Change(log[0])
			}
		}
	}
	for _, e := range r.told.Events() {
		changes(e.Change)
		for _, m := range memories {
			m.Event(e)
		}
	}
	changes(len(r.changes))
	for _, m := range memories {
		all = all.Number(m.Fingerprint(r.now.Add(time.Second))) // what mattered only in the last second does not count
	}
	return uint64(all)
}

// A search goes on from only one of two moments with equal rows, bodies and memories. Here the rows are equal and the
// same happens next, but only one of the two runs is violated then. So the memories must differ.
func TestWhatDecidesALaterVerdictIsRemembered(t *testing.T) {
	publish := func(r *run, actor, body string, with attr.Item) *run {
		return r.take(actor).do(func(l *changeLog) {
			l.together(func() { l.page(actor, body, with).unlock(actor) })
		})
	}
	tagged := func(r *run, body, etag string) *run {
		return publish(r, "alice", body, attr.Item{"etag": attr.S(etag)})
	}
	stored := func() *run { return newRun().makes("alice", "1").makes("alice", "2").makes("alice", "3") }
	generated := func(r *run, body string, at time.Duration) *run {
		return publish(r, "alice", body, attr.Item{"generated_at": attr.Int(in(at))})
	}
	turn := func(r *run, actor string) *run { return r.take(actor).give(actor) }
	version := func(r *run, name string, at time.Duration) *run {
		return r.take("alice").do(func(l *changeLog) {
			l.together(func() { l.version("alice", name).point("alice", name, at).unlock("alice") })
		})
	}
	unseen := func(r *run, name string) *run {
		return r.take("alice").do(func(l *changeLog) { l.version("alice", name).unlock("alice") })
	}
	wrote := func(actor, first, last string) *run { // carol makes two versions of the page, and actor regenerates it
		r := newRun().asks("carol").renders("carol", first).gets("carol", first).wait(10*second).with("r", "h").
			asks(actor).renders(actor, "new").gets(actor, "new").with("", "")
		return r.asks("carol").renders("carol", last).gets("carol", last)
	}
	asked := func() *run { // alice regenerates the page, which carol has made before
		return newRun().renders("carol", "old").wait(10*second).with("r", "h").asks("alice").renders("alice", "new")
	}
	reads := func(actor string) func(*run) *run {
		return func(r *run) *run { return r.wait(20*second).asks(actor).getsStale(actor, "old") }
	}
	for _, test := range []struct {
		name, invariant string
		skew            time.Duration
		a, b            *run
		then            func(r *run) *run
	}{
		{name: "the etag of an earlier page", invariant: "no-dangling-pointer",
			a: tagged(tagged(stored(), "1", "e"), "2", "f"), b: tagged(tagged(stored(), "1", "g"), "2", "f"),
			then: func(r *run) *run { return tagged(r, "3", "e") }},
		{name: "the page of an earlier etag", invariant: "no-dangling-pointer",
			a: tagged(tagged(stored(), "1", "e"), "2", "f"), b: tagged(tagged(stored(), "3", "e"), "2", "f"),
			then: func(r *run) *run { return tagged(r, "3", "e") }},
		{name: "whose lease is older than the page's", invariant: "monotonic-publication",
			a:    turn(newRun(), "bob").take("alice").shows("alice", "1"),
			b:    turn(newRun().take("alice").shows("alice", "1"), "bob"),
			then: func(r *run) *run { return r.do(func(l *changeLog) { l.meta("bob", "2") }) }},
		{name: "which of two leases is the older one, if both are newer than the page's",
			invariant: "monotonic-publication",
			a:         turn(turn(newRun(), "bob"), "carol"),
			b:         turn(turn(newRun(), "carol"), "bob"),
			then:      func(r *run) *run { return r.do(func(l *changeLog) { l.meta("carol", "1").meta("bob", "2") }) }},
		{name: "the newest generation that was visible", invariant: "monotonic-publication", skew: second,
			a:    generated(generated(newRun(), "1", 100*second), "2", 99*second),
			b:    generated(generated(newRun(), "1", 99*second), "2", 99*second),
			then: func(r *run) *run { return generated(r, "3", 97*second) }},
		{name: "which versions were visible", invariant: "monotonic-publication",
			a:    version(version(version(newRun(), "1", 0), "2", 100*second), "3", 200*second),
			b:    version(unseen(version(newRun(), "1", 0), "2"), "3", 200*second),
			then: func(r *run) *run { return r.take("bob").do(func(l *changeLog) { l.rollback("bob", "1", 0) }) }},
		{name: "whose the page is", invariant: "monotonic-publication",
			a:    turn(newRun(), "bob").take("alice").shows("alice", "1"),
			b:    turn(newRun(), "alice").take("bob").shows("bob", "1"),
			then: func(r *run) *run { return r.do(func(l *changeLog) { l.meta("bob", "2") }) }},
		{name: "that a node was told of its own write", invariant: "read-your-writes",
			a: asked().gets("alice", "new").with("", ""), b: asked().happens("alice", history.Failed).with("", ""),
			then: reads("alice")},
		{name: "who was told of its own write", invariant: "read-your-writes",
			a: wrote("alice", "old", "x"), b: wrote("bob", "old", "x"), then: reads("alice")},
		{name: "which renderings are older than a write", invariant: "read-your-writes",
			a: wrote("alice", "old", "x"), b: wrote("alice", "x", "old"), then: reads("alice")},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.a.rows, test.b.rows, cmp.AllowUnexported(place{})); diff != "" {
				t.Fatalf("the rows differ: %s", diff)
			}
			a, b := test.a.evidence(), test.b.evidence()
			a.MaxClockSkew, b.MaxClockSkew = test.skew, test.skew
			checkPast(t, invariant.Named(test.invariant), invariant.Past{Name: test.name, A: a, B: b})
			if a, b := searched(test.a, test.skew), searched(test.b, test.skew); a == b {
				t.Errorf("both are remembered as %x", a)
			}
			var got [2]invariant.Verdict
			for i, r := range []*run{test.a, test.b} {
				ev := test.then(r).evidence()
				ev.MaxClockSkew = test.skew
				got[i] = invariant.Named(test.invariant).Check(ev).Verdict
			}
			if (got[0] == invariant.Violated) == (got[1] == invariant.Violated) {
				t.Errorf("got %v and %v, want one of them violated", got[0], got[1])
			}
		})
	}
}
