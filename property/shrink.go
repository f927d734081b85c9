package property

import (
	"context"
	"fmt"

	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// shrinkRuns bounds how many runs the schedule of a failure is shrunk in: a second or two, through the SDK.
var shrinkRuns = 2000

// shrunk returns the failure with a schedule of fewer context switches and steps, in the world that rapid has come to.
// A failure that is no violation, or cannot be shrunk, or for which there is no time, stays as it is.
func (r runner) shrunk(f *failure) *failure {
	if !f.violates() || r.limit.Err() != nil {
		return f
	}
	g := r.guard(&answers{}, f.world)
	s, err := inside(r, func(ctx context.Context) (*campaign.Shrunk, error) {
		return campaign.Shrink{
			Failed: scenario.Run{
				Scenario: f.world, Protocol: g.protocol(r.name, r.newStore), Seed: f.replay.Seed, Strategy: sim.Replay(f.replay.Choices),
				Options: r.options(),
			},
			Runs: shrinkRuns, ScheduleOnly: true,
		}.Run(ctx)
	})
	if err != nil || g.offence() != nil {
		return f // some other schedule breaks the store in another way, which is another failure
	}
	if s.Before == s.After {
		return f
	}
	smaller := r.outcome(f.world, s.Outcome)
	smaller.replay.Choices = s.Scenario.Replay.Choices
	smaller.how = fmt.Sprintf("%s\nits schedule shrunk from %d context switches and %d steps to %d and %d",
		f.how, s.Before.Switches, s.Before.Steps, s.After.Switches, s.After.Steps)
	if _, again := r.replay(f.world, *smaller.replay); again == nil || again.kind != f.kind {
		return f
	}
	return smaller
}
