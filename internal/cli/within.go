package cli

import (
	"context"
	"time"

	"github.com/isr-sim/isr-sim/internal/hooks"
)

// Within returns a context that ends after d of real time, with the given cause. 0 means never.
func Within(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, cause)
}

// patience is how long a run may go on after the user interrupted the command. Runs of code in Go take less.
const patience = time.Second

// LeaveRuns returns a context whose runs are abandoned if they go on for a while after it has ended: see hooks.Leave.
func LeaveRuns(ctx context.Context) context.Context {
	left := make(chan struct{})
	context.AfterFunc(ctx, func() {
		soon, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer stop()
		<-soon.Done()
		close(left)
	})
	return hooks.Leave(ctx, left)
}
