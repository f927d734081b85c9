package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// The lifetime with the least cost for a product catalogue, and what to expect of it.
func ExampleAdvise() {
	advice, err := policy.Advise(policy.Demand{
		Changes: 10.0 / 3600, Reads: 500, Miss: 1, Stale: 1.2, Longest: 10 * time.Minute,
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: %.1f %% of reads see outdated data, not %.1f %%\n", advice.Lifetime,
		100*advice.OverReads, 100*advice.AtExpiry)
	// Output:
	// 30s: 4.1 % of reads see outdated data, not 8.0 %
}

// A minute of one key that is fresh for 10 s, rendered in 3.5 s and kept for 15 s, counted by hand. It is rendered at
// 0, 14, 40 and 60 s. During each of the first three renders three readers fail to take the lock.
func TestMeasuresOfCloudWatch(t *testing.T) {
	lines := []string{"time,key"}
	for _, at := range []string{"0", "1", "2", "3", "4", "14", "15", "16", "17", "40", "41", "42", "43", "60"} {
		lines = append(lines, at+",a")
	}
	trace, err := policy.ReadTrace("by hand", strings.NewReader(strings.Join(lines, "\n")+"\n"))
	must.OK(t, err)
	named := policy.All(10 * time.Second)
	locked := named[slices.IndexFunc(named, func(p policy.Policy) bool { return p.Name == "recipe-a-stale" })]
	r, err := policy.Experiment{
		Policy: locked, Workload: trace, Render: policy.Fixed(3500 * time.Millisecond), Lasts: time.Minute,
		Store: policy.Store{Retention: 15 * time.Second},
	}.Run(t.Context(), 1)
	must.OK(t, err)
	for m, want := range map[policy.Measure]float64{ //isrsim:unordered each by itself
		policy.ConditionalCheckFailedRequests: 9, // three readers during each of three renders
		policy.TimeToLiveDeletedItemCount:     2, // stored at 3.5 s (replaced at 17.5 s), at 17.5 s and at 43.5 s
		policy.ThrottledRequests:              0,
		policy.ConsumedReadCapacityUnits:      18, // 14 readers, and a second read in each of four renders
		policy.ConsumedWriteCapacityUnits:     25, // 9 failed, 4 taken, 3 transactions of two rows at 2 units each
	} {
		if got := r.Value(m); got != want {
			t.Errorf("%s: got %g, want %g", m, got, want)
		}
	}
}

// The mean of each distribution.
func TestMeanOfDist(t *testing.T) {
	for _, test := range []struct {
		of   policy.Dist
		want time.Duration
	}{
		{policy.Dist{}, 0},
		{policy.Fixed(time.Minute), time.Minute},
		{policy.ExponentialWith(time.Hour), time.Hour},
		{policy.Between(time.Minute, 3*time.Minute), 2 * time.Minute},
		{policy.Pareto(time.Second, 2), 2 * time.Second},
		{policy.Pareto(time.Second, 1), policy.Never},
	} {
		if got := test.of.Mean(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.of, got, test.want)
		}
	}
}
