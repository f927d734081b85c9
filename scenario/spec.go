package scenario

import (
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Scenario is a scenario file, read and checked, with its defaults filled in.
type Scenario struct {
	File     string // where it was read from; "" if it was not
	Name     string
	About    string // the story of the scenario and why it matters, in prose
	Protocol string

	// Source is where the bug was seen that the scenario is about: owner/repository#number, or a sentence. Broken is the
	// protocol that has this bug. Both are set or neither: they make the scenario an exhibit of the museum.
	Source []string
	Broken string

	// Rows says how the caches keep their pages and locks, if not in META and LOCK. A Schema with a function cannot be
	// written to a file.
	Rows isr.Schema

	Cache   Cache
	Promise Promise
	Lag     Lag
	// CompareLags are lags under which each schedule is run once more, to see whether anything else is decided. Lag must
	// not be the scheduler's then.
	CompareLags []ddbfake.Lag
	// ReplicaLag is by how much eventually consistent reads are behind.
	ReplicaLag time.Duration
	Skew       time.Duration // max-clock-skew: the promised bound of |a node's clock - true time|
	Actors     []Actor
	Faults     []Fault
	// Settle is within how long every page must be fresh once the run is over and faults have stopped; 0 does not ask.
	Settle time.Duration
	Bounds Bounds
	Reach  []Mark // marks that a campaign must reach
	// Invariants are the names of the only invariants that judge; nil is all. Without are those that do not. At most one
	// of the two is set.
	Invariants, Without []string
	Expect              invariant.Verdict
	Catches             []string // protocols that this scenario is known to catch
	Replay              *Replay  // a recorded run
}

// Cache is how every node's cache is configured.
type Cache struct {
	Lease      time.Duration
	Revalidate time.Duration
	Retention  time.Duration
	TTLBuffer  time.Duration
	Render     time.Duration // how long the origin takes; 0 is no time at all
	KeepAlive  time.Duration // how often the renderer calls keepAlive; 0 is never
	Contention isr.Contention
	Failure    isr.Failure
	Poll       time.Duration
	Patience   int
	Attempts   int // how often the client sends a request that fails in a retryable way, as the SDK does
}

// Promise is what the cache promises beyond the rules of every cache. Nothing is promised by default.
type Promise struct {
	// AcrossNodes has invariant.MonotonicReads judge all nodes together, and not each by itself.
	AcrossNodes bool
	MaxAge      time.Duration // nothing older is served, fresh or stale; 0 is no bound. See invariant.BoundedStaleness
}

// Lag is when TTL deletes: by one of the fake's own lags, or, as one more kind of step, whenever the schedule says so.
type Lag struct {
	Scheduler bool
	Fixed     ddbfake.Lag // where Scheduler is false
}

// String returns the lag as scenario files write it.
func (l Lag) String() string {
	if l.Scheduler {
		return "scheduler"
	}
	return l.Fixed.String()
}

// Actor is one node and the commands of its client.
type Actor struct {
	Name       string
	Tenant     string // whose pages it serves; "" without tenants
	Script     []Command
	Drift      fakeclock.Drift
	ClockSteps []time.Duration
	Pauses     int
	PauseFor   time.Duration
	Crashes    int
	Restarts   int
	Events     []sim.Planned // what befalls the machine at a time, in every schedule
}

// Bounds limit a run and a campaign.
type Bounds struct {
	Schedules int // how many schedules a campaign runs
	Steps     int // where a run that does not end is cut, which makes its verdict unknown
	Ticks     int // how often time moves while something else could happen
	Sweeps    int // how many rows TTL may delete where the schedule decides over its lag; 0 is no bound
}

// Defaults returns the values of the keys that a scenario file leaves out, for scenarios that are built by a program.
// It has no name and no actors yet.
func Defaults() *Scenario {
	s := defaults()
	return &s
}

func defaults() Scenario {
	return Scenario{
		Protocol: recipe.Reference().Name,
		Cache: Cache{
			Lease: 10 * time.Second, Revalidate: time.Minute, Retention: 24 * time.Hour, TTLBuffer: time.Hour,
			Contention: isr.ServeStale, Poll: time.Second, Patience: 10, Attempts: 3,
		},
		Lag:    Lag{Fixed: ddbfake.LagNever},
		Bounds: Bounds{Schedules: 1000, Steps: 2000, Ticks: 6},
		Expect: invariant.OK,
	}
}

// Expected is the verdict that the scenario expects of a protocol: Expect of its own, and ok of every other.
func (s *Scenario) Expected(protocol string) invariant.Verdict {
	if protocol == s.Protocol {
		return s.Expect
	}
	return invariant.OK
}
