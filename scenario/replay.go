package scenario

import (
	"errors"
	"fmt"

	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Replay is a recorded run of the scenario: all that decides it.
type Replay struct {
	Protocol string
	Seed     uint64
	Choices  sim.Choices
	Swarm    bool // as in Run
	// Goroutines says that the run was in a bubble, for a store that has goroutines: package property runs it so again.
	Goroutines bool
	Digest     string // of the recorded trace: see Outcome.Digest; "" if it is not known
	Violates   string // the invariant that the run violates, by name; "" if it violates none, or that is not known
}

// Run returns the recorded run of a scenario under a protocol, ready to be run again.
func (r Replay) Run(s *Scenario, p isr.Protocol) Run {
	return Run{Scenario: s, Protocol: p, Seed: r.Seed, Strategy: sim.Replay(r.Choices), Options: Options{Swarm: r.Swarm}}
}

// ErrNotRecorded says that a scenario has no replay entry.
var ErrNotRecorded = errors.New("the scenario has no replay entry")

// Recorded returns the run of the scenario's replay entry. The protocol must be one of Protocols. Without an entry the
// error is ErrNotRecorded.
func (s *Scenario) Recorded() (Run, error) {
	if s.Replay == nil {
		return Run{}, fmt.Errorf("scenario %s: %w", s.Name, ErrNotRecorded)
	}
	p, err := ProtocolNamed(s.Replay.Protocol)
	if err != nil {
		return Run{}, err
	}
	return s.Replay.Run(s, p), nil
}
