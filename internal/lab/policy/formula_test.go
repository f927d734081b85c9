package policy

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/race"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// tolerance is the largest distance between the simulator's result and a formula: a formula that is 5 % off must fail.
const tolerance = 0.05

// repeated runs an experiment ten times.
func repeated(t *testing.T, x Experiment) *Summary {
	t.Helper()
	return must.Of(x.Repeat(t.Context(), 1, 10, runtime.GOMAXPROCS(0), nil))(t)
}

// meets checks that a formula lies in the interval of a simulation, and that the interval is narrow enough to exclude a
// formula that is 5 % off.
func meets(t *testing.T, s *Summary, m Measure, formula float64) {
	t.Helper()
	got := s.Of(m)
	if got.Low > formula || got.High < formula {
		t.Errorf("%s: the formula gives %.5f, the simulation %.5f to %.5f", m, formula, got.Low, got.High)
	}
	if got.Low <= formula*(1-tolerance) || got.High >= formula*(1+tolerance) {
		t.Errorf("%s: %.5f to %.5f would hide a formula that is 5 %% off (%.5f)", m, got.Low, got.High, formula)
	}
}

// sets returns the parameters with which a formula is tested: all of them in the nightly run, none under -short, one
// otherwise. Under the race detector there are none: it runs TestOneSeedOneResult, whose experiments have the same
// goroutines.
func sets[P any](t *testing.T, all []P) []P {
	t.Helper()
	if race.Enabled {
		t.Skip("a formula is tested without the race detector")
	}
	effort.NotShort(t)
	return effort.Fewer(all, all[:1])
}

func secondsOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// lasting returns the time that a number of reads takes at a rate.
func lasting(reads, rate float64) time.Duration { return secondsOf(reads / rate) }

// onePoisson returns an experiment on one key, with renders that take no time.
func onePoisson(l, w float64, lifetime Lifetime, refresh Refresh) Experiment {
	return Experiment{
		Policy: Policy{Lifetime: lifetime, Refresh: refresh}, Workload: Poisson{Reads: l, Changes: w},
		WarmUp: lasting(1000, l), Lasts: lasting(60_000, l),
	}
}

