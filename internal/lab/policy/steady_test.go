package policy

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
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
