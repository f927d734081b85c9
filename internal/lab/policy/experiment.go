package policy

import (
	"fmt"
	"time"
)

// Experiment is a policy on a workload, with everything that decides its cost and delay.
type Experiment struct {
	// Policy is the policy that is measured.
	Policy Policy
	// Workload reads keys and changes their data.
	Workload Workload
	// Render is how long a render takes. It reads the data at its beginning.
	Render Dist
	// Store is the table that the values are kept in.
	Store Store
	// Tier is the cache that each node keeps in its memory, in front of the store. The zero value is none.
	Tier Tier
	// Prices turns requests, storage and renders into money. The zero value prices nothing.
	Prices Prices
	// Steady makes the run begin in the steady state instead of with an empty store: the ages of rows, and of the
	// copies in memory, are drawn from their stationary distribution. The workload must be [Poisson] without a rhythm,
	// and the policy must have an absolute, sliding or hybrid lifetime. Renders in progress are not drawn: give the run
	// a warm-up of some renders and of a copy's lifetime. A value that nothing renders again is a month old.
	Steady bool
	// WarmUp is simulated first and not measured. Lasts is measured.
	WarmUp, Lasts time.Duration
}

// Store is how the table behaves.
type Store struct {
	// Latency is the time that a read of a row takes.
	Latency time.Duration
	// Bytes is the size of a row. Bodies are stored elsewhere. 0 counts as one unit per request.
	Bytes int
	// Eventual makes reads eventually consistent, for half the units.
	Eventual bool
	// Retention is the time after which a stored row may be deleted (its ttl). 0 keeps rows for ever.
	Retention time.Duration
	// Lag is the further time until the row is deleted, as in DynamoDB; readers get it until then. 0 deletes it on
	// time.
	Lag Dist
	// Throttles makes the store refuse requests beyond the limits of DynamoDB for one partition key: 3,000 read units
	// and 1,000 write units in a second. Renders are not refused.
	Throttles bool
	// Redis hides a row from readers as soon as it may be deleted, and deletes it when a reader asks for it or the
	// active cycle finds it. Lag has no effect then.
	Redis bool
}

// Tier is an LRU cache in the memory of each node, with its own lifetime.
type Tier struct {
	// Nodes is the number of nodes. Each read comes to a random one. 0 counts as 1.
	Nodes int
	// Keys is the number of keys that each node keeps. 0 disables the tier.
	Keys int
	// Lifetime is the time for which a node serves a copy without asking the store.
	Lifetime time.Duration
}

// validate returns the mistake in the experiment, if any.
func (x *Experiment) validate() error {
	switch {
	case x.Workload == nil:
		return fmt.Errorf(
			"policy: found no workload, expected one\nhint: policy.Poisson{Reads: 10, Changes: 0.01} reads one key",
		)
	case x.Policy.Lifetime == nil || x.Policy.Refresh == nil:
		return fmt.Errorf("policy: found policy %q without a lifetime or without a refresh, expected both\n"+
			"hint: policy.Named lists complete ones", x.Policy.Name)
	case x.Lasts <= 0:
		return fmt.Errorf("policy: found a run that lasts %s, expected more than 0s", x.Lasts)
	case x.WarmUp < 0 || x.Store.Retention < 0 || x.Store.Latency < 0 || x.Tier.Lifetime < 0:
		return fmt.Errorf("policy: found a negative duration (warm-up %s, retention %s, latency %s, lifetime of "+
			"the tier %s), expected 0s or more", x.WarmUp, x.Store.Retention, x.Store.Latency, x.Tier.Lifetime)
	}
	return nil
}

// Prices are the costs of requests, storage and so on, in one currency.
type Prices struct {
	// ReadUnits and WriteUnits are the prices of a million request units of the store.
	ReadUnits, WriteUnits float64
	// Storage is the price of a gigabyte (10^9 bytes) for a month (30 days).
	Storage float64
	// Render is the price of one render.
	Render float64
}

// OnDemand has the prices of DynamoDB's on-demand tables in us-east-1, in US dollars, without renders. Your region and
// contract may differ: give your own list.
//
// Source: https://aws.amazon.com/dynamodb/pricing/on-demand/ (since 2024-11-01)
var OnDemand = Prices{ReadUnits: 0.125, WriteUnits: 0.625, Storage: 0.25}

// monthSeconds is a month as it is used for costs.
const monthSeconds = 30 * 24 * 3600

// month returns the cost of a run extrapolated to a month.
func (p Prices) month(r *Result) float64 {
	run := r.readUnits/1e6*p.ReadUnits + r.writeUnits/1e6*p.WriteUnits + float64(r.renders)*p.Render
	perSecond := ratio(run, r.lasts.Seconds())
	storedBytes := ratio(r.byteSeconds, r.lasts.Seconds())
	return perSecond*monthSeconds + storedBytes/1e9*p.Storage
}

// Sizes of DynamoDB's request units, in bytes.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
const (
	readUnitBytes  = 4096
	writeUnitBytes = 1024
)

// unitsOf returns the units for a row: at least one.
func unitsOf(bytes, unit int) float64 { return float64(max(1, (bytes+unit-1)/unit)) }
