package policy_test

import (
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
