package isr

import "context"

// Handler answers requests for pages. *Cache is one; so is any other team's
// cache behind a small adapter.
type Handler interface {
	Get(ctx context.Context, key string) (Served, error)
}

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

// Reference returns recipe A.
func Reference() Protocol {
	return Protocol{
		Name:    "recipe-a",
		Summary: "one META row a key; one transaction publishes it and releases the lease",
		New:     func(cfg Config) (Handler, error) { return AsHandler(New(cfg)) },

		Memoryless: true,
	}
}

// AsHandler turns what New and NewOn return into what a Protocol's New returns: a
// failed one is no Handler at all, not one that holds a nil *Cache.
func AsHandler(c *Cache, err error) (Handler, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}
