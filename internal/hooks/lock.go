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
	// Terms are what the lock promises.
	Terms() promise.LockTerms
}

// DefaultWait is how long a free lock may take that says nothing about it: LockTerms.Wait.
const DefaultWait = 2 * time.Second

// Held is a lock that a client has taken. All but Release may be nil: not every lock can do it.
type Held struct {
	Release func(ctx context.Context) error
	Holds   func(ctx context.Context) (bool, error) // whether it is still held
	Extend  func(ctx context.Context) error
	Token   func() int64
	// Work takes so much of the node's time under the lock, while the lock's own timers fire; nil lets nothing happen.
	Work func(ctx context.Context, d time.Duration)
}
