package cli

import (
	"context"
	"time"
)

// Within returns a context that ends after d of real time, for a cause; 0 is never.
func Within(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, cause)
}
