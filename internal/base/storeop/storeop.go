// Package storeop has the operations of a cache on its store, as the cache saw them.
package storeop

import (
	"context"
	"fmt"
	"time"
)

// Verb is the kind of an operation.
type Verb uint8

// The verbs: a node reads or publishes a page, or changes its lease.
const (
	Read    Verb = iota + 1 // reads the page
	Acquire                 // takes the lease if no node holds it
	Refresh                 // extends the lease
	Publish                 // makes a page visible and gives the lease back
	Release                 // gives the lease back
)

var verbNames = [...]string{
	Read: "read", Acquire: "acquire", Refresh: "refresh", Publish: "publish", Release: "release",
}

// String returns the verb as reports print it.
func (v Verb) String() string {
	if v == 0 || int(v) >= len(verbNames) {
		return fmt.Sprintf("Verb(%d)", uint8(v))
	}
	return verbNames[v]
}

// Result is what a node knows about the outcome of its own operation.
type Result uint8

// The results. InDoubt is the zero value: there was no answer, or an answer that leaves the outcome open.
const (
	InDoubt Result = iota // the operation took effect, will take effect later, or never will
	Done                  // the operation took effect
	Refused               // there is nothing to read, or the node does not hold the lease
)

// Operation is one call of a node to its store, as the node saw it.
type Operation struct {
	Actor string // the node, with its incarnation after a restart
	Verb  Verb
	Key   string // the cache key

	Began, Ended time.Time // true time of call and answer; Ended is zero without an answer
	// Call and Return are the positions of call and answer among all calls and answers of the run, from 1. Return is 0
	// without an answer.
	Call, Return int
	Result       Result

	Token   string // the lease's token
	Expires int64  // the end of the lease after the operation, in epoch seconds
	// Page names the page that was read or published, or is "".
	Page string
	// TTL is the epoch second, by the reader's clock, from which the page's row may count as missing.
	TTL int64
}

// Observer is called when an operation is sent. The function that it returns is called when the operation is answered.
type Observer func(called Operation) (answered func(Operation))

// Hooks are passed in the contexts of calls to a cache, so that they reach a cache inside other code. All may be nil.
type Hooks struct {
	Observe Observer // called for every operation on the store
	// Forget is called at a point of a call with all that the rest of the call depends on, besides the clock.
	Forget func(state string)
}

type hooksKey struct{}

// In returns a context with the hooks.
func (h Hooks) In(ctx context.Context) context.Context { return context.WithValue(ctx, hooksKey{}, h) }

// HooksOf returns the hooks of a context.
func HooksOf(ctx context.Context) Hooks {
	h, _ := ctx.Value(hooksKey{}).(Hooks)
	return h
}
