package policy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/scenario/policy"
)

// Each recommendation is met at its figure, and not met just beyond it.
func TestRecommend(t *testing.T) {
	met := policy.Operation{Revalidate: time.Hour, Retention: time.Hour + time.Minute, Lag: time.Hour + time.Minute, KeyReads: 3000}
	if got := policy.Recommend(met); got != nil {
		t.Errorf("got %v, want none", got)
	}
	if got := policy.Recommend(policy.Operation{Revalidate: time.Hour, Lag: 48 * time.Hour}); got != nil {
		t.Errorf("rows that are kept for ever: got %v, want none", got)
	}
	for _, test := range []struct {
		change func(*policy.Operation)
		want   string
	}{
		{func(o *policy.Operation) { o.Revalidate += time.Second },
			"retention: found 1h1m0s, expected at least 1h1m1s: a row is fresh for 1h0m1s, and may be deleted no sooner than 1m0s after that"},
		{func(o *policy.Operation) { o.Buffer = 2 * time.Minute },
			"retention: found 1h1m0s, expected at least 1h2m0s: a row is fresh for 1h0m0s, and may be deleted no sooner than 2m0s after that"},
		{func(o *policy.Operation) { o.Buffer = 59 * time.Second },
			"ttl-buffer: found 59s, expected at least 1m0s: no reader may depend on when exactly TTL deletes"},
		{func(o *policy.Operation) { o.Lag += time.Second },
			"ttl-lag: found 1h1m1s, expected at most 1h1m0s, the retention: most rows in the table are past their ttl, and their storage is paid for"},
		{func(o *policy.Operation) { o.KeyReads = 3001 },
			"hot-key: found 3001 read units a second, expected at most 3000: one partition key takes no more; a tier in the memory of the nodes reads it less often"},
		{func(o *policy.Operation) { o.Throttled = 0.5 },
			"throttled: found 0.5 requests a second, expected none: an alarm on ThrottledRequests would ring"},
	} {
		o := met
		test.change(&o)
		var got []string
		for _, r := range policy.Recommend(o) {
			got = append(got, r.String())
		}
		if diff := cmp.Diff([]string{test.want}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A minute of one key, fresh for 10 s, rendered in 3.5 s, kept for 15 s: counted by hand. It is rendered at 0, 14, 40
// and 60 s. During each of the first three renders three readers fail to take the lock.
func TestMeasuresOfCloudWatch(t *testing.T) {
	lines := []string{"time,key"}
	for _, at := range []string{"0", "1", "2", "3", "4", "14", "15", "16", "17", "40", "41", "42", "43", "60"} {
		lines = append(lines, at+",a")
	}
	trace, err := policy.ReadTrace("by hand", strings.NewReader(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	named := policy.All(10 * time.Second)
	locked := named[slices.IndexFunc(named, func(p policy.Policy) bool { return p.Name == "recipe-a-stale" })]
	r, err := policy.Experiment{
		Policy: locked, Workload: trace, Render: policy.Fixed(3500 * time.Millisecond), Lasts: time.Minute,
		Store: policy.Store{Retention: 15 * time.Second},
	}.Run(1)
	if err != nil {
		t.Fatal(err)
	}
	for m, want := range map[policy.Measure]float64{ //isrsim:unordered each by itself
		policy.ConditionalCheckFailedRequests: 9, // three readers during each of three renders
		policy.TimeToLiveDeletedItemCount:     2, // stored at 3.5 s (replaced at 17.5 s), at 17.5 s and at 43.5 s
		policy.ThrottledRequests:              0,
		policy.ConsumedReadCapacityUnits:      18, // 14 readers, and a second look in each of four renders
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