// TestFormulas compares the figures of experiments on one key with the formulas of the policies.
func TestFormulas(t *testing.T) {
	type meant = map[Measure]float64
	for _, of := range []struct {
		name string
		sets [][]float64
		make func(p []float64) (Experiment, meant)
	}{
		{"absolute", [][]float64{{1, 0.3, 2}, {5, 0.1, 3}, {0.5, 0.1, 10}}, func(p []float64) (Experiment, meant) {
			l, w, lifetime := p[0], p[1], p[2]
			x := onePoisson(l, w, Absolute(secondsOf(lifetime)), Unprotected())
			x.Lasts *= 4
			return x, meant{
				HitRatio: absoluteHits(l, lifetime), Outdated: absoluteOutdated(l, w, lifetime),
				OutdatedAtExpiry: outdatedAtExpiry(w, lifetime),
			}
		}},
		{"sliding", [][]float64{{1, 0.3, 2}, {2, 0.1, 1}, {0.5, 0.2, 3}}, func(p []float64) (Experiment, meant) {
			l, w, lifetime := p[0], p[1], p[2]
			x := onePoisson(l, w, Sliding(secondsOf(lifetime)), Unprotected())
			return x, meant{HitRatio: slidingHits(l, lifetime), Outdated: slidingOutdated(l, w, lifetime)}
		}},
		{"hybrid", [][]float64{{1, 2, 5}, {2, 1, 3}, {0.5, 3, 4}}, func(p []float64) (Experiment, meant) {
			l, idle, most := p[0], p[1], p[2]
			return onePoisson(l, 0, Hybrid(secondsOf(idle), secondsOf(most)), Unprotected()),
				meant{HitRatio: hybridHits(l, idle, most)}
		}},
		{"periodic", [][]float64{{5, 0.3, 2}, {10, 0.1, 5}, {2, 0.5, 10}}, func(p []float64) (Experiment, meant) {
			l, w, every := p[0], p[1], p[2]
			x := onePoisson(l, w, Absolute(secondsOf(every)), Periodic())
			x.Lasts *= 2
			return x, meant{
				Outdated: 1 - freshShare(w*every), OutdatedAge: periodicAge(w, every),
				OutdatedOver1s: periodicOver(1, w, every),
			}
		}},
		{"stale while revalidate", [][]float64{{2, 0.3, 0.5, 2}, {10, 0.05, 1, 5}, {0.5, 0.1, 3, 6}},
			func(p []float64) (Experiment, meant) {
				l, w, d, lifetime := p[0], p[1], p[2], p[3]
				x := onePoisson(l, w, Absolute(secondsOf(lifetime)), StaleWhileRevalidate())
				x.Render = Fixed(secondsOf(d))
				x.Lasts *= 2
				return x, meant{
					Renders: swrRenders(l, lifetime), KnownStale: swrStale(l, d, lifetime),
					Outdated: swrOutdated(l, w, d, lifetime), RendersPerRefresh: 1,
				}
			}},
		{"unprotected", [][]float64{{2, 0.5, 10}, {20, 1, 5}, {100, 0.2, 3}}, func(p []float64) (Experiment, meant) {
			l, d, lifetime := p[0], p[1], p[2]
			x := onePoisson(l, 0, Absolute(secondsOf(lifetime)), Unprotected())
			x.Render = Fixed(secondsOf(d))
			return x, meant{RendersPerRefresh: unprotectedRenders(l, d)}
		}},
		// Before one expiry, about exp(1/beta) readers render under XFetch. Public pages that say "exactly one" are
		// wrong.
		{"XFetch", [][]float64{{1, 20, 15}, {0.5, 100, 8}, {2, 20, 40}}, func(p []float64) (Experiment, meant) {
			beta, l, lifetime := p[0], p[1], p[2]
			x := onePoisson(l, 0, Absolute(secondsOf(lifetime)), XFetch(beta))
			x.Render = Fixed(time.Second)
			x.Lasts = 800 * secondsOf(lifetime)
			return x, meant{RendersPerRefresh: xfetchRenders(beta), Early: xfetchEarly(l, beta, 1)}
		}},
		{"two tiers", [][]float64{{1, 2, 10}, {5, 0.3, 2}, {0.5, 1, 7}}, func(p []float64) (Experiment, meant) {
			l, t1, t2 := p[0], p[1], p[2]
			x := onePoisson(l, 0, Absolute(secondsOf(t2)), Unprotected())
			x.Tier = Tier{Keys: 1, Lifetime: secondsOf(t1)}
			h1, h2 := absoluteHits(l, t1), secondTierHits(l, t1, t2)
			return x, meant{TierRatio: h1, HitRatio: h1 + (1-h1)*h2}
		}},
	} {
		for _, p := range sets(t, of.sets) {
			t.Run(fmt.Sprint(of.name, p), func(t *testing.T) {
				t.Parallel()
				x, want := of.make(p)
				s := repeated(t, x)
				for m, formula := range want { //isrsim:unordered each by itself
					meets(t, s, m, formula)
				}
			})
		}
	}
}

// The figures that documentation quotes, for the same reads and changes, and the same lifetime.
func TestSlidingIsThreeTimesAsOutdatedAsAbsolute(t *testing.T) {
	if got := slidingOutdated(1, 0.3, 2); math.Abs(got-0.530) > 0.0005 {
		t.Errorf("sliding: got %.4f, want 0.530", got)
	}
	if got := absoluteOutdated(1, 0.3, 2); math.Abs(got-0.1655) > 0.001 {
		t.Errorf("absolute: got %.4f, want 0.165", got)
	}
}

// holds checks a formula against counts of independent trials: it must lie in the 99 % interval of the share, which
// must exclude a formula that is 5 % off.
func holds(t *testing.T, name string, hits, trials int, formula float64) {
	t.Helper()
	share := float64(hits) / float64(trials)
	half := 2.576 * math.Sqrt(share*(1-share)/float64(trials))
	if math.Abs(share-formula) > half {
		t.Errorf("%s: the formula gives %.5f, the simulation %.5f to %.5f", name, formula, share-half, share+half)
	}
	if half >= formula*tolerance/2 {
		t.Errorf("%s: %.5f to %.5f would hide a formula that is 5 %% off (%.5f)", name, share-half, share+half, formula)
	}
}

// A read refreshes early with the probability exp(-g/(beta D)).
func TestXFetchChance(t *testing.T) {
	const trials = 100_000
	for _, p := range [][3]float64{{0.5, 1, 0.4}, {1, 2, 1}, {2, 0.5, 1.5}} {
		beta, d, left := p[0], p[1], p[2]
		e, random, early := &Entry{FreshUntil: secondsOf(left), Render: secondsOf(d)}, newRandom(1, 0), 0
		for range trials {
			if XFetch(beta).Read(e, false, 0, random) == Revalidate {
				early++
			}
		}
		holds(t, fmt.Sprint(p), early, trials, xfetchChance(left, beta, d))
	}
}

