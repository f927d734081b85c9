package policy

import (
	"time"
)

// Limits of one partition key, in units per second. A key's rows are in one partition, which cannot be split further.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
const (
	partitionReads  = 3000
	partitionWrites = 1000
)

// A throttled request is retried twice, after random parts of one second and of two, as by the SDK for Go.
//
// Source: https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
const (
	mostRetries = 2
	firstDelay  = time.Second
)

// units are the capacity units that a key has used in the current second.
type units struct{ read, write meter }

// meter counts the units of one second.
type meter struct {
	second int64
	used   float64
}

// take uses units, unless that would exceed the limit of this second. There is no burst: unused units of a second are
// lost.
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

// throttled makes a reader retry, or fail.
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

// Redis's search for expired keys that nobody reads, at its default effort.
//
// Source: activeExpireCycle in https://github.com/redis/redis/blob/7.0/src/expire.c
const (
	redisCycle      = 100 * time.Millisecond // hz 10
	redisSample     = 20                     // keys per loop
	redisStale      = 10                     // per cent of expired keys: a loop that finds more is repeated
	redisTimeShare  = 0.25                   // the share of a cycle that may be used
	redisKeyLasts   = time.Microsecond       // the duration of one deletion, for a small key
	redisCycleLimit = int(redisTimeShare * float64(redisCycle) / float64(redisKeyLasts))
)

// redis holds the keys of a Redis that have an expiry, in the order of its hash table. Readers no longer see an expired
// key, but it takes memory until a reader or the active cycle finds it.
type redis struct {
	keys   []int // by place in the table
	place  map[int]int
	due    map[int]time.Duration
	cursor int
	random *Random
}

func newRedis(r *Random) *redis {
	return &redis{place: map[int]int{}, due: map[int]time.Duration{}, random: r}
}

// set stores a key that expires, at a position given by its hash.
func (s *redis) set(key int, due time.Duration) {
	s.due[key] = due
	if _, there := s.place[key]; there {
		return
	}
	s.keys = append(s.keys, key)
	s.swap(s.random.below(len(s.keys)), len(s.keys)-1)
}

func (s *redis) remove(key int) {
	i, there := s.place[key]
	if !there {
		return
	}
	last := len(s.keys) - 1
	s.swap(i, last)
	s.keys = s.keys[:last]
	delete(s.place, key)
	delete(s.due, key)
}

func (s *redis) swap(i, j int) {
	s.keys[i], s.keys[j] = s.keys[j], s.keys[i]
	s.place[s.keys[i]], s.place[s.keys[j]] = i, j
}

// cycle is one active cycle, which removes some of the expired keys. It looks at twenty keys at a time, in the order of
// the table. It continues as long as more than a tenth of them were expired and it has time.
func (s *redis) cycle(now time.Duration, removed func(key int)) {
	for spent := 0; spent < redisCycleLimit; {
		sampled, expired := 0, 0
		for size := min(redisSample, len(s.keys)); sampled < size && len(s.keys) > 0; sampled++ {
			if s.cursor >= len(s.keys) {
				s.cursor = 0
			}
			key := s.keys[s.cursor]
			if s.due[key] > now {
				s.cursor++
				continue
			}
			expired++
			s.remove(key) // now another key is at the cursor
			removed(key)
		}
		spent += sampled
		if sampled == 0 || expired*100/sampled <= redisStale {
			return
		}
	}
}
