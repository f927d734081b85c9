package mutant

import "github.com/isr-sim/isr-sim/scenario/isr"

// Rebuild has the stores of all mutants that are made from now on be rebuilt, until the returned function is called. It is
// not for tests that run in parallel.
func Rebuild(rebuild func(mutated, reference isr.Store) isr.Store) (stop func()) {
	before := built
	built = rebuild
	return func() { built = before }
}
