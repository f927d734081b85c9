package invariant_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// Alice takes a lease of thirty seconds. Ten seconds later, bob deletes her LOCK row. The change log is enough to judge
// that.
func ExampleInvariant() {
	start := time.Unix(2_000_000_000, 0).UTC()
	key := attr.Item{"pk": attr.S("CACHE#1"), "sk": attr.S("LOCK")}
	lock := attr.Item{
		"pk": key["pk"], "sk": key["sk"],
		"lease_token":      attr.S("alice-1"),
		"lease_expires_at": attr.Int(start.Unix() + 30),
	}
	changes := []ddbfake.Change{
		{Seq: 1, Request: 1, Time: start, Sent: start, Actor: "alice", Table: "cache", Key: key, After: lock},
		{
			Seq: 2, Request: 2, Time: start.Add(10 * time.Second), Sent: start.Add(10 * time.Second),
			Actor: "bob", Table: "cache", Key: key, Before: lock,
		},
	}
	theft := invariant.Named("lock-theft")
	finding := theft.Check(invariant.Evidence{Changes: changes, MaxClockSkew: time.Second})
	fmt.Println(theft.Name+":", finding.Verdict)
	fmt.Println(finding.Why)
	fmt.Println("shown by changes", finding.Changes)
	// Output:
	// lock-theft: violated
	// bob removed the lock of alice 20s before the end of the lease
	// shown by changes [1 2]
}

// Judge runs the caller's check and reports the caller's invariant, even if it is a modified copy of one of All.
func TestJudgeRunsTheChecksOfCallers(t *testing.T) {
	const why = "no page is good enough"
	stricter := invariant.Named("freshness")
	stricter.Statement, stricter.Check = "never", func(invariant.Evidence) invariant.Finding {
		return invariant.Finding{Verdict: invariant.Violated, Why: why}
	}
	watch := func(invariant.Promise) invariant.Watcher { return nil }
	for _, inv := range []invariant.Invariant{
		stricter, {Name: "own", Statement: "never", Check: stricter.Check, Watch: watch},
	} {
		reports := 0
		invariant.Judge(invariant.Evidence{}, func(of invariant.Invariant, f invariant.Finding) {
			reports++
			if of.Name != inv.Name || of.Statement != inv.Statement || (of.Watch == nil) != (inv.Watch == nil) ||
				of.Check(invariant.Evidence{}).Why != why || f.Why != why {
				t.Errorf("%s: reported %s: %s, %v", inv.Name, of.Name, of.Statement, f)
			}
		}, inv)
		if reports != 1 {
			t.Errorf("%s: %d reports, want one", inv.Name, reports)
		}
	}
}
