package mutant

import (
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Rebuild rebuilds the stores of all mutants made from now on, until stop is called. It is not for parallel tests.
func Rebuild(rebuild func(mutated, reference pagecache.Store) pagecache.Store) (stop func()) {
	before := built
	built = rebuild
	return func() { built = before }
}

// BackOffByName is backOffInStep with the order of names that it lacks.
var BackOffByName = isr.Protocol{
	Name: "back-off-by-name",
	New:  onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return politeAcquirer{r, true} }),
}
