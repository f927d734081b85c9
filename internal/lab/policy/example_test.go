package policy_test

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
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
