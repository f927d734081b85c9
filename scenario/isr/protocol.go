package isr

import (
	"context"
	"errors"
)

// Handler answers requests for pages. The handler of recipe.New is also an Invalidator, a Regenerator and a Rollbacker;
// a method returns ErrUnsupported if its recipe does not have the operation. A small adapter can make any other cache a
// Handler.
type Handler interface {
	Get(ctx context.Context, key string) (Served, error)
}

// Served is a page and the cache's claim about it.
type Served struct {
	Body []byte
	// Fresh says that the page is within its freshness window by this node's clock, at the moment of serving.
	Fresh bool
}

// Invalidator is a Handler that can invalidate a page.
type Invalidator interface {
	// Invalidate ends the freshness of the page. After it has returned, a request gets the page as fresh only if the
	// page was made from data that was read after Invalidate was called.
	Invalidate(ctx context.Context, key string) error
}

// Regenerator is a Handler that makes a page again at most once for each Request.
type Regenerator interface {
	// Regenerate makes and publishes the page. If it has already made a page for the same request ID, it serves that
	// page. If that request had another hash, the error is ErrOtherInputs.
	Regenerate(ctx context.Context, key string, r Request) (Served, error)
}

// Rollbacker is a Handler that can go back to an older version.
type Rollbacker interface {
	// Rollback makes the newest older version visible. Without an older version, the error is ErrMiss.
	Rollback(ctx context.Context, key string) error
}

// Request identifies one regeneration that a client asks for.
type Request struct {
	ID   string // the idempotency key
	Hash string // the hash of the inputs
}

// The errors of a Handler and of a Renderer's keepAlive. Test with errors.Is.
var (
	// ErrMiss says that there is no such page, or no older version of it.
	ErrMiss = errors.New("not in the cache")
	// ErrLeaseLost says that another node holds the lease now, or that the lease is over.
	ErrLeaseLost = errors.New("the lease is no longer held")
	// ErrOtherInputs says that a request's idempotency key has been used with other inputs.
	ErrOtherInputs = errors.New("the idempotency key was used with other inputs")
	// ErrUnsupported says that the protocol, or its configuration, does not have the operation.
	ErrUnsupported = errors.New("the protocol cannot do that")
)

// Protocol is a way to keep a cache. Commands and scenario files use its name.
type Protocol struct {
	Name    string
	Summary string // one sentence; for a mutant, its bug
	// Breaks names the invariant that the protocol is known to break: a mutant breaks it on purpose, and a policy of
	// expiry by its nature. Breaks is empty for a protocol that should break no invariant.
	Breaks string
	New    func(Config) (Handler, error)
	// Memoryless says that a Handler keeps nothing in memory from one Get to the next, except for the values that
	// Config.Tokens has returned, and that it would do the same if machines exchanged their tokens: it compares tokens,
	// and what holds them, for equality only, and writes them unchanged. It makes exhaustive search shorter. If it is
	// set wrongly, the search is wrong.
	Memoryless bool
	// SDK says that New needs a real *dynamodb.Client as Config.Client.
	SDK bool
}
