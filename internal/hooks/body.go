package hooks

import (
	"context"
	"time"
)

// Struck is what a fault of the scenario does to a step.
type Struck int

// The ways in which a step is struck.
const (
	Unharmed Struck = iota
	Refused         // it has no effect, and whoever asked is told so
	Lost            // it takes effect, and whoever asked is told that it failed
)

// BodyStep is one request to the body store.
type BodyStep struct {
	Names []string // of the bodies that it may read or write; none: of all
	Write bool
	Text  string // what it asks, for traces
	// Do has the step take effect, once, and returns the answer for traces.
	Do func(struck Struck) string
	// Body returns a body as it is after Do; nil is none.
	Body func(name string) []byte
}

// BodySteps is what the BodyStore of a simulated node implements besides.
type BodySteps interface {
	// Step returns when the step's answer has arrived. The error is that of a node whose life is over.
	Step(ctx context.Context, s BodyStep) error
	// Now is the true time.
	Now() time.Time
	// State returns what the nodes of one run share: what the first call in the run has made.
	State(make func() any) any
}