// Che's formula is an approximation: it may be off by two points.
func TestLRU(t *testing.T) {
	type set struct {
		keys     Zipf
		capacity int
	}
	for _, p := range sets(t, []set{{Zipf{1000, 0.8}, 100}, {Zipf{10_000, 1}, 500}, {Zipf{500, 0}, 50}}) {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			t.Parallel()
			x := Experiment{
				Policy:   Policy{Lifetime: Absolute(never / 4), Refresh: Unprotected()},
				Workload: Poisson{Reads: 100, Keys: p.keys},
				Tier:     Tier{Keys: p.capacity, Lifetime: never / 4},
				WarmUp:   500 * time.Second, Lasts: 2000 * time.Second,
			}
			s := must.Of(x.Repeat(t.Context(), 1, 2, 1, nil))(t)
			weights, sum := p.keys.weights(), 0.0
			for _, w := range weights {
				sum += w
			}
			for i := range weights {
				weights[i] /= sum
			}
			got, want := s.Of(TierRatio).Mean, cheHits(weights, p.capacity)
			if math.Abs(got-want) > 0.02 {
				t.Errorf("hit ratio: got %.4f, want %.4f to within 2 points", got, want)
			}
		})
	}
}

// workload has data that never changes. Calling it once returns the function that gives the next read.
type workload func(random *Random) traffic

func (w workload) Begin(reads, _ *Random) Traffic { return w(reads) }

type traffic func() (Read, bool)

func (t traffic) Read() (Read, bool) { return t() }

func (traffic) Changed(int, time.Duration) time.Duration { return Never }

// fleeting reads each key once.
func fleeting(gap float64) workload {
	return func(random *Random) traffic {
		now, key := time.Duration(0), -1
		return func() (Read, bool) {
			now += random.after(gap)
			key++
			return Read{At: now, Key: key}, true
		}
	}
}

// The number of expired rows that still exist is the number that expires per second, times the mean lag.
func TestRowsPastTheirTTL(t *testing.T) {
	effort.NotShort(t)
	type set struct {
		rate float64
		lag  Dist
		mean float64
	}
	all := []set{
		{5, Fixed(90 * time.Second), 90},
		{20, ExponentialWith(30 * time.Second), 30},
		{2, Pareto(20*time.Second, 3), 30},
		{3, Between(10*time.Second, 110*time.Second), 60},
	}
	for _, p := range effort.Fewer(all, all[1:3]) {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			t.Parallel()
			x := Experiment{
				Policy:   Policy{Lifetime: Absolute(time.Second), Refresh: Unprotected()},
				Workload: fleeting(gapOf(p.rate)),
				Store:    Store{Retention: 10 * time.Second, Lag: p.lag},
				WarmUp:   300 * time.Second, Lasts: 3000 * time.Second,
			}
			s := repeated(t, x)
			meets(t, s, RowsPast, p.rate*p.mean)
		})
	}
}

// The optimum costs less than any other lifetime, and for small rates it is the optimum of the literature.
func TestOptimum(t *testing.T) {
	for _, p := range []struct{ c, s, w, want, rule float64 }{
		{1, 1, 0.01, 14.86, 14.14}, {1, 1, 0.5, 3.36, 2.00}, {0.5, 0.8, 0.1 / 3600, 212.55, 212.13},
	} {
		got := optimum(p.c, p.s, p.w)
		if math.Abs(got-p.want) > 0.005 || math.Abs(firstOrderOptimum(p.c, p.s, p.w)-p.rule) > 0.005 {
			t.Errorf("W = %g: got %.3f and %.3f, want %.2f and %.2f", p.w, got,
				firstOrderOptimum(p.c, p.s, p.w), p.want, p.rule)
		}
		cost := func(lifetime float64) float64 { return p.c/lifetime + p.s*(1-freshShare(p.w*lifetime)) }
		for _, other := range []float64{0.9, 0.99, 1.01, 1.1} {
			if cost(got*other) <= cost(got) {
				t.Errorf("W = %g: a lifetime of %g costs %g, the optimum %g costs %g", p.w, got*other,
					cost(got*other), got, cost(got))
			}
		}
	}
	if got := optimum(2, 1, 0.5); !math.IsInf(got, 1) {
		t.Errorf("a refresh that never pays: got %g, want an infinite lifetime", got)
	}
}

