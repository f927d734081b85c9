package hooks

import "context"

type leftKey struct{}

// Leave returns a context whose runs are left in their middle once the channel is closed, and then break with
// sim.ErrLeft: a run of a program may take minutes. Nil is never. An end of the context itself ends no run, because
// within a run it would act like one more fault; so the channel goes with the values of the context.
func Leave(ctx context.Context, left <-chan struct{}) context.Context {
	return context.WithValue(ctx, leftKey{}, left)
}

// Left returns the channel of a context's runs; nil if there is none.
func Left(ctx context.Context) <-chan struct{} {
	left, _ := ctx.Value(leftKey{}).(<-chan struct{})
	return left
}
