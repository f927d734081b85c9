package property

import (
	"context"
	"flag"
	"fmt"

	"github.com/isr-sim/isr-sim/internal/explain"
	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// explainFlag has a test that begins with the file of its last failure explain it. A file cannot: the store that it
// needs is in the test.
const explainFlag = "isrsim.explain"

var explaining = flag.Bool(explainFlag, false,
	"explain the failure that the last run of the test has left: its chance after each step, and the events that it needed")

// explainTails is the number of random tails for each step. Each is a run through the SDK; none of 100 is a chance of
// less than 3%.
const explainTails = 100

// explained prints the chance of a recorded violation after each of its steps, and writes it into the record of the run.
func (r runner) explained(s *scenario.Scenario, file string) string {
	g := r.guard(&answers{}, s)
	x, err := inside(r, func(ctx context.Context) (*explain.Explanation, error) {
		return explain.Explain{
			Failed: scenario.Run{
				Scenario: s, Protocol: g.protocol(r.name, r.newStore), Seed: s.Replay.Seed, Strategy: sim.Replay(s.Replay.Choices),
				Options: r.options(),
			},
			Tails: explainTails, Workers: 1, // the guard follows the one run there is
		}.Run(ctx)
	})
	if err != nil {
		return fmt.Sprintf("not explained: %v", err)
	}
	return fmt.Sprintf("why %s is violated\n\n%s%s",
		x.Outcome.Violation.Invariant.Name, prose.Explanation(x, false), r.record(s, *s.Replay, x.Record(), file))
}
