package ddbfake

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Units a second that one partition key of a table or an index can take, provisioned or on demand. Reads and writes are
// counted separately.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
const (
	maxKeyReads  = 3_000
	maxKeyWrites = 1_000
)

// rampPeriod is the period over which a peak is measured. After it, an on-demand table can serve twice that peak.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/pre-warming-on-demand-capacity-mode.html
const rampPeriod = 30 * time.Minute

// The limits that throttle, as a ThrottlingReason names them. AWS has no name for the limit of an on-demand table that
// has not scaled out yet: its requests exceed the limits of its partitions.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ThrottlingReason.html
const (
	limitNone        = ""
	limitKey         = "KeyRangeThroughputExceeded"
	limitProvisioned = "ProvisionedThroughputExceeded"
	limitCeiling     = "MaxOnDemandThroughputExceeded"
)

// limits are the state of Options.Throughput.
type limits struct {
	// paid has, for each resource, the time up to which its units are spent. A resource outside paid owes nothing.
	paid map[resource]time.Time
	// forgetAt is the size of paid at which resources that owe nothing are dropped.
	forgetAt int
	ramps    map[resource]*ramp
}

// resource is something with units of its own, for reads or for writes: a table, a global index, or one partition key
// of either.
type resource struct {
	table, index string // the table's id; the index's name, if any
	keyed        bool
	hash         string // the hash of the key
	write        bool
}

func newLimits() *limits {
	return &limits{paid: map[resource]time.Time{}, forgetAt: 1024, ramps: map[resource]*ramp{}}
}

// spending is a read or a write, before it takes its units.
type spending struct {
	table *table
	index *index // a global index; nil for the table
	hash  string // the partition key
	keyed bool   // false for a Scan, which has no single key
	write bool
	units float64
}

// resources returns the resources that give units for a spending: the table or index, and its key.
func (s *spending) resources() (whole, key resource) {
	whole = resource{table: s.table.id, write: s.write}
	if s.index != nil {
		whole.index = s.index.name
	}
	key = whole
	key.keyed, key.hash = true, s.hash
	return whole, key
}

// rateOfKey returns the units per second of one key.
func (s *spending) rateOfKey() float64 {
	if s.write {
		return maxKeyWrites
	}
	return maxKeyReads
}

// rate returns the present units per second of the table or index, and the limit that a spending beyond them exceeds.
func (l *limits) rate(s *spending, whole resource, now time.Time) (perSecond float64, limit string) {
	t, ceiling, warmth := s.table.throughput, s.table.ceiling, s.table.warmth
	if s.index != nil {
		t, ceiling, warmth = s.index.throughput, s.index.ceiling, s.index.warmth
	}
	provisioned, most, least := t.readUnits, ceiling.read, warmth.read
	if s.write {
		provisioned, most, least = t.writeUnits, ceiling.write, warmth.write
	}
	if s.table.billing != types.BillingModePayPerRequest {
		return float64(provisioned), limitProvisioned
	}
	perSecond = max(float64(least), 2*l.rampOf(whole, now).former)
	if most > 0 && float64(most) < perSecond {
		return float64(most), limitCeiling
	}
	return perSecond, limitKey
}

// exceeded returns the limit that refuses a spending; limitNone if no limit does. Units arrive evenly, and those of one
// second can be saved. A larger spending is let in once a full second's units are saved, and leaves a debt.
//
// Deviation: the service saves up to five minutes of unused units, but does not promise to.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html
func (l *limits) exceeded(s *spending, now time.Time) string {
	whole, key := s.resources()
	if s.keyed && l.lacks(key, s.units, s.rateOfKey(), now) {
		return limitKey
	}
	if perSecond, limit := l.rate(s, whole, now); l.lacks(whole, s.units, perSecond, now) {
		return limit
	}
	return limitNone
}

// lacks reports whether a resource with perSecond units per second cannot give these units now.
func (l *limits) lacks(r resource, units, perSecond float64, now time.Time) bool {
	ahead := l.paid[r].Sub(now)
	return ahead > 0 && ahead+timeOf(units, perSecond) > time.Second
}

// timeOf returns how long these units take to arrive. It is rounded down to whole nanoseconds, so it is the same on
// every machine.
func timeOf(units, perSecond float64) time.Duration {
	return time.Duration(units * float64(time.Second) / max(perSecond, 1))
}

func (l *limits) take(s *spending, now time.Time) {
	whole, key := s.resources()
	perSecond, _ := l.rate(s, whole, now)
	l.pay(whole, s.units, perSecond, now)
	if s.table.billing == types.BillingModePayPerRequest {
		l.rampOf(whole, now).add(s.units, perSecond, now)
	}
	if s.keyed {
		l.pay(key, s.units, s.rateOfKey(), now)
	}
	if len(l.paid) >= l.forgetAt {
		//isrsim:unordered each by itself
		for r, until := range l.paid {
			if !until.After(now) {
				delete(l.paid, r)
			}
		}
		l.forgetAt = max(1024, 2*len(l.paid))
	}
}

// pay spends units of a resource with perSecond units per second.
func (l *limits) pay(r resource, units, perSecond float64, now time.Time) {
	until := l.paid[r]
	if until.Before(now) {
		until = now
	}
	l.paid[r] = until.Add(timeOf(units, perSecond))
}

// ramp tracks the traffic of an on-demand table or index.
type ramp struct {
	former float64 // the peak of former periods, in units a second
	peak   float64 // the peak of this period
	since  time.Time
	second int64 // the epoch second of used
	used   float64
}

// rampOf returns the ramp of a resource. At the end of a period, its peak becomes a former peak.
func (l *limits) rampOf(whole resource, now time.Time) *ramp {
	r := l.ramps[whole]
	if r == nil {
		r = &ramp{since: now}
		l.ramps[whole] = r
	}
	if now.Sub(r.since) >= rampPeriod {
		r.former, r.peak, r.since = max(r.former, r.peak), 0, now
	}
	return r
}

// add counts units as used in this second. Spending saved units does not raise the peak.
func (r *ramp) add(units, perSecond float64, now time.Time) {
	if s := now.Unix(); s != r.second {
		r.second, r.used = s, 0
	}
	r.used += units
	r.peak = max(r.peak, min(r.used, perSecond))
}
