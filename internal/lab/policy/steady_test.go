package policy

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// Short runs that start in the steady state give the same figures as a run that starts with an empty store and lasts
// some thousand lifetimes. This holds for every policy whose lifetimes do not depend on the age of data.
func TestSteadyIsWhatALongRunComesTo(t *testing.T) {
	effort.Long(t)
	for _, p := range All(10 * time.Second) {
		if _, aged := AtAge(p.Lifetime, 0); aged {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			x := Experiment{
				Policy: p,
				Workload: Poisson{
					Reads: 2, Changes: 0.02, Keys: Zipf{10, 1.2}, Class: func(key int) int { return key % 2 },
				},
				Render: Fixed(time.Second), Store: Store{
					Latency: time.Millisecond, Retention: time.Minute, Lag: ExponentialWith(30 * time.Second),
				},
				WarmUp: time.Hour, Lasts: effort.Fewer(6*time.Hour, 2*time.Hour),
			}
			long := repeated(t, x)
			x.Steady, x.WarmUp, x.Lasts = true, 5*time.Second, 10*time.Second
			many, err := x.Repeat(t.Context(), 1, effort.Fewer(4000, 1500), runtime.GOMAXPROCS(0), nil)
			if err != nil {
				t.Fatal(err)
			}
			short := &Summary{Confidence: long.Confidence}
			for few := range slices.Chunk(many.Results, 100) {
				short.Results = append(short.Results, pooled(few))
			}
			measures := []Measure{HitRatio, Renders, KnownStale, WriteUnits, RowsPast, Outdated, OutdatedAge}
			if p.Name == "tiered" {
				measures = measures[:5] // some of its values would be rendered again only after weeks
			}
			for _, m := range measures {
				a, b := long.Of(m), short.Of(m)
				if a.High < b.Low || b.High < a.Low {
					t.Errorf("%s: %.4f (%.4f to %.4f) in the long run, %.4f (%.4f to %.4f) in the steady state", m,
						a.Mean, a.Low, a.High, b.Mean, b.Low, b.High)
				}
			}
		})
	}
}

// pooled adds up several runs as one. The mean of the ratios of short runs differs from the ratio of long ones.
func pooled(runs []*Result) *Result {
	all := &Result{}
	for _, r := range runs {
		all.lasts += r.lasts
		all.reads, all.hits, all.known, all.renders = all.reads+r.reads, all.hits+r.hits, all.known+
			r.known, all.renders+r.renders
		all.outdated.n, all.outdated.sum = all.outdated.n+r.outdated.n, all.outdated.sum+r.outdated.sum
		all.writeUnits, all.pastSeconds = all.writeUnits+r.writeUnits, all.pastSeconds+r.pastSeconds
	}
	return all
}

func TestSteadyRefusesWhatHasNone(t *testing.T) {
	for name, x := range map[string]Experiment{
		"a trace's steady state": {Workload: &Trace{},
			Policy: Policy{Lifetime: Absolute(time.Second), Refresh: Locked()}},
		"a burst's": {Workload: Poisson{Reads: 1, Rhythm: Bursty{time.Second, time.Second}},
			Policy: Policy{Lifetime: Absolute(time.Second), Refresh: Locked()}},
		"lifetimes by the age": {Workload: Poisson{Reads: 1},
			Policy: Policy{Lifetime: Netflix(), Refresh: Locked()}},
		"jitter on sliding ones": {Workload: Poisson{Reads: 1},
			Policy: Policy{Lifetime: Jitter(Sliding(time.Second), 0.5), Refresh: Locked()}},
		"an age in the second tier": {Workload: Poisson{Reads: 1},
			Policy: Policy{Lifetime: Tiered(Absolute(time.Second), Netflix()), Refresh: Locked()}},
	} {
		x.Steady, x.Lasts = true, time.Second
		if _, err := x.Run(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "steady state") {
			t.Errorf("%s: got %v, want an error that says which have a steady state", name, err)
		}
	}
}

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

// The table that Netflix published, and its consequences.
func TestNetflixSchedule(t *testing.T) {
	for _, test := range []struct{ age, want time.Duration }{
		{0, 5 * time.Second}, {119 * time.Second, 5 * time.Second}, {2 * time.Minute, 10 * time.Second},
		{3 * time.Minute, 20 * time.Second}, {4 * time.Minute, 40 * time.Second}, {5 * time.Minute, 80 * time.Second},
		{10 * time.Minute, 2560 * time.Second}, {11 * time.Minute, time.Hour}, {60 * time.Minute, time.Hour},
		{100_000 * time.Hour, time.Hour},
	} {
		if got, _ := AtAge(Netflix(), test.age); got != test.want {
			t.Errorf("data of age %s: got a lifetime of %s, want %s", test.age, got, test.want)
		}
	}
}

func TestSchedulesGrow(t *testing.T) {
	for name, s := range map[string]Schedule{
		"doubling": Doubling, "linear": Linear, "logarithmic": Logarithmic,
		"piecewise": Piecewise(Step{time.Minute, 10 * time.Second}, Step{time.Hour, time.Hour}),
	} {
		a := ageBased{5 * time.Second, time.Hour, s}
		last := a.at(0)
		if last != a.floor {
			t.Errorf("%s: data of no age has a lifetime of %s, want the floor", name, last)
		}
		for age := time.Duration(0); age < 48*time.Hour; age += 7 * time.Second {
			now := a.at(age)
			if now < last || now > a.most {
				t.Fatalf("%s: data of age %s has a lifetime of %s, younger data one of %s, and the cap is %s",
					name, age, now, last, a.most)
			}
			last = now
		}
	}
}

// polled reads one bucket every second, starting with the run.
func polled(until time.Duration) workload {
	return func(*Random) traffic {
		now := -time.Second
		return func() (Read, bool) {
			now += time.Second
			return Read{At: now}, now < until
		}
	}
}

// A constantly polled bucket is refreshed 38 times in its first ten minutes, and 62 times in a day; under a uniform
// lifetime of 5 s, 17,280 times a day.
func TestRefreshesOfABucket(t *testing.T) {
	for _, test := range []struct {
		lifetime Lifetime
		lasts    time.Duration
		want     uint64
	}{
		{Netflix(), 10 * time.Minute, 38},
		{Netflix(), 24 * time.Hour, 62},
		{Absolute(5 * time.Second), 24 * time.Hour, 17_280},
	} {
		x := Experiment{
			Policy:   Policy{Lifetime: test.lifetime, Refresh: Locked()},
			Workload: polled(test.lasts), Lasts: test.lasts,
		}
		got, err := x.Run(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if got.renders != test.want {
			t.Errorf("%T for %s: got %d refreshes, want %d", test.lifetime, test.lasts, got.renders, test.want)
		}
	}
}
