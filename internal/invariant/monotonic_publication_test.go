package invariant_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// three is a log of three versions, generated at 0 s, 100 s and 200 s, and of carol's lease after them.
func three() *changeLog {
	return newLog().lock("alice", "a1", 30*second).swap("alice", "1").at(100*second).lock("bob", "b1", 130*second).
		swap("bob", "2").
		at(200*second).lock("alice", "a2", 230*second).swap("alice", "3").at(210*second).lock("carol", "c1", 240*second)
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
