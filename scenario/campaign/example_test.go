package campaign_test

import (
	"context"
	"fmt"

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

// A campaign looks for a schedule that violates an invariant. Its findings are made smaller. This cache asks for the
// token of its lease when it publishes, and not whether the lease is over.
func Example() {
	tokenAlone := isr.Protocol{Name: "token-alone", New: func(cfg isr.Config) (isr.Handler, error) {
		cfg.Guards = isr.GuardToken
		return recipe.New(cfg)
	}}
	s, err := scenario.Parse("paused-writer.yaml", []byte(pausedWriter))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := campaign.Campaign{Scenario: s, Protocol: tokenAlone, Seed: 1}.Run(context.Background())
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
	// violated: stale-writer in schedule 5
	// found:  9 context switches, 53 steps, 1h0m42s of true time, 0 faults, 2 actors, 5 commands
	// shrunk: 0 context switches, 13 steps, 1s of true time, 0 faults, 1 actor, 1 command
	// violated: paused-writer under token-alone
	//
	// stale-writer: a publish takes effect only while LOCK carries the publisher's own token, with lease_expires_at > S - e, S being the true time at which the publisher sent it
	// bob sent its publish 0s after its own lease was over
	//
	//   +0s         bob       LOCK of /home: absent => token bob-1 until +1s
	//   +1s         bob       META of /home: absent => body pages/bob-1 generated +0s fresh until +1m0s
}
