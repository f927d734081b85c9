package policy

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// below checks that the interval of one experiment lies below that of another.
func below(t *testing.T, m Measure, name string, low, high *Summary) {
	t.Helper()
	l, h := low.Of(m), high.Of(m)
	if l.High >= h.Low {
		t.Errorf("%s: got %s %s to %s, want less than %s to %s", name, m, m.Format(l.Low), m.Format(l.High),
			m.Format(h.Low), m.Format(h.High))
	}
}

// On a rolling dashboard whose data settles, lifetimes by age give fresher data for fewer renders than a uniform one.
// If old data changes as much as new data, lifetimes by age are worse: less fresh data for more renders.
func TestAgeBasedLifetimesAgainstUniformOnes(t *testing.T) {
	measure := func(lifetime Lifetime, late Dist) *Summary {
		t.Helper()
		s, err := Experiment{
			Policy: Policy{Lifetime: lifetime, Refresh: Locked()},
			Workload: Dashboard{
				Every: 10 * time.Second, Window: time.Hour, Bucket: time.Minute, Events: 0.5, Late: late,
			},
			WarmUp: time.Hour, Lasts: 4 * time.Hour,
		}.Repeat(t.Context(), 1, 6, runtime.GOMAXPROCS(0), nil)
		must.OK(t, err)
		return s
	}
	byAge := AgeBased(5*time.Second, time.Hour, Linear)
	settling := Pareto(5*time.Second, 1.2)
	aged, uniform := measure(byAge, settling), measure(Absolute(time.Minute), settling)
	below(t, Outdated, "data that settles", aged, uniform)
	below(t, Renders, "data that settles", aged, uniform)

	restless := ExponentialWith(24 * time.Hour)
	aged, uniform = measure(byAge, restless), measure(Absolute(100*time.Second), restless)
	below(t, Outdated, "data that never settles", uniform, aged)
	below(t, Renders, "data that never settles", uniform, aged)
}

// One seed gives one result, on any number of workers.
func TestOneSeedOneResult(t *testing.T) {
	x := Experiment{
		Policy:   Policy{Lifetime: Jitter(Absolute(10*time.Second), 0.5), Refresh: XFetch(1)},
		Workload: Poisson{Reads: 50, Changes: 0.01, Keys: Zipf{100, 0.9}, Rhythm: Bursty{time.Second, time.Second}},
		Render:   ExponentialWith(time.Second),
		Store:    Store{Bytes: 400, Retention: time.Minute, Lag: ExponentialWith(time.Minute)},
		Tier:     Tier{Nodes: 3, Keys: 10, Lifetime: time.Second},
		Prices:   OnDemand, Lasts: 1000 * time.Second,
	}
	one, err := x.Repeat(t.Context(), 1, 6, 1, nil)
	must.OK(t, err)
	many, err := x.Repeat(t.Context(), 1, 6, 5, nil)
	must.OK(t, err)
	for i := range one.Results {
		for _, m := range Measures() {
			if a, b := one.Results[i].Value(m), many.Results[i].Value(m); a != b {
				t.Errorf("seed %d: %s is %v on one worker and %v on five", i+1, m, a, b)
			}
		}
		if i > 0 && one.Results[i].Reads() == one.Results[0].Reads() {
			t.Errorf("seeds 1 and %d have the same number of reads: %d", i+1, one.Results[0].Reads())
		}
	}
}

// An interrupt ends a run midway: one seed of a large site may take hours.
func TestAnInterruptEndsARun(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	reads := 0
	hour := workload(func(*Random) traffic { // interrupted at its tenth read
		return func() (Read, bool) {
			if reads++; reads == 10 {
				interrupt()
			}
			return Read{At: time.Duration(reads)}, reads < 1_000_000
		}
	})
	x := Experiment{
		Policy: Policy{Lifetime: Absolute(time.Minute), Refresh: Locked()}, Workload: hour, Lasts: time.Hour,
	}
	if _, err := x.Repeat(ctx, 1, 1, 1, nil); !errors.Is(err, context.Canceled) || reads > 10_000 {
		t.Errorf("got %v after %d reads, want an end soon after the tenth", err, reads)
	}
}
