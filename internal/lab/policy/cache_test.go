package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// read asks a cache for a key whose render gives a text.
func read(t *testing.T, c *Cache[string, string], now time.Duration, key, rendered string) string {
	t.Helper()
	return must.Of(c.GetOrSet(now, key, nil, func() (string, error) { return rendered, nil }))(t)
}

// A value may have a lifetime of its own, and keeps it: a session that slides in a cache of absolute lifetimes.
func TestCacheLifetimeOfOneEntry(t *testing.T) {
	c := &Cache[string, int]{Policy: Policy{Lifetime: Absolute(10 * time.Second)}}
	renders := 0
	get := func(now time.Duration, key string, own Lifetime) {
		t.Helper()
		must.Done(t)(c.GetOrSet(now, key, own, func() (int, error) { renders++; return renders, nil }))
	}
	for now := time.Duration(0); now <= time.Minute; now += 6 * time.Second {
		get(now, "session", Sliding(10*time.Second))
	}
	if renders != 1 {
		t.Errorf("a session that is read every 6 s was rendered %d times, want once", renders)
	}
	get(0, "config", Absolute(time.Hour)) // the clock does not go back: this is at 1m
	get(61*time.Minute-1, "config", nil)
	if renders != 2 {
		t.Errorf("%d renders, want 2: config lasts an hour", renders)
	}
	get(61*time.Minute, "config", nil) // the new value has the lifetime of the policy
	get(61*time.Minute+10*time.Second, "config", nil)
	if renders != 4 {
		t.Errorf("%d renders, want 4: config was stored anew without a lifetime of its own", renders)
	}
}

// Cleanup keeps what readers may still get.
func TestCacheCleanupKeepsServableValues(t *testing.T) {
	c := &Cache[string, string]{
		Policy: Policy{Lifetime: Absolute(time.Minute), Refresh: StaleWhileRevalidate()}, Cleanup: time.Minute,
	}
	read(t, c, 0, "page", "old")
	if got := read(t, c, time.Hour, "page", "new"); got != "old" {
		t.Errorf("got %q, want the old value", got)
	}
	if got := read(t, c, time.Hour, "page", "newer"); got != "new" {
		t.Errorf("got %q, want the value that the read before has made", got)
	}
	want := CacheStats{Hits: 1, Stale: 1, Misses: 1, Renders: 2, Expirations: 1, Size: 1}
	if diff := cmp.Diff(want, c.Stats(time.Hour)); diff != "" {
		t.Errorf("statistics (-want +got):\n%s", diff)
	}
}

// A render that fails stores nothing, and its error comes back unless there is a value to serve.
func TestCacheRenderFails(t *testing.T) {
	broken := errors.New("the origin is down")
	fail := func() (string, error) { return "half a page", broken }
	c := &Cache[string, string]{Policy: Policy{Lifetime: Absolute(time.Minute), Refresh: StaleWhileRevalidate()}}
	if got, err := c.GetOrSet(0, "page", nil, fail); !errors.Is(err, broken) || got != "" {
		t.Errorf("got %q, %v; want no value and the error of the render", got, err)
	}
	read(t, c, 0, "page", "page")
	if got, err := c.GetOrSet(time.Hour, "page", nil, fail); err != nil || got != "page" {
		t.Errorf("got %q, %v; want the old value", got, err)
	}
	want := CacheStats{Stale: 1, Misses: 2, Renders: 3, Failed: 2, Size: 1}
	if diff := cmp.Diff(want, c.Stats(time.Hour)); diff != "" {
		t.Errorf("statistics (-want +got):\n%s", diff)
	}
}

func TestCacheSaysWhatIsWrong(t *testing.T) {
	absolute := Policy{Lifetime: Absolute(time.Minute)}
	for _, test := range []struct {
		cache *Cache[string, string]
		want  string
	}{
		{&Cache[string, string]{}, "policy: found no lifetime"},
		{&Cache[string, string]{Policy: absolute, Keys: -1}, "policy: found a cache of -1 keys"},
		{&Cache[string, string]{Policy: absolute, Cleanup: -1}, "policy: found a cleanup every -1ns"},
		{&Cache[string, string]{Policy: Policy{Lifetime: Absolute(1), Refresh: Periodic()}},
			"policy: found a refresh that renders without readers"},
	} {
		_, err := test.cache.GetOrSet(0, "page", nil, func() (string, error) { return "", nil })
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
		if test.cache.Delete(0, "page") || test.cache.Stats(0) != (CacheStats{}) {
			t.Errorf("%s: the cache has something", test.want)
		}
	}
}

// model is the cache of the tutorials in the simplest form: a list of entries. The entry that was read last is at its
// end.
type model struct {
	size            int
	lifetime, every time.Duration
	entries         []modelEntry
	stats           CacheStats
	cleaned         time.Duration
}

type modelEntry struct {
	key   int
	until time.Duration
}

func (m *model) clean(now time.Duration) {
	for ; m.cleaned+m.every <= now; m.cleaned += m.every {
		at, before := m.cleaned+m.every, len(m.entries)
		m.entries = slices.DeleteFunc(m.entries, func(e modelEntry) bool { return at >= e.until })
		m.stats.Expirations += uint64(before - len(m.entries))
	}
}

