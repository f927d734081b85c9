package policy

import (
	"slices"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// kept is an entry of the tutorials' cache, in its simplest form: a list whose last entry is the most recently read.
type kept struct {
	key   int
	until time.Duration
}

// On one trace, a bounded cache with absolute lifetimes has exactly the hits and renders of the simulator's tier.
func TestTheTierIsTheTutorialsCache(t *testing.T) {
	const lifetime = 20 * time.Second
	keys := Zipf{Keys: 100, Exponent: 0.9}
	for _, size := range []int{1, 30, 100} {
		traffic := Poisson{Reads: 10, Keys: keys}.Begin(newRandom(1, streamReads), newRandom(1, streamChanges))
		trace := &Trace{changes: make([][]time.Duration, keys.Keys)}
		var cache []kept
		var hits, renders uint64
		for range 5000 {
			next, _ := traffic.Read()
			trace.reads = append(trace.reads, next)
			entry := kept{next.Key, next.At + lifetime}
			if i := slices.IndexFunc(cache, func(e kept) bool { return e.key == next.Key }); i >= 0 {
				old := cache[i]
				cache = slices.Delete(cache, i, i+1)
				if next.At < old.until {
					hits++
					cache = append(cache, old)
					continue
				}
			}
			renders++
			cache = append(cache[max(0, len(cache)+1-size):], entry)
		}
		x := Experiment{
			Policy:   Policy{Lifetime: Absolute(time.Nanosecond), Refresh: Unprotected()},
			Workload: trace, Lasts: trace.Lasts(), Tier: Tier{Keys: size, Lifetime: lifetime},
		}
		got := must.Of(x.Run(t.Context(), 1))(t)
		if got.tierHits != hits || got.renders != renders || hits == 0 || renders == 0 {
			t.Errorf("%d keys: the tier has %d hits and %d renders, the cache %d and %d", size, got.tierHits,
				got.renders, hits, renders)
		}
	}
}
