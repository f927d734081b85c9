package sim_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/scenario/sim"
)

func TestStreamsDependOnSeedAndNameOnly(t *testing.T) {
	draw := func(seed uint64, name string) uint64 { return sim.Stream(seed, name).Uint64() }
	if draw(1, "a") != draw(1, "a") {
		t.Error("the same stream drew two different first numbers")
	}
	if draw(1, "a") == draw(1, "b") || draw(1, "a") == draw(2, "a") {
		t.Error("streams of another name or seed drew the same first number")
	}
}

func TestDerivedSeedsDiffer(t *testing.T) {
	seen := map[uint64]int{}
	for n := range 10_000 {
		seed := sim.Derive(1, n)
		if other, dup := seen[seed]; dup {
			t.Fatalf("children %d and %d have the same seed", other, n)
		}
		seen[seed] = n
	}
}
