package isr

import (
	"context"
	"errors"
)

// Handler answers requests for pages. *Cache is one, and an Invalidator, a
// Regenerator and a Rollbacker, each of which says ErrUnsupported if its store cannot; so is any other team's
// cache behind a small adapter.
type Handler interface {
	Get(ctx context.Context, key string) (Served, error)
}

// Invalidator is a Handler that can be told that a page is wrong.
type Invalidator interface {
	// Invalidate has the page not be served as fresh any more, by anybody who asks after it has returned, unless it was
	// made of data read after Invalidate was called.
	Invalidate(ctx context.Context, key string) error
}

// Regenerator is a Handler that makes a page again at most once a request.
type Regenerator interface {
	// Regenerate makes and publishes the page, or serves what it has made for the same request before. The same request
	// with another hash is ErrOtherInputs.
	Regenerate(ctx context.Context, key string, r Request) (Served, error)
}

// Rollbacker is a Handler that can go back to an older version.
type Rollbacker interface {
	// Rollback makes the newest version visible that is older than the visible one. ErrMiss if there is none.
	Rollback(ctx context.Context, key string) error
}

// Request names one regeneration that somebody has asked for.
type Request struct {
	ID   string // the idempotency key
	Hash string // of the inputs
}

// ErrOtherInputs says that a request's idempotency key has been used with other inputs.
var ErrOtherInputs = errors.New("the idempotency key was used with other inputs")

// Protocol is a way to keep a cache, with a name that commands and scenario
// files know.
type Protocol struct {
	Name    string
	Summary string // one sentence; for a mutant, its bug
	// Breaks names the invariant that a mutant is there to break; empty for a protocol that should break none.
	Breaks string
	New    func(Config) (Handler, error)
	// Memoryless says that a Handler keeps nothing in memory from one Get to the next but what Config.Tokens has given out.
	// It makes exhaustive search shorter; untrue, it makes it wrong.
	Memoryless bool
}

// Reference returns recipe A, as its seeds have it.
func Reference() Protocol { return References()[0] }

// References returns the protocols that should break nothing: recipes A and B,
// each under the guards that LOCK can tell, and under all of them.
func References() []Protocol {
	return []Protocol{
		onRecipeA("recipe-a", "one META row a key; one transaction publishes it and releases the lease", 0),
		onRecipeA("recipe-a-guarded", "recipe A, whose publishes also ask for META's version and for older data in it; pages can be invalidated", AllGuards),
		onRecipeB("recipe-b", "a row for each version of a page, and META as the pointer to the visible one; pages can be rolled back", 0),
		onRecipeB("recipe-b-guarded", "recipe B, whose publishes also ask for META's version and for older data in it; pages can be invalidated, too", AllGuards),
	}
}

// onRecipeA is recipe A under these guards, and under Config's if there are none.
func onRecipeA(name, summary string, g Guards) Protocol {
	return Protocol{Name: name, Summary: summary, Memoryless: true, New: func(cfg Config) (Handler, error) {
		if g != 0 {
			cfg.Guards = g
		}
		return AsHandler(New(cfg))
	}}
}

// onRecipeB is recipe B under these guards, and under Config's if there are none.
func onRecipeB(name, summary string, g Guards) Protocol {
	return Protocol{Name: name, Summary: summary, Memoryless: true, New: func(cfg Config) (Handler, error) {
		if g != 0 {
			cfg.Guards, cfg.PointerETag = g, true
		}
		store, err := NewRecipeB(cfg)
		if err != nil {
			return nil, err
		}
		return AsHandler(NewOn(store, cfg))
	}}
}

// AsHandler turns what New and NewOn return into what a Protocol's New returns: a
// failed one is no Handler at all, not one that holds a nil *Cache.
func AsHandler(c *Cache, err error) (Handler, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}