func (m *model) get(now time.Duration, key int) {
	m.clean(now)
	i := slices.IndexFunc(m.entries, func(e modelEntry) bool { return e.key == key })
	if i >= 0 {
		e := m.entries[i]
		m.entries = slices.Delete(m.entries, i, i+1)
		if now < e.until {
			m.entries = append(m.entries, e)
			m.stats.Hits++
			return
		}
		m.stats.Expirations++
	}
	m.stats.Misses++
	m.stats.Renders++
	if len(m.entries) == m.size {
		m.entries = m.entries[1:]
		m.stats.Evictions++
	}
	m.entries = append(m.entries, modelEntry{key, now + m.lifetime})
}

// Random operations on the cache and on the model give the same statistics after each.
func TestCacheIsItsModel(t *testing.T) {
	for seed := range uint64(20) {
		random := newRandom(seed, 0)
		m := &model{
			size: 1 + random.below(8), lifetime: time.Duration(1+random.below(30)) * time.Second,
			every: time.Duration(1+random.below(40)) * time.Second,
		}
		c := &Cache[int, int]{Policy: Policy{Lifetime: Absolute(m.lifetime)}, Keys: m.size, Cleanup: m.every}
		now := time.Duration(0)
		for range 2000 {
			now += time.Duration(random.below(5)) * time.Second
			key := random.below(12)
			if random.below(10) == 0 {
				m.clean(now)
				before := len(m.entries)
				m.entries = slices.DeleteFunc(m.entries, func(e modelEntry) bool { return e.key == key })
				if got, want := c.Delete(now, key), len(m.entries) < before; got != want {
					t.Fatalf("seed %d: Delete(%s, %d) = %v, want %v", seed, now, key, got, want)
				}
			} else {
				m.get(now, key)
				must.Done(t)(c.GetOrSet(now, key, nil, func() (int, error) { return 0, nil }))
			}
			m.stats.Size = len(m.entries)
			if diff := cmp.Diff(m.stats, c.Stats(now)); diff != "" {
				t.Fatalf("seed %d at %s (-model +cache):\n%s", seed, now, diff)
			}
		}
	}
}

// sameReads has reads that were drawn once, for a cache and for the simulator.
func sameReads(n int, keys Keys) *Trace {
	traffic := Poisson{Reads: 10, Keys: keys}.Begin(newRandom(1, streamReads), newRandom(1, streamChanges))
	trace := &Trace{changes: make([][]time.Duration, len(keys.weights()))}
	for range n {
		next, _ := traffic.Read()
		trace.reads = append(trace.reads, next)
	}
	return trace
}

// played plays a trace on a cache and returns its statistics.
func played(t *testing.T, trace *Trace, c *Cache[int, int]) CacheStats {
	t.Helper()
	for _, next := range trace.reads {
		must.Done(t)(c.GetOrSet(next.At, next.Key, nil, func() (int, error) { return 0, nil }))
	}
	return c.Stats(trace.Lasts())
}

// On one trace, the statistics of the cache are the measures of the simulator, to the last read.
func TestCacheAgreesWithTheSimulator(t *testing.T) {
	const lifetime = 20 * time.Second
	trace := sameReads(5000, Zipf{Keys: 100, Exponent: 0.9})
	for _, p := range All(lifetime) {
		if _, aged := AtAge(p.Lifetime, 0); aged || p.Name == "periodic" || p.Name == "tiered" {
			continue // a cache knows no age and no class of data, and renders only for readers
		}
		x := Experiment{Policy: p, Workload: trace, Lasts: trace.Lasts()}
		want := must.Of(x.Run(t.Context(), 7))(t)
		got := played(t, trace, &Cache[int, int]{Policy: p, Seed: 7})
		if got.Hits != want.hits || got.Stale != want.known || got.Renders != want.renders ||
			got.HitRatio() != want.Value(HitRatio) {
			t.Errorf("%s: the cache has %d hits, %d stale, %d renders, the simulator %d, %d and %d",
				p.Name, got.Hits, got.Stale, got.Renders, want.hits, want.known, want.renders)
		}
		if got.Hits == 0 || got.Misses == 0 {
			t.Errorf("%s: %+v compares nothing", p.Name, got)
		}
	}
}

// A cache of bounded size is the simulator's tier.
func TestCacheAgreesWithTheTier(t *testing.T) {
	const lifetime = 20 * time.Second
	trace := sameReads(5000, Zipf{Keys: 100, Exponent: 0.9})
	x := Experiment{
		Policy:   Policy{Lifetime: Absolute(time.Nanosecond), Refresh: Unprotected()},
		Workload: trace, Lasts: trace.Lasts(), Tier: Tier{Keys: 30, Lifetime: lifetime},
	}
	want := must.Of(x.Run(t.Context(), 1))(t)
	// Without cleanup: a cleanup makes room, and the simulator's tier has none.
	got := played(t, trace, &Cache[int, int]{Policy: Policy{Lifetime: Absolute(lifetime)}, Keys: 30})
	if got.Hits != want.tierHits || got.Renders != want.renders || got.Evictions == 0 || got.Expirations == 0 {
		t.Errorf("the cache has %d hits and %d renders, the tier %d and %d; %d evictions and %d expirations",
			got.Hits, got.Renders, want.tierHits, want.renders, got.Evictions, got.Expirations)
	}
}