// The formula's lifetime is the cheapest in the simulation, too, and costs as much as the formula says. Half of it, and
// twice as much, cost more.
func TestOptimumIsCheapest(t *testing.T) {
	for _, p := range sets(t, [][3]float64{{1, 1, 0.5}, {1, 1, 0.1}, {0.2, 2, 1}}) {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			t.Parallel()
			c, s, w := p[0], p[1], p[2]
			cost := func(lifetime float64) Interval {
				x := onePoisson(5, w, Absolute(secondsOf(lifetime)), Periodic())
				x.Lasts = secondsOf(4000 * lifetime)
				summary := must.Of(x.Repeat(t.Context(), 1, 10, 1, nil))(t)
				values := make([]float64, len(summary.Results))
				for i, r := range summary.Results {
					values[i] = c*r.Value(Renders) + s*r.Value(Outdated)
				}
				return interval(values, summary.Confidence)
			}
			best := optimum(c, s, w)
			formula := c/best + s*(1-freshShare(w*best))
			got := cost(best)
			if got.Low > formula || got.High < formula || got.Low <= formula*(1-tolerance) ||
				got.High >= formula*(1+tolerance) {
				t.Errorf("the formula costs %.4f, the simulation %.4f to %.4f", formula, got.Low, got.High)
			}
			for _, other := range []float64{best / 2, best * 2} {
				if o := cost(other); o.Low <= got.High {
					t.Errorf("a lifetime of %.2f s costs %.4f to %.4f, the optimum %.2f s %.4f to %.4f", other, o.Low,
						o.High, best, got.Low, got.High)
				}
			}
		})
	}
}

// outcome plays lines of time,key,kind with a policy. Renders take 2 s, reads of a row 1 s.
func outcome(t *testing.T, x Experiment, lines ...string) *Result {
	t.Helper()
	trace, err := ReadTrace("bounds.csv", strings.NewReader("time,key,kind\n"+strings.Join(lines, "\n")+"\n"))
	must.OK(t, err)
	x.Workload, x.Render, x.Store.Latency = trace, Fixed(2*time.Second), time.Second
	if x.Policy.Lifetime == nil {
		x.Policy = Policy{Lifetime: Absolute(10 * time.Second), Refresh: Locked()}
	}
	r, err := x.Run(t.Context(), 1)
	must.OK(t, err)
	return r
}

// Reads and changes in the exact second of an expiry. A formula over random times does not cover them.
func TestCountsAtTheirBounds(t *testing.T) {
	unprotected := Policy{Lifetime: Absolute(10 * time.Second), Refresh: Unprotected()}
	for _, test := range []struct {
		name  string
		x     Experiment
		lines []string
		m     Measure
		want  float64
	}{
		{"a render under way at the end of the warm-up", Experiment{WarmUp: time.Second, Lasts: 9 * time.Second},
			[]string{"0,/a,read", "5,/a,read"}, RendersAtOnce, 1},
		{"two of one key", Experiment{Policy: unprotected, WarmUp: time.Second, Lasts: 9 * time.Second},
			[]string{"0,/a,read", "0.5,/a,read", "0.5,/b,read", "5,/a,read"}, RendersOfOneKey, 2},
		{"a render that ends in the warm-up", Experiment{WarmUp: 2001 * time.Millisecond, Lasts: 8 * time.Second},
			[]string{"0,/a,read", "5,/a,read"}, RendersAtOnce, 0},
		{"a read when the data changes", Experiment{WarmUp: time.Second, Lasts: 6 * time.Second},
			[]string{"0,/a,read", "5,/a,change", "5,/a,read"}, Outdated, 0.5},
		{"a read just before", Experiment{WarmUp: time.Second, Lasts: 6 * time.Second},
			[]string{"0,/a,read", "4.999,/a,read", "5,/a,change"}, Outdated, 0},
		{"waiting for another's render, and for the store", Experiment{Lasts: 6 * time.Second},
			[]string{"0,/a,read", "1,/a,read"}, LatencyMean, (3 + 2) / 2.0},
		{"one who has waited has a copy",
			Experiment{Tier: Tier{Keys: 1, Lifetime: time.Minute}, Lasts: 6 * time.Second},
			[]string{"0,/a,read", "1,/a,read", "3,/a,read", "4,/a,read"}, TierRatio, 0.5},
		{"data that changes when its lifetime ends", Experiment{Lasts: 20 * time.Second},
			[]string{"0,/a,read", "10,/a,change"}, OutdatedAtExpiry, 1},
		{"a lifetime that ends with the run", Experiment{Lasts: 10 * time.Second},
			[]string{"0,/a,read", "5,/a,change"}, OutdatedAtExpiry, 1},
		{"data that changes later", Experiment{Lasts: 20 * time.Second},
			[]string{"0,/a,read", "10.001,/a,change"}, OutdatedAtExpiry, 0},
		{"a row that is deleted in the last second",
			Experiment{Store: Store{Retention: 18 * time.Second}, Lasts: 20 * time.Second},
			[]string{"0,/a,read"}, TimeToLiveDeletedItemCount, 1},
		{"a row that is deleted after it",
			Experiment{Store: Store{Retention: 19 * time.Second}, Lasts: 20 * time.Second},
			[]string{"0,/a,read"}, TimeToLiveDeletedItemCount, 0},
		{"a row that is deleted when the warm-up ends",
			Experiment{Store: Store{Retention: 8 * time.Second}, WarmUp: 10 * time.Second, Lasts: 14 * time.Second},
			[]string{"0,/a,read", "15,/b,read"}, TimeToLiveDeletedItemCount, 1},
		{"a row that is deleted before",
			Experiment{Store: Store{Retention: 7 * time.Second}, WarmUp: 10 * time.Second, Lasts: 8 * time.Second},
			[]string{"0,/a,read", "15,/a,read"}, TimeToLiveDeletedItemCount, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := outcome(t, test.x, test.lines...).Value(test.m); got != test.want {
				t.Errorf("%s: got %g, want %g", test.m, got, test.want)
			}
		})
	}
}

