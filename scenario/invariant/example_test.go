package invariant_test

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// Alice takes a lease of thirty seconds. Ten seconds later, bob deletes her LOCK row. The log of changes suffices to
// judge that.
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
