package policy

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache is a cache in memory that keeps its values by a policy, on virtual time: every call says what time it is. A
// literal is ready for use:
//
//	cache := &policy.Cache[string, Page]{
//		Policy: policy.Policy{Lifetime: policy.Absolute(5 * time.Minute)}, Keys: 10_000, Cleanup: time.Minute,
//	}
//
// Renders take no time, so no reader comes during the render of another: [Locked] and [LockedStale] do as [Unprotected]
// does. Entries have no age and are of class 0: give them lifetimes of their own instead of [AgeBased] and [Tiered]
// ones. A time before the last one counts as the last one. A Cache is for one goroutine.
//
// Its statistics are the measures of an [Experiment] with the same reads and renders without duration: a test compares
// them read by read.
type Cache[K comparable, V any] struct {
	// Policy decides how long values are kept and who renders them. A Policy without a Refresh is [Unprotected];
	// [Periodic] renders without readers, and is refused.
	Policy Policy
	// Keys is the largest number of keys that it keeps; 0 is no limit. One more key pushes out the one that was not
	// read for the longest time.
	Keys int
	// Cleanup is the time between two removals of expired values. 0 is none: an expired value goes when it is read, or
	// is pushed out.
	Cleanup time.Duration
	// Seed is the seed of a policy's draws.
	Seed uint64

	lru     *simplelru.LRU[K, *held[V]]
	random  *Random
	now     time.Duration
	cleaned time.Duration // when cleanup was last due
	stats   CacheStats
}

// held is a value in a cache.
type held[V any] struct {
	value    V
	entry    Entry
	lifetime Lifetime
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

// HitRatio returns the share of reads that found a fresh value, 0 where there were no reads.
func (s CacheStats) HitRatio() float64 {
	return ratio(float64(s.Hits), float64(s.Hits+s.Stale+s.Misses))
}

// GetOrSet returns the value of a key. Where the policy asks for it, render makes the value. The value is then kept for
// the lifetime own, or for the policy's lifetime if own is nil. An error is the error of render, if there is no other
// value to serve, or says what is wrong with the cache.
func (c *Cache[K, V]) GetOrSet(now time.Duration, key K, own Lifetime, render func() (V, error)) (V, error) {
	var none V
	if own == nil {
		own = c.Policy.Lifetime
	}
	if err := c.begin(own); err != nil {
		return none, err
	}
	c.pass(now)
	var found *Entry
	h, ok := c.lru.Get(key)
	if ok {
		found = &h.entry
	}
	fresh := found.fresh(c.now)
	action := c.refresh().Read(found, false, c.now, c.random)
	if found == nil || action == Render || action == Wait {
		c.stats.Misses++
		return c.render(key, own, render)
	}
	if fresh {
		c.stats.Hits++
		found.FreshUntil = h.lifetime.Read(found, c.now)
	} else {
		c.stats.Stale++
	}
	if action == Revalidate {
		_, _ = c.render(key, own, render) // the statistics have the failure, and the old value stays
	}
	return h.value, nil
}

// Delete removes a key, and reports whether the cache had it.
func (c *Cache[K, V]) Delete(now time.Duration, key K) bool {
	if c.lru == nil {
		return false
	}
	c.pass(now)
	return c.lru.Remove(key)
}

// Stats returns the cache's counts up to a time.
func (c *Cache[K, V]) Stats(now time.Duration) CacheStats {
	if c.lru == nil {
		return CacheStats{}
	}
	c.pass(now)
	c.stats.Size = c.lru.Len()
	return c.stats
}

// begin checks the cache, and makes it ready at its first use.
func (c *Cache[K, V]) begin(lifetime Lifetime) error {
	_, periodic := c.Policy.Refresh.(periodic)
	switch {
	case lifetime == nil:
		return errors.New("policy: found no lifetime, expected that of the cache or one of the entry's own\n" +
			"hint: policy.Cache[K, V]{Policy: policy.Policy{Lifetime: policy.Absolute(time.Minute)}}")
	case c.Keys < 0:
		return fmt.Errorf("policy: found a cache of %d keys, expected at least 1 (or 0 for no limit)", c.Keys)
	case c.Cleanup < 0:
		return fmt.Errorf("policy: found a cleanup every %s, expected more than 0s (or 0s for none)", c.Cleanup)
	case periodic:
		return errors.New("policy: found a refresh that renders without readers, expected one that a read can ask\n" +
			"hint: an Experiment measures Periodic")
	case c.lru != nil:
		return nil
	}
	size := c.Keys
	if size == 0 {
		size = math.MaxInt
	}
	lru, err := simplelru.NewLRU[K, *held[V]](size, nil)
	if err != nil {
		return err
	}
	c.lru, c.random = lru, newRandom(c.Seed, streamPolicy)
	return nil
}

func (c *Cache[K, V]) refresh() Refresh {
	if c.Policy.Refresh == nil {
		return Unprotected()
	}
	return c.Policy.Refresh
}

// render makes a value and stores it.
func (c *Cache[K, V]) render(key K, own Lifetime, render func() (V, error)) (V, error) {
	c.stats.Renders++
	value, err := render()
	if err != nil {
		c.stats.Failed++
		var none V
		return none, err
	}
	if old, ok := c.lru.Peek(key); ok && !old.entry.fresh(c.now) {
		c.stats.Expirations++
	}
	h := &held[V]{value: value, entry: Entry{Generated: c.now, Stored: c.now}, lifetime: own}
	h.entry.FreshUntil = own.Stored(&h.entry, c.now, c.random)
	if c.lru.Add(key, h) {
		c.stats.Evictions++
	}
	return value, nil
}

// pass lets time pass. If several cleanups are due in that time, nothing happens between them, so the last one does the
// work of all.
func (c *Cache[K, V]) pass(now time.Duration) {
	c.now = max(c.now, now)
	if c.Cleanup <= 0 || c.now-c.cleaned < c.Cleanup {
		return
	}
	c.cleaned = c.now - (c.now-c.cleaned)%c.Cleanup
	for _, key := range c.lru.Keys() {
		if h, _ := c.lru.Peek(key); !c.servable(&h.entry, c.cleaned) {
			c.lru.Remove(key)
			c.stats.Expirations++
		}
	}
}

// servable reports whether a reader would get an entry.
func (c *Cache[K, V]) servable(e *Entry, now time.Duration) bool {
	if e.fresh(now) {
		return true
	}
	action := c.refresh().Read(e, false, now, c.random)
	return action == Serve || action == Revalidate
}
