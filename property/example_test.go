package property_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// newStore makes the cache of one node. A team puts its own here.
func newStore(n property.Node) (isr.Handler, error) { return recipe.New(n.Config) }

func ExampleCheckStore() {
	// In a file that ends in _test.go, this is func TestStore.
	_ = func(t *testing.T) {
		property.CheckStore(t, newStore)
	}
}

func ExampleCheck_Run() {
	_ = func(t *testing.T) {
		property.Check{Schedules: 500}.Run(t, newStore)
	}
}

func ExampleReplay() {
	_ = func(t *testing.T) {
		property.Replay(t, "testdata/isr-sim/TestStore.yaml", newStore)
	}
}
