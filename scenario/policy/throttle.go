package policy

import "time"

// Limits of one partition key, in units a second. A key's rows lie in one partition, which cannot be split further.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
const (
	partitionReads  = 3000
	partitionWrites = 1000
)

// A throttled request is made again twice, after a random part of one second and of two, as the SDK for Go does.
//
// Source: https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
const (
	mostRetries = 2
	firstDelay  = time.Second
)

// units are those that a key has used in a second.
type units struct{ read, write meter }

// meter counts the units of one second.
type meter struct {
	second int64
	used   float64
}

// take uses units, unless the limit of this second would be passed. There is no burst: what a second leaves is lost.
func (m *meter) take(now time.Duration, units, limit float64) bool {
	if second := int64(now / time.Second); second != m.second {
		m.second, m.used = second, 0
	}
	if m.used+units > limit {
		return false
	}
	m.used += units
	return true
}

// throttled has a reader ask again, or fail.
func (r *run) throttled(rd Read, now time.Duration, node, retries int) {
	r.result.throttles++
	if retries == mostRetries {
		r.result.reads++
		r.result.failed++
		r.result.latency.add(now - rd.At)
		return
	}
	delay := time.Duration(r.random.Float64() * float64(firstDelay<<retries))
	r.at(now+delay, func(now time.Duration) { r.ask(rd, now, node, retries+1) })
}
