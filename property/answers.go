package property

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/locking"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// answers counts the answers of the store.
type answers struct {
	all, errors, fresh int
	first              error // the first that no fault explains, or the first
}

// String says how many answers were errors, and shows one of them.
func (a *answers) String() string {
	if a.errors == 0 {
		return fmt.Sprintf("none of the store's %d answers was an error", a.all)
	}
	return fmt.Sprintf("%d of the store's %d answers were errors, such as: %v", a.errors, a.all, a.first)
}

// injected says whether err can come from a fault of the world, which explains nothing about the store.
func injected(err error) bool {
	if _, ok := errors.AsType[*ddbfake.NetworkError](err); ok {
		return true
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	switch api.ErrorCode() {
	case "InternalServerError", "ProvisionedThroughputExceededException", "ThrottlingException":
		return true
	}
	return false
}

// counted has the store's answers counted. A store that can be closed stays one.
func (g *guard) counted(store isr.Handler) isr.Handler {
	if _, ok := store.(locking.Client); ok {
		return store // it has no answers to count
	}
	c := counted{store, g}
	if closer, ok := store.(io.Closer); ok {
		return struct {
			counted
			io.Closer
		}{c, closed{closer}}
	}
	return c
}

// closed is a store as the simulator closes it.
type closed struct{ store io.Closer }

// Close implements io.Closer.
func (c closed) Close() (err error) {
	inStore(func() { err = c.store.Close() })
	return err
}

// counted is a store whose answers are counted. It passes on the store's other methods.
type counted struct {
	store isr.Handler
	guard *guard
}

// under is the store itself.
func (c counted) under() isr.Handler { return c.store }

var _ interface {
	isr.Handler
	isr.Invalidator
	isr.Rollbacker
	isr.Regenerator
} = counted{}

// Get implements isr.Handler.
func (c counted) Get(ctx context.Context, key string) (isr.Served, error) {
	return c.ask(func() (isr.Served, error) { return c.store.Get(ctx, key) })
}

// Invalidate implements isr.Invalidator.
func (c counted) Invalidate(ctx context.Context, key string) (err error) {
	inStore(func() { err = able[isr.Invalidator](c, "Invalidate").Invalidate(ctx, key) })
	return err
}

// Rollback implements isr.Rollbacker.
func (c counted) Rollback(ctx context.Context, key string) (err error) {
	inStore(func() { err = able[isr.Rollbacker](c, "Rollback").Rollback(ctx, key) })
	return err
}

// Regenerate implements isr.Regenerator.
func (c counted) Regenerate(ctx context.Context, key string, r isr.Request) (isr.Served, error) {
	return c.ask(func() (isr.Served, error) {
		return able[isr.Regenerator](c, "Regenerate").Regenerate(ctx, key, r)
	})
}

// ask calls the store and counts its answer.
func (c counted) ask(call func() (isr.Served, error)) (served isr.Served, err error) {
	inStore(func() { served, err = call() })
	c.count(served, err)
	return served, err
}

// able returns the store as one that has the method, which a script asks for. One that has it not has no verdict, as in
// package scenario.
func able[T any](c counted, method string) T {
	t, ok := c.store.(T)
	if !ok {
		panic(fmt.Errorf("a script asks for the method %s, which a %T does not have", method, c.store))
	}
	return t
}

func (c counted) count(served isr.Served, err error) {
	c.guard.mu.Lock() // where stores have goroutines, several nodes may answer at the same time
	defer c.guard.mu.Unlock()
	answers := c.guard.answers
	answers.all++
	if err == nil && served.Fresh {
		answers.fresh++
	}
	if err != nil {
		if answers.errors++; answers.first == nil || injected(answers.first) && !injected(err) {
			answers.first = err
		}
	}
}
