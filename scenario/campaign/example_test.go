package campaign_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

const pausedWriter = `
name: paused-writer
cache: {lease: 10s, render: 3s}
actors:
  - {name: alice, script: [get /home], pauses: 1, pause-for: 15s}
  - {name: bob, script: [sleep 5s, get /home, sleep 10s, get /home]}
`

// late is a clock that is one minute behind true time.
type late struct{ clockwork.Clock }

func (c late) Now() time.Time { return c.Clock.Now().Add(-time.Minute) }

var behind = isr.Protocol{Name: "behind", New: func(cfg isr.Config) (isr.Handler, error) {
	cfg.Clock = late{cfg.Clock}
	return recipe.New(cfg)
}}

// A campaign looks for a schedule that violates an invariant. The violated run is then made smaller. The clock of this
// cache is further behind than the scenario promises.
func Example() {
	s, err := scenario.Parse("paused-writer.yaml", []byte(pausedWriter))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := campaign.Campaign{Scenario: s, Protocol: behind, Seed: 1}.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Summary(), "in schedule", report.FailedAt)

	failed := report.Failure.Replay().Run(s, report.Protocol)
	shrunk, err := campaign.Shrink(context.Background(), failed)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("found: ", shrunk.Before)
	fmt.Println("shrunk:", shrunk.After)
	fmt.Print(shrunk.Outcome.Explain(s.Name, report.Protocol.Name))
	// Output:
	// violated: stale-writer in schedule 1
	// found:  3 context switches, 28 steps, 15s of true time, 0 faults, 2 actors, 5 commands
	// shrunk: 0 context switches, 12 steps, 0s of true time, 0 faults, 1 actor, 1 command
	// violated: paused-writer under behind
	//
	// stale-writer: a publish takes effect only while LOCK carries the publisher's own token, with lease_expires_at > S - e, S being the true time at which the publisher sent it (e is 0s, the promised max-clock-skew)
	// bob sent its publish 50s after the end of its own lease
	//
	//   +0s         bob       LOCK of /home: absent => token bob-1 until -50s
	//   +0s         bob       META of /home: absent => body pages/bob-1 generated -1m0s fresh until +0s
}
