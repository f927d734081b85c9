package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

const (
	askAgain = 500 * time.Millisecond // how often a reader checks whether a render is over
	spare    = 10
	// MostRender is the longest render for which SafeLease finds a lease.
	MostRender = (hooks.MostPatience - spare) * askAgain
)

// leaseSchedules is the number of schedules that a lease must pass.
const leaseSchedules = 200

// SafeLease returns the smallest lease, in whole seconds, under which no holder that only renders ever loses its lock:
// two machines, with clocks that are off by the skew in opposite directions, ask for one page while it is rendered.
// Runs of recipe A under the scheduler find it. It leaves no room for pauses: a holder that may pause needs a lease
// that is longer by the pause, or it loses its lock and publishes nothing.
func SafeLease(ctx context.Context, render, skew time.Duration) (time.Duration, error) {
	safe := func(seconds int) (bool, error) { return leaseIsSafe(ctx, seconds, render, skew) }
	low, high := 0, 1 // low is unsafe
	for {
		ok, err := safe(high)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if low, high = high, 2*high; high > 1<<20 {
			return 0, fmt.Errorf("found no safe lease for a render of %s and a skew of %s", render, skew)
		}
	}
	for high-low > 1 {
		middle := (low + high) / 2
		ok, err := safe(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			high = middle
		} else {
			low = middle
		}
	}
	return time.Duration(high) * time.Second, nil
}

// leaseIsSafe runs one lease. The marks show whether a lock was lost.
func leaseIsSafe(ctx context.Context, seconds int, render, skew time.Duration) (bool, error) {
	patience := int(render/askAgain) + spare
	s, err := spec.Parse("lease.yaml", fmt.Appendf(nil, `name: lease
about: the smallest lease that is safe
max-clock-skew: %[3]s
cache: {lease: %[1]ds, revalidate: 24h, render: %[2]s, contention: wait, poll: %[5]s, patience: %[4]d}
actors:
  - {name: behind, clock: {offset: -%[3]s}, script: [get /home]}
  - {name: ahead, clock: {offset: %[3]s}, script: [get /home]}
bounds: {steps: 100000, ticks: 0}
reach: [lock-taken-over, publish-refused]
`, seconds, render, skew, patience, askAgain))
	if err != nil {
		return false, err
	}
	report, err := campaign.Campaign{
		Scenario: s, Protocol: recipe.References()[0], Seed: 1, Schedules: leaseSchedules,
	}.Run(ctx)
	if err != nil {
		return false, err
	}
	never := func(m string) bool { return slices.Contains(report.Missing, spec.Mark(m)) }
	return never("lock-taken-over") && never("publish-refused"), nil
}
