package invariant

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// done lists the invariants whose smallest violation has already done its harm.
var done = []string{"lock-theft", "monotonic-publication", "freshness", "single-flight", "mutual-exclusion"}

// Smallest makes the smallest violations of some invariants, and compares them with docs/INVARIANTS.md. A key of made
// is the name of an invariant or, for its second line in the document, that name and a star.
func Smallest(t *testing.T, all []Invariant, made map[string]Evidence) {
	t.Helper()
	data, err := os.ReadFile("../../docs/INVARIANTS.md")
	if err != nil {
		t.Fatal(err)
	}
	lines, name := map[string][]string{}, ""
	_, table, _ := strings.Cut(string(data), "| invariant | the smallest violation | who is harmed |\n|---|---|---|\n")
	for line := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 {
			break
		}
		key := strings.Trim(cells[0], "| `")
		if key == "" {
			key = name + "*"
		}
		name, lines[key] = key, cells
	}
	for _, inv := range all {
		for _, key := range []string{inv.Name, inv.Name + "*"} {
			ev, has := made[key]
			if has != (lines[key] != nil) || !has && key == inv.Name {
				t.Errorf("%s: made here: %v; the line in docs/INVARIANTS.md is %q", key, has, lines[key])
			}
			if !has || lines[key] == nil {
				continue
			}
			ev.Recipe = true
			f := inv.Check(ev)
			rule := strings.HasPrefix(lines[key][2], "nobody, a rule of the recipe")
			if f.Verdict != Violated || f.Rule != rule ||
				rule != strings.Contains(f.Why, "a rule of the recipe; nobody is harmed") {
				t.Errorf("%s: %v (%s), harm %d; the line in docs/INVARIANTS.md is %q", key, f.Verdict, f.Why,
					f.Harm(), lines[key])
			}
			if done := slices.Contains(done, key); (f.Harm() == 2) != done {
				t.Errorf("%s: harm %d, want 2: %t", key, f.Harm(), done)
			}
			// A half that is a rule counts only where the recipe is promised.
			ev.Recipe = false
			if f := inv.Check(ev); (f.Verdict == Violated) != (!rule || inv.Rule) {
				t.Errorf("%s, unless promised: %v (%s)", key, f.Verdict, f.Why)
			}
		}
	}
}

func TestSmallestViolationsOfLocksAndCalls(t *testing.T) {
	locks := func(settle time.Duration, parts ...[]told) Evidence {
		return promised(LockTerms{}, Record{History: of(join(parts...)...), Settle: settle})
	}
	asked, refused := history.Kind(mark.EventLockAsked), history.Kind(mark.EventLockRefused)
	Smallest(t, append(OfLocks(), OfCalls()...), map[string]Evidence{
		"mutual-exclusion": locks(0, takes(0, "alice", "a", 0), takes(time.Second, "bob", "b", 0)),
		"guarded-write": locks(0, takes(0, "alice", "a", 1), takes(11*time.Second, "bob", "b", 2),
			is(12*time.Second, "bob", mark.EventGuardedWrite, "b", 2),
			is(13*time.Second, "alice", mark.EventGuardedWrite, "a", 1)),
		"kept-lease": locks(0, takes(0, "alice", "a", 0), is(time.Second, "alice", mark.EventLockLost, "a", 0)),
		"free-lock":  locks(0, is(0, "alice", asked, "a", 0), is(0, "alice", refused, "a", 0)),
		"lock-liveness": locks(time.Second, is(0, "visitor", history.Settled, "", 0),
			is(0, "visitor", asked, "a", 0), is(2*time.Second, "visitor", refused, "a", 0)),
		"effect-once":   calls(t, alicesCall+"2 bob asks a\n2 bob begins\n2 bob happens r2"),
		"same-result":   calls(t, alicesCall+"2 bob asks a\n2 bob begins\n2 bob happens r2\n2 bob told r2"),
		"same-payload":  calls(t, alicesCall+"2 bob asks b\n2 bob told r1"),
		"free-call":     calls(t, "0 alice asks a\n0 alice refused"),
		"call-liveness": calls(t, "0 visitor settled\n1 visitor asks a\n30 visitor refused"),
	})
}

// TestStatementsAreShort: a statement is read at a whiteboard, and printed with each violation.
func TestStatementsAreShort(t *testing.T) {
	for _, inv := range slices.Concat(All(), OfLocks(), OfCalls()) {
		if n := len(strings.Fields(inv.Statement)); n > 25 {
			t.Errorf("%s: %d words, want at most 25: %s", inv.Name, n, inv.Statement)
		}
	}
}
