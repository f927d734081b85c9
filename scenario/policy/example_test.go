package policy_test

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/scenario/policy"
)

// A product page that changes every ten minutes is read 50 times a second, and takes half a second to render.
func ExampleExperiment_Run() {
	page := policy.Experiment{
		Workload: policy.Poisson{Reads: 50, Changes: 1.0 / 600},
		Render:   500 * time.Millisecond,
		Lasts:    24 * time.Hour,
	}
	for _, refresh := range []struct {
		name string
		how  policy.Refresh
	}{
		{"no lock", policy.Unprotected()},
		{"a lock", policy.Locked()},
		{"a lock, and the old page meanwhile", policy.StaleWhileRevalidate()},
	} {
		page.Policy = policy.Policy{Name: refresh.name, Lifetime: policy.Absolute(time.Minute), Refresh: refresh.how}
		result, err := page.Run(1)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %.0f renders of the page at once, readers wait %.0f ms on average\n", refresh.name,
			result.Value(policy.RendersOfOneKey), 1000*result.Value(policy.LatencyMean))
	}
	// Output:
	// no lock: 42 renders of the page at once, readers wait 4 ms on average
	// a lock: 1 renders of the page at once, readers wait 2 ms on average
	// a lock, and the old page meanwhile: 1 renders of the page at once, readers wait 0 ms on average
}

// short has its own idea of a lifetime: five seconds on Sundays, a minute otherwise.
type short struct{}

func (short) Stored(e *policy.Entry, _ time.Duration, _ *policy.Random) time.Duration {
	if day := int(e.Generated/(24*time.Hour)) % 7; day == 0 {
		return e.Generated + 5*time.Second
	}
	return e.Generated + time.Minute
}

func (short) Read(e *policy.Entry, _ time.Duration) time.Duration { return e.FreshUntil }

// A lifetime of one's own is two methods.
func ExampleLifetime() {
	week := policy.Experiment{
		Policy:   policy.Policy{Name: "short Sundays", Lifetime: short{}, Refresh: policy.Locked()},
		Workload: policy.Poisson{Reads: 1, Changes: 1.0 / 600},
		Lasts:    7 * 24 * time.Hour,
	}
	result, err := week.Run(1)
	if err != nil {
		panic(err)
	}
	fmt.Println("hit ratio", policy.HitRatio.Format(result.Value(policy.HitRatio)))
	// Output:
	// hit ratio 96.22 %
}

// A cache of two users: what is computed once is served until it expires, or until it was not read for the longest time.
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
