package live

import (
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// TB is the part of a test that Watch needs: *testing.T, *testing.B and *testing.F have it.
type TB interface {
	ddbfake.TB
	Errorf(format string, args ...any)
}

// Watch judges everything that db's clients write while the test runs. Each Look, and the end of the test, fail the
// test if an invariant is violated or cannot be judged. The message has the invariant's statement, the reason and the
// few changes that show it. If a test wrote nothing that can be judged, it fails as vacuous, unless it was skipped or
// has already failed. A test that took locks but published no page fails in the same way; for a test of locks alone,
// name lock-theft in Options.Invariants. Rows written before a Restore of db are judged, too. Rows that are in the
// table before Watch are known, but not judged.
//
// At the end, the Checker's Summary is written to the test's log. Options.OnBroken, if set, is called, too. When
// Watch's cleanup runs, nothing may write any more. Functions of Cleanup that are registered after Watch run earlier,
// so they may write.
//
//	db := ddbfake.Start(t, ddbfake.Options{Clock: clock})
//	createTable(t, db)
//	live.Watch(t, db, live.Options{Rows: rows})
//	alice, bob := newCache(db.Client(ddbfake.WithActor("alice"))), newCache(db.Client(ddbfake.WithActor("bob")))
//	...
func Watch(t TB, db *ddbfake.DB, o Options) *Checker {
	t.Helper()
	told, next := map[brokenKind]int{}, o.OnBroken
	o.OnBroken = func(b Broken) {
		t.Helper()
		of := brokenKind{b.Invariant.Name, b.Verdict}
		if told[of]++; told[of] == 1 {
			t.Errorf("live.Watch: %s", strings.TrimSuffix(b.String(), "\n"))
		}
		if next != nil {
			next(b)
		}
	}
	c := New(db, o)
	t.Cleanup(func() {
		t.Helper()
		c.Look()
		c.conclude(t, told)
		c.stop()
	})
	return c
}

// conclude fails a test in which nothing was judged, and logs the rest of the findings.
func (c *Checker) conclude(t TB, told map[brokenKind]int) {
	t.Helper()
	found := c.Found()
	more := found.Violations + found.Doubts - len(told)
	switch {
	case more > 0:
		t.Logf("live.Watch: %d more of the same", more)
	case found.Misfit != "":
		t.Errorf("live.Watch: unknown: %s", found.Misfit)
	case found.Verdict() == invariant.Unknown && found.Doubts == 0 && !t.Failed() && !skipped(t):
		t.Errorf("live.Watch: %s", c.vacuous(found))
	}
	if found.Judged == 0 {
		return
	}
	for _, table := range found.Unjudged {
		t.Logf("live.Watch: not judged: %s", table)
	}
	for line := range strings.Lines(c.Summary().String()) {
		t.Logf("live.Watch: %s", strings.TrimSuffix(line, "\n"))
	}
}

// skipped reports whether a test was skipped, if this kind of test can be skipped.
func skipped(t TB) bool {
	s, ok := t.(interface{ Skipped() bool })
	return ok && s.Skipped()
}

// vacuous explains that nothing was judged, and which rows there were instead.
func (c *Checker) vacuous(found Found) string {
	switch {
	case len(c.options.Invariants) == 0:
		return "vacuous: nothing was judged, for Options.Invariants is empty; leave it out to have all of them judged"
	case found.Judged > 0:
		return "vacuous: something is missing without which the test has judged too little:\n  " +
			strings.Join(found.Untold, "\n  ")
	case len(found.Unjudged) > 0:
		return "vacuous: nothing was judged, for no row is known to be a page or a lock; " +
			"say in Options.Rows which ones are, or keep META and LOCK:\n  " + strings.Join(found.Unjudged, "\n  ")
	default:
		return "vacuous: nothing was judged, for nothing was written into this ddbfake since Watch; " +
			"does the code under test have a client of it?"
	}
}