// Under a sliding lifetime each read moves the row's expiry, as the protocol policy-sliding writes it: the row is not
// deleted while it is read. Under a cap the expiry is that of the longest possible freshness, and no read moves it.
func TestSlidingRowsRenewTheirExpiry(t *testing.T) {
	var lines []string
	for second := 0; second <= 60; second += 5 {
		lines = append(lines, fmt.Sprintf("%d,/a,read", second))
	}
	idle, long := Sliding(10*time.Second), Hybrid(10*time.Second, time.Hour)
	for _, test := range []struct {
		name     string
		lifetime Lifetime
		redis    bool
		renders  uint64
	}{
		{"sliding", idle, false, 1},
		{"sliding in Redis", idle, true, 1},
		{"sliding with jitter", Jitter(idle, 0.1), false, 1},
		{"sliding for its class", Tiered(idle), false, 1},
		{"under a cap", long, false, 3}, // at 0, 25 and 50 s
		{"under a cap in Redis", long, true, 3},
		{"under a cap with jitter", Jitter(long, 0.1), false, 3},
	} {
		x := Experiment{
			Policy: Policy{Lifetime: test.lifetime, Refresh: Locked()},
			Store:  Store{Retention: 20 * time.Second, Redis: test.redis}, Lasts: time.Minute,
		}
		if r := outcome(t, x, lines...); r.renders != test.renders || r.Value(RowsPast) > 0 {
			t.Errorf("%s: got %d renders and %g rows past their ttl, want %d and none", test.name, r.renders,
				r.Value(RowsPast), test.renders)
		}
	}
}

// The formulas from here on hold for the same key as those of formula.go. Only tests need them.

// slidingHits is the share of reads that hit under a sliding lifetime: the gap since the last read was shorter than T.
func slidingHits(l, t float64) float64 { return -math.Expm1(-l * t) }

// slidingOutdated is the share of reads that see outdated data under a sliding lifetime. S(s) is the transform of the
// time since the miss, summed over the hits that follow it: a gap below T has the transform
// g(s) = L (1 - exp(-(s+L)T)) / (s+L), and the sum over chains of gaps is g/(1-g); the chance of a miss is exp(-LT).
func slidingOutdated(l, w, t float64) float64 {
	s := func(s float64) float64 { return -math.Expm1(-(s+l)*t) / (s + l*math.Exp(-(s+l)*t)) }
	return l * math.Exp(-l*t) * (s(0) - s(w))
}

// hybridHits is the share of reads that hit under a sliding lifetime T below a cap M: N is the mean number of hits that
// follow a miss, the integral over [0, M] of the density of renewals whose gaps are all below T.
func hybridHits(l, t, m float64) float64 {
	n := 0.0
	power := func(x float64, k int) float64 { return math.Pow(max(0, x), float64(k)) }
	for k := 0; float64(k)*t < m; k++ {
		term := l * math.Pow(-l, float64(k)) / math.Gamma(float64(k+2))
		n += term * (math.Exp(-float64(k)*l*t)*power(m-float64(k)*t, k+1) -
			math.Exp(-float64(k+1)*l*t)*power(m-float64(k+1)*t, k+1))
	}
	return n / (1 + n)
}

