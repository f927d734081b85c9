package mutant

import (
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
)

// Rebuild rebuilds the stores of all mutants that are made from now on, until the returned function is called. It is
// not for tests that run in parallel.
func Rebuild(rebuild func(mutated, reference pagecache.Store) pagecache.Store) (stop func()) {
	before := built
	built = rebuild
	return func() { built = before }
}
