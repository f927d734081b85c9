package lab

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Each recommendation is fulfilled at its figure, and violated just beyond it.
func TestRecommendations(t *testing.T) {
	met := operation{
		revalidate: time.Hour, retention: time.Hour + time.Minute, lag: time.Hour + time.Minute, keyReads: 3000,
	}
	if got := met.unmet(); got != nil {
		t.Errorf("got %v, want none", got)
	}
	if got := (operation{revalidate: time.Hour, lag: 48 * time.Hour}).unmet(); got != nil {
		t.Errorf("rows that are kept for ever: got %v, want none", got)
	}
	for _, test := range []struct {
		change func(*operation)
		want   string
	}{
		{func(o *operation) { o.revalidate += time.Second },
			"retention: found 1h1m0s, expected at least 1h1m1s: a row is fresh for 1h0m1s, and may be deleted no " +
				"sooner than 1m0s after that"},
		{func(o *operation) { o.lag += time.Second },
			"ttl-lag: found 1h1m1s, expected at most 1h1m0s, the retention: most rows in the table are past their " +
				"ttl, and their storage is paid for"},
		{func(o *operation) { o.keyReads = 3001 },
			"hot-key: found 3001 read units a second, expected at most 3000: one partition key takes no more; a " +
				"tier in the memory of the nodes reads it less often"},
		{func(o *operation) { o.throttled = 0.5 },
			"throttled: found 0.5 requests a second, expected none: an alarm on ThrottledRequests would ring"},
	} {
		o := met
		test.change(&o)
		if diff := cmp.Diff([]string{test.want}, o.unmet()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