// periodicAge is how long data has been outdated at a random read, if it is refreshed every T.
func periodicAge(w, t float64) float64 {
	x := w * t
	return t * (0.5 - 1/x - math.Expm1(-x)/(x*x))
}

// periodicOver is the share of reads that see data which has been outdated for more than a time a: reads come at
// uniform times u of the interval T, and the data had changed before u - a.
func periodicOver(a, w, t float64) float64 { return (t - a) / t * (1 - freshShare(w*(t-a))) }

// swrRenders is the number of renders per second under stale-while-revalidate: the first read after a lifetime starts
// the next render.
func swrRenders(l, t float64) float64 { return 1 / (t + 1/l) }

// swrStale is the share of reads that are served a value known to be stale: the read that starts the render, and those
// during it.
func swrStale(l, d, t float64) float64 { return (1 + l*d) / (1 + l*t) }

// swrOutdated is the share of reads that see outdated data under stale-while-revalidate, for renders of duration D < T.
// A cycle has LT + 1 reads: those from D to T of the new value's age, the one that ends the wait (after a time that is
// exponential with L), and those during the next render.
func swrOutdated(l, w, d, t float64) float64 {
	g := l / (l + w)
	fresh := l * ((t - d) - (math.Exp(-w*d)-math.Exp(-w*t))/w)
	first := 1 - g*math.Exp(-w*t)
	during := l * (d - g*math.Exp(-w*t)*(-math.Expm1(-w*d))/w)
	return (fresh + first + during) / (1 + l*t)
}

// unprotectedRenders is the number of readers that render at an expiry without protection: the first, and all that come
// during its render.
func unprotectedRenders(l, d float64) float64 { return 1 + l*d }

// xfetchChance is the probability that a read at g before the expiry refreshes under XFetch: that of an exponential
// draw above g/(beta D).
func xfetchChance(g, beta, d float64) float64 { return math.Exp(-g / (beta * d)) }

// xfetchRenders is the number of readers that render before an expiry under XFetch: the first one, and those who draw a
// refresh during its render. The draw's rate grows by the factor exp(1/beta) in a render's time.
func xfetchRenders(beta float64) float64 { return math.Exp(1 / beta) }

// xfetchEarly is the time from the first refresh to the expiry under XFetch, for renders of duration D.
func xfetchEarly(l, beta, d float64) float64 {
	const euler = 0.57721566490153286
	return beta * d * (math.Log(l*beta*d) + euler)
}

// gammaBelow is P(Gamma(k, L) <= t): the probability of at least k reads within t.
func gammaBelow(k int, l, t float64) float64 {
	if t <= 0 {
		return 0
	}
	term, sum := 1.0, 0.0
	for i := range k {
		if i > 0 {
			term *= l * t / float64(i)
		}
		sum += term
	}
	return 1 - math.Exp(-l*t)*sum
}

// secondTierHits is the share of the first tier's misses that hit in the second tier. The first keeps copies for T1,
// and the second keeps values for T2. The k-th miss after the miss that filled both comes k T1 and k gaps later.
func secondTierHits(l, t1, t2 float64) float64 {
	m := 0.0
	for k := 1; float64(k)*t1 <= t2; k++ {
		m += gammaBelow(k, l, t2-float64(k)*t1)
	}
	return m / (1 + m)
}

// cheHits is the hit ratio of an LRU cache with room for size keys. Each read asks for a key with its probability,
// whatever was read before. In this model a key is in the cache if it was read within the characteristic time, which is
// the same for all keys.
//
// Source: H. Che, Y. Tung, Z. Wang, Hierarchical Web caching systems, 2002.
func cheHits(probabilities []float64, size int) float64 {
	kept := func(t float64) (n float64) {
		for _, p := range probabilities {
			n += -math.Expm1(-p * t)
		}
		return n
	}
	low, high := 0.0, 1.0
	for kept(high) < float64(size) {
		high *= 2
	}
	for range 100 {
		if t := (low + high) / 2; kept(t) < float64(size) {
			low = t
		} else {
			high = t
		}
	}
	hits := 0.0
	for _, p := range probabilities {
		hits += p * -math.Expm1(-p*high)
	}
	return hits
}
