package mutant

import (
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
)

// Rebuild rebuilds the stores of all mutants made from now on, until stop is called. It is not for parallel tests.
func Rebuild(rebuild func(mutated, reference pagecache.Store) pagecache.Store) (stop func()) {
	before := built
	built = rebuild
	return func() { built = before }
}
