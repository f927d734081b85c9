package hooks

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/base/promise"
)

// OnceClient is one node's client of an idempotency layer.
type OnceClient interface {
	// Once makes the effect of a key happen, unless it has happened already, and returns its result. isr.ErrOtherInputs
	// says that the key was used with another payload. Any other error says that the call may be made again.
	Once(ctx context.Context, key, payload string, effect func(context.Context) (string, error)) (string, error)
	// OnceTerms returns the promises of the layer.
	OnceTerms() promise.OnceTerms
}
