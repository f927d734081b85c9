package hooks

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/hooks/sim"
)

// Bubble has the code of a run start goroutines of its own: it calls run in a bubble of testing/synctest whose time is
// fakeclock.Epoch. The error says that a goroutine waits for ever. See sim.Bubble.
type Bubble func(run func(sim.Bubble)) error

type bubbleKey struct{}

// InBubble returns a context whose runs happen in a bubble. Nil is none.
func InBubble(ctx context.Context, b Bubble) context.Context {
	return context.WithValue(ctx, bubbleKey{}, b)
}

// BubbleOf returns the bubble of a context's runs; nil, if there is none.
func BubbleOf(ctx context.Context) Bubble {
	b, _ := ctx.Value(bubbleKey{}).(Bubble)
	return b
}
