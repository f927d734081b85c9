package policy

import (
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// Cache is a cache in memory that keeps its values by a policy. It has virtual time: every call says what time it is. A
// literal is ready for use:
//
//	cache := &policy.Cache[string, Page]{
//		Policy: policy.Policy{Lifetime: policy.Absolute(5 * time.Minute)}, Keys: 10_000, Cleanup: time.Minute,
//	}
//
// Renders take no time, so a reader never finds that another reader is rendering: [Locked] does the same as
// [Unprotected]. All entries have Data 0 and Class 0. Where you would use the policy tiered, give entries lifetimes of
// their own. A time before the last one counts as the last one. A Cache is for one goroutine.
//
// Its statistics are the measures that isr-sim policy has for the same reads if renders take no time. A test checks
// after each read that they are equal.
type Cache[K comparable, V any] struct {
	// Policy decides how long values are kept and who renders them. Without a Refresh it is [Unprotected]. The policy
	// periodic is refused, because it renders without readers.
	Policy Policy
	// Keys is the largest number of keys that the cache keeps; 0 is no limit. If there is one more, the key that was
	// not read for the longest time is removed.
	Keys int
	// Cleanup is the time between two removals of expired values. With 0 there are no such removals: an expired value
	// stays until it is read, or is removed for lack of room.
	Cleanup time.Duration
	// Seed is the seed of a policy's draws.
	Seed uint64

	lab policy.Cache[K, V]
}

// CacheStats holds the counts of a cache.
type CacheStats struct {
	// Hits counts reads of fresh values, Stale counts reads of values that were served although they had expired, and
	// Misses counts all other reads.
	Hits, Stale, Misses uint64
	// Renders counts how often a value was made, and Failed counts the renders that ended in an error.
	Renders, Failed uint64
	// Evictions counts the values that were removed to make room for others. Expirations counts the values that were
	// replaced or cleaned up because they had expired.
	Evictions, Expirations uint64
	// Size is the present number of values.
	Size int
}

// ready returns the cache of package internal/lab/policy with the settings of the fields.
func (c *Cache[K, V]) ready() *policy.Cache[K, V] {
	c.lab.Policy, c.lab.Keys, c.lab.Cleanup, c.lab.Seed = c.Policy.lab(), c.Keys, c.Cleanup, c.Seed
	return &c.lab
}

// GetOrSet returns the value of a key. If the policy asks for it, render makes the value. The value is then kept for
// the lifetime own; nil means the policy's lifetime. An error is the error of render, if there is no other value to
// serve. Otherwise it says what is wrong with the cache.
func (c *Cache[K, V]) GetOrSet(now time.Duration, key K, own Lifetime, render func() (V, error)) (V, error) {
	return c.ready().GetOrSet(now, key, inLab(own), render)
}

// Delete removes a key, and reports whether the cache had it.
func (c *Cache[K, V]) Delete(now time.Duration, key K) bool { return c.ready().Delete(now, key) }

// Stats returns the cache's counts up to a time.
func (c *Cache[K, V]) Stats(now time.Duration) CacheStats { return CacheStats(c.ready().Stats(now)) }
