package lab

import (
	"math"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// The monthly bill is that of the steady state, whatever the lifetime. Under stale-while-revalidate a key that is read
// at the rate l is rendered every T + 1/l seconds, and a share 1 - (1 - exp(-WT))/(WT) of the reads in its lifetime T
// find it outdated. A run that starts with an empty store renders forty times as much in its first half minute.
func TestScaleBillsTheSteadyState(t *testing.T) {
	effort.Long(t)
	s := Settings{
		Lifetime: time.Hour, Render: 500 * time.Millisecond, WarmUp: 20 * time.Second, Lasts: 10 * time.Second,
		Reads: 20_000, Changes: 1.0 / 600, Keys: 100_000, Zipf: 0.9, Prices: policy.OnDemand, Seed: 1, Seeds: 4,
		Workers: 2, Store: policy.Store{Bytes: 400, Latency: 5 * time.Millisecond, Retention: 24 * time.Hour,
			Lag: policy.ExponentialWith(time.Hour)},
		Tier: policy.Tier{Nodes: 1000},
	}
	s.Seeds = effort.Fewer(4, 1)
	p, err := policy.Named("recipe-a-stale", s.Lifetime)
	must.OK(t, err)
	scale, err := MeasureScale(t.Context(), s, p, nil)
	must.OK(t, err)
	var weights, renders, outdated float64
	lifetime := s.Lifetime.Seconds()
	for k := 1; k <= s.Keys; k++ {
		weights += math.Pow(float64(k), -s.Zipf)
	}
	_, overLifetime := policy.Staleness(s.Changes, s.Lifetime)
	for k := 1; k <= s.Keys; k++ {
		share := math.Pow(float64(k), -s.Zipf) / weights
		reads := s.Reads * share * lifetime // in a lifetime
		renders += reads / (1 + reads) / lifetime
		// The read that ends the cycle finds data as old as a lifetime or older.
		outdated += share * (reads*overLifetime + 1) / (1 + reads)
	}
	// A read costs a unit. A render reads again, takes the lock, and publishes META and LOCK in a transaction.
	const month = 30 * 24 * 3600
	cost := month / 1e6 * (policy.OnDemand.ReadUnits*(s.Reads+renders) + policy.OnDemand.WriteUnits*5*renders)
	for _, figure := range []struct {
		measure          policy.Measure
		want, off, issue float64
	}{
		{policy.Renders, renders, 0.15, 27.6}, // about 280 of them are counted
		{policy.Outdated, outdated, 0.04, 0.83},
		{policy.CostMonth, cost, 0.02, 6700},
	} {
		got := scale.Bare.Of(figure.measure).Mean
		if math.Abs(got/figure.want-1) > figure.off || math.Abs(figure.want/figure.issue-1) > 0.01 {
			t.Errorf("%s: got %g, want %g to within %g %%, as by hand (about %g)", figure.measure, got, figure.want,
				100*figure.off, figure.issue)
		}
	}
	if cold := scale.ColdBare.Of(policy.Renders).Mean; cold < 40*renders {
		t.Errorf("got %g renders a second in a cold start, want more than forty times the %g of the steady state", cold,
			renders)
	}
}

// In the steady state the nodes' copies end at different times, not all at once.
func TestATierIsSteadyToo(t *testing.T) {
	effort.OneAtATime(t)
	s := Settings{
		Lifetime: time.Minute, Render: 500 * time.Millisecond, WarmUp: 2 * time.Second, Lasts: 4 * time.Second,
		Reads: 30_000, Keys: 10, Zipf: 0.9, Seed: 1, Seeds: 1, Workers: 2, Tier: policy.Tier{Nodes: 100},
	}
	p, err := policy.Named("absolute", s.Lifetime)
	must.OK(t, err)
	scale, err := MeasureScale(t.Context(), s, p, nil)
	must.OK(t, err)
	if !scale.Ended || scale.Bare.Of(policy.Throttled).Mean == 0 || scale.Tiered.Of(policy.Throttled).Mean > 0 {
		t.Errorf("got %g throttled requests a second without a tier and %g with one, want many and none",
			scale.Bare.Of(policy.Throttled).Mean, scale.Tiered.Of(policy.Throttled).Mean)
	}
	if cold, steady := scale.ColdTiered.Of(policy.Renders).Mean, scale.Tiered.Of(policy.Renders).Mean; cold == 0 ||
		steady > 1 {
		t.Errorf("got %g renders a second in a cold start and %g in the steady state, want some, and those of 10 "+
			"keys a minute", cold, steady)
	}
}
