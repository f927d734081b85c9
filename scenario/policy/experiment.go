package policy

import (
	"fmt"
	"time"
)

// Experiment is a policy on a workload, with all that decides about cost and delay.
type Experiment struct {
	// Policy is the one that is measured.
	Policy Policy
	// Workload reads keys and changes their data.
	Workload Workload
	// Render is how long a render takes. It reads the data at its beginning.
	Render Dist
	// Store is the table that the values are kept in.
	Store Store
	// Tier is what each node keeps in its memory, in front of the store. The zero value is none.
	Tier Tier
	// Prices turns requests, storage and renders into money. The zero value prices nothing.
	Prices Prices
	// WarmUp is simulated first and not measured. Lasts is measured.
	WarmUp, Lasts time.Duration
}

// Store is how the table behaves.
type Store struct {
	// Latency is how long a read of a row takes.
	Latency time.Duration
	// Bytes is the size of a row. Bodies lie elsewhere. 0 counts as one unit for each request.
	Bytes int
	// Eventual has readers read eventually consistent, for half the units.
	Eventual bool
	// Retention is how long after it was stored a row may be deleted (its ttl). 0 keeps rows for ever.
	Retention time.Duration
	// Lag is how much later it is deleted, as DynamoDB does; readers get it until then. 0 is exact.
	Lag Dist
	// Throttles has the store refuse requests beyond the limits of DynamoDB for one partition key: 3,000 read units and
	// 1,000 write units in a second. Renders are not refused.
	Throttles bool
	// Redis hides a row from readers as soon as it may be deleted, and deletes it when a reader asks for it or the
	// active cycle finds it. Lag counts for nothing then.
	Redis bool
}

// Tier is an LRU cache in the memory of each node, with a lifetime of its own.
type Tier struct {
	// Nodes is how many nodes there are. Each read comes to a random one. 0 counts as 1.
	Nodes int
	// Keys is how many keys each node keeps. 0 is no tier.
	Keys int
	// Lifetime is how long a copy is served without a look at the store.
	Lifetime time.Duration
}

// validate returns what is wrong with the experiment.
func (x *Experiment) validate() error {
	switch {
	case x.Workload == nil:
		return fmt.Errorf("policy: found no workload, expected one\nhint: policy.Poisson{Reads: 10, Changes: 0.01} reads one key")
	case x.Policy.Lifetime == nil || x.Policy.Refresh == nil:
		return fmt.Errorf("policy: found policy %q without a lifetime or without a refresh, expected both\n"+
			"hint: policy.Named lists complete ones", x.Policy.Name)
	case x.Lasts <= 0:
		return fmt.Errorf("policy: found a run that lasts %s, expected more than 0s", x.Lasts)
	case x.WarmUp < 0 || x.Store.Retention < 0 || x.Store.Latency < 0 || x.Tier.Lifetime < 0:
		return fmt.Errorf("policy: found a negative duration (warm-up %s, retention %s, latency %s, lifetime of the tier %s), "+
			"expected none", x.WarmUp, x.Store.Retention, x.Store.Latency, x.Tier.Lifetime)
	}
	return nil
}
