package hooks

import "context"

type leftKey struct{}

// Leave returns a context whose runs break with sim.ErrLeft once the channel is closed, without going on to their end:
// a run of a program may take minutes. With a nil channel, runs go on to their end. Cancelling the context does not end
// a run, because within a run that would act like one more fault. So the context carries the channel as a value.
func Leave(ctx context.Context, left <-chan struct{}) context.Context {
	return context.WithValue(ctx, leftKey{}, left)
}

// Left returns the channel of a context's runs; nil if there is none.
func Left(ctx context.Context) <-chan struct{} {
	left, _ := ctx.Value(leftKey{}).(<-chan struct{})
	return left
}
