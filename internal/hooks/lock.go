package hooks

import (
	"context"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/promise"
)

// LockClient is one node's client of a lock.
type LockClient interface {
	// Acquire takes the lock of that name.
	Acquire(ctx context.Context, name string) (*Held, error)
	// Terms returns the promises of the lock.
	Terms() promise.LockTerms
}

// DefaultWait is the default of LockTerms.Wait: how long it may take to get a free lock.
const DefaultWait = 2 * time.Second

// DefaultTakeover is the default of LockTerms.Takeover. Tolerances for clock skew and for whole seconds are added to
// it. It is less than a lease: otherwise a lock that lasts for twice its lease would pass.
func DefaultTakeover(lease time.Duration) time.Duration { return lease / 2 }

// Held is a lock that a client has taken. All fields except Release may be nil: not every lock has these operations.
type Held struct {
	Release func(ctx context.Context) error
	Holds   func(ctx context.Context) (bool, error) // whether it is still held
	Extend  func(ctx context.Context) error
	Token   func() int64
	// Work spends time of the node under the lock, while the lock's own timers fire; with nil nothing fires.
	Work func(ctx context.Context, d time.Duration)
}

// Late is the key of a *func() in the context of a program's request. The node's client sets the function, which notes
// that a time limit of the program is over: the program still gets the answer, but its caller may have given up.
type Late struct{}

// OnceClient is one node's client of an idempotency layer.
type OnceClient interface {
	// Once makes the effect of a key happen, unless it has happened already, and returns its result. isr.ErrOtherInputs
	// says that the key was used with another payload. Any other error says that the call may be made again.
	Once(ctx context.Context, key, payload string, effect func(context.Context) (string, error)) (string, error)
	// OnceTerms returns the promises of the layer.
	OnceTerms() promise.OnceTerms
}
