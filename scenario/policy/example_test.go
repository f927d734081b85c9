package policy_test

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/scenario/policy"
)

// This is a cache with room for two users. A value is computed once, and served until it expires, or until it must make
// room because it was not read for the longest time.
func ExampleCache() {
	cache := policy.Cache[string, string]{
		Policy: policy.Policy{Lifetime: policy.Absolute(5 * time.Minute)}, Keys: 2, Cleanup: time.Minute,
	}
	user := func(now time.Duration, name string, own policy.Lifetime) {
		_, err := cache.GetOrSet(now, name, own, func() (string, error) { return "the page of " + name, nil })
		if err != nil {
			panic(err)
		}
	}
	user(0, "alice", nil)
	user(time.Minute, "alice", nil)
	user(2*time.Minute, "bob", policy.Sliding(10*time.Minute)) // a lifetime of its own
	user(6*time.Minute, "alice", nil)                          // has expired
	user(11*time.Minute, "bob", nil)
	s := cache.Stats(12 * time.Minute)
	fmt.Printf("%d hits, %d misses, %d expired, %d left\n", s.Hits, s.Misses, s.Expirations, s.Size)
	// Output:
	// 2 hits, 3 misses, 2 expired, 1 left
}

// short is a lifetime of the caller's own: five seconds on Sundays, and otherwise a minute.
type short struct{}

func (short) Stored(e *policy.Entry, _ time.Duration, _ *policy.Random) time.Duration {
	if day := int(e.Generated/(24*time.Hour)) % 7; day == 0 {
		return e.Generated + 5*time.Second
	}
	return e.Generated + time.Minute
}

func (short) Read(e *policy.Entry, _ time.Duration) time.Duration { return e.FreshUntil }

// A lifetime of your own must have two methods.
func ExampleLifetime() {
	cache := policy.Cache[string, string]{Policy: policy.Policy{Lifetime: short{}}}
	const monday = 24 * time.Hour
	for _, now := range []time.Duration{0, 10 * time.Second, monday, monday + 10*time.Second} {
		if _, err := cache.GetOrSet(now, "/home", nil, func() (string, error) { return "the page", nil }); err != nil {
			panic(err)
		}
	}
	s := cache.Stats(monday + 10*time.Second)
	fmt.Printf("%d hit, %d misses\n", s.Hits, s.Misses)
	// Output:
	// 1 hit, 3 misses
}

// Who renders a value again is the policy's Refresh. A reader who finds a value ten seconds after its lifetime
// is served the old one by recipe A; under a lock alone, it waits for the new one.
func ExampleNamed() {
	stale, err := policy.Named("recipe-a-stale", time.Minute)
	if err != nil {
		panic(err)
	}
	absolute := policy.Absolute(time.Minute)
	for _, p := range []policy.Policy{
		stale, {Name: "in the background", Lifetime: absolute, Refresh: policy.StaleWhileRevalidate()},
		{Name: "locked", Lifetime: absolute, Refresh: policy.Locked()},
		{Name: "unprotected", Lifetime: absolute, Refresh: policy.Unprotected()},
	} {
		cache := policy.Cache[string, string]{Policy: p}
		page := ""
		for i, now := range []time.Duration{0, 70 * time.Second} {
			page, err = cache.GetOrSet(now, "/home", nil,
				func() (string, error) { return fmt.Sprint("page ", i+1), nil })
			if err != nil {
				panic(err)
			}
		}
		there := cache.Delete(70*time.Second, "/home")
		s := cache.Stats(70 * time.Second)
		fmt.Printf("%s: %s, %d stale, %d renders; deleted %v, %d left\n", p.Name, page, s.Stale, s.Renders, there,
			s.Size)
	}
	// Output:
	// recipe-a-stale: page 1, 1 stale, 2 renders; deleted true, 0 left
	// in the background: page 1, 1 stale, 2 renders; deleted true, 0 left
	// locked: page 2, 0 stale, 2 renders; deleted true, 0 left
	// unprotected: page 2, 0 stale, 2 renders; deleted true, 0 left
}
