package hooks

import (
	"context"
	"time"
)

// Struck says how a scenario's fault strikes a step.
type Struck int

// The ways in which a step is struck.
const (
	Unharmed Struck = iota
	Refused         // it has no effect, and the caller is told so
	Lost            // it takes effect, and the caller is told that it failed
)

// BodyStep is one request to the body store.
type BodyStep struct {
	Names []string // the names of the bodies that it may read or write; empty means all
	Write bool
	Text  string // what it asks, for traces
	// Do makes the step take effect, once, and returns the answer for traces.
	Do func(struck Struck) string
	// Body returns a body as it is after Do; nil is none.
	Body func(name string) []byte
	// State is the fingerprint of all that the store keeps, as it is now.
	State func() uint64
	// Asks is everything about the request that its sender decides; Print is the fingerprint of its answer. Answer
	// returns the answer, and Tell gives it to the sender of the same request in another run: see sim.Remembered.
	Asks   func() string
	Print  func() uint64
	Answer func() any
	Tell   func(answer any)
}

// Kept is a state that nodes share and a search can put back: what Keep returns makes it as it was at the call.
type Kept interface{ Keep() (back func()) }

// BodySteps is implemented by the BodyStore of a simulated node, too.
type BodySteps interface {
	// Step returns when the step's answer has arrived. It returns an error if the node's life is over.
	Step(ctx context.Context, s BodyStep) error
	// Now is the true time.
	Now() time.Time
	// State returns the value that the nodes of one run share. The first call in the run makes it.
	State(make func() Kept) Kept
}
