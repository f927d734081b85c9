package hooks

import (
	"context"
	"time"

	"github.com/aws/smithy-go/middleware"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// BodyStep is one request to the body store.
type BodyStep struct {
	Names []string // the names of the bodies that it may read or write; empty means all
	Write bool
	Text  string // what it asks, for traces
	// Do makes the step take effect, once, and returns the answer for traces. Struck is the kind of the fault that
	// strikes it; 0 means none.
	Do func(struck ddbfake.FaultKind) string
	// Strikes says whether a fault can strike it, by its kind, operation and key.
	Strikes func(ddbfake.Fault) bool
	// Err is the error of the answer; nil for a success. Invocation is the call's id of the SDK, the same for all
	// attempts; "" if the client sends none.
	Err        func() error
	Invocation string
	// Body returns a body as it is after Do; nil means that there is none.
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

// Kept is a state that nodes share and a search can restore: the function that Keep returns restores the state at the
// call of Keep. String is the state in words.
type Kept interface {
	Keep() (back func())
	String() string
}

// BodySteps is implemented by the BodyStore of a simulated node, too.
type BodySteps interface {
	// Step returns when the step's answer has arrived. It returns an error if the node's incarnation is over.
	Step(ctx context.Context, s BodyStep) error
	// Client returns what a client has to know about its world.
	Client() BodyClient
	// Now returns true time.
	Now() time.Time
	// State returns the value that the nodes of one run share. The first call in the run makes it.
	State(make func() Kept) Kept
}

// BodyClient is what a client of the bodies' store has to know of its world: how often it sends a request that fails,
// the kind of the store (promise.Objects), and what its calls go through.
type BodyClient struct {
	Attempts int
	Store    string
	Through  []func(*middleware.Stack) error
}
