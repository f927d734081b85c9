package scenario_test

import (
	"context"
	"fmt"

	"github.com/isr-sim/isr-sim/scenario"
)

// recorded is a scenario file with a recorded run: alice is paused until her lease is over, and still publishes.
const recorded = `
name: paused-writer
cache: {lease: 1s}
actors:
  - {name: alice, script: [get /home], pauses: 1, pause-for: 1s}
bounds: {ticks: 0}
replay: {protocol: blind-publish, seed: 1, choices: "000000001"}
`

// A file may have a recorded run, which is repeated exactly.
func Example() {
	s, err := scenario.Parse("paused-writer.yaml", []byte(recorded))
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := s.Recorded()
	if err != nil {
		fmt.Println(err)
		return
	}
	o, err := run.Do(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(o.Explain(s.Name, run.Protocol.Name))
	// Output:
	// violated: paused-writer under blind-publish
	//
	// stale-writer: a publish takes effect only while LOCK carries the publisher's own token, with lease_expires_at > S - e, S being the true time at which the publisher sent it (e is 0s, the promised max-clock-skew)
	// alice sent its publish at the end of its own lease
	//
	//   +0s         alice     LOCK of /home: absent => token alice-1 until +1s
	//   +0s         alice     paused: for at least 1s
	//   +1s         alice     resumed
	//   +1s         alice     META of /home: absent => body pages/alice-1 generated +0s fresh until +1m0s
}
