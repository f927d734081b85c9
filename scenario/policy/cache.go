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
// Its statistics are the measures of isr-sim policy on the same reads, with renders without duration: a test holds them
// equal, read by read.
type Cache[K comparable, V any] struct {
	// Policy decides how long values are kept and who renders them. Without a Refresh it is [Unprotected]; the policy
	// periodic renders without readers, and is refused.
	Policy Policy
	// Keys is the largest number of keys that it keeps; 0 is no limit. One more key pushes out the one that was not read
	// for the longest time.
	Keys int
	// Cleanup is the time between two removals of expired values. 0 is none: an expired value goes when it is read, or is
	// pushed out.
	Cleanup time.Duration
	// Seed is the seed of a policy's draws.
	Seed uint64

	lab policy.Cache[K, V]
}

// CacheStats holds the counts of a cache.
type CacheStats struct {
	// Hits counts reads of fresh values, Stale counts reads of values that were served although they had expired, and
	// Misses counts reads that found neither.
	Hits, Stale, Misses uint64
	// Renders counts how often a value was made, and Failed the renders that ended in an error.
	Renders, Failed uint64
	// Evictions counts the values that made room for others, and Expirations those that were replaced or cleaned up
	// because they had expired.
	Evictions, Expirations uint64
	// Size is how many values there are.
	Size int
}

// ready returns the lab's cache, kept as the fields say.
func (c *Cache[K, V]) ready() *policy.Cache[K, V] {
	c.lab.Policy, c.lab.Keys, c.lab.Cleanup, c.lab.Seed = c.Policy.lab(), c.Keys, c.Cleanup, c.Seed
	return &c.lab
}

// GetOrSet returns the value of a key. Where the policy asks for it, render makes the value, which is then kept for the
// lifetime own; nil is the policy's. An error is the error of render, if there is no other value to serve, or says what
// is wrong with the cache.
func (c *Cache[K, V]) GetOrSet(now time.Duration, key K, own Lifetime, render func() (V, error)) (V, error) {
	return c.ready().GetOrSet(now, key, inLab(own), render)
}

// Delete removes a key, and reports whether the cache had it.
func (c *Cache[K, V]) Delete(now time.Duration, key K) bool { return c.ready().Delete(now, key) }

// Stats returns the cache's counts up to a time.
func (c *Cache[K, V]) Stats(now time.Duration) CacheStats { return CacheStats(c.ready().Stats(now)) }
