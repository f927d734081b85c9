package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Strategy makes a chooser for one run. The random stream is the run's own;
// expectedSteps estimates how long the run will be (at least 1).
type Strategy struct {
	Name string
	New  func(rng *rand.Rand, expectedSteps int) Chooser
}

// Chooser picks one of the steps possible now, by its position. It is called
// only where there are at least two.
type Chooser interface {
	Choose(steps []Step) int
}

// Strategies returns the strategies that have a name, in the order in which a
// campaign takes turns with them.
func Strategies() []Strategy { return []Strategy{RandomWalk, PCT(3), PCT(5)} }

// StrategyNamed finds one of Strategies by its name.
func StrategyNamed(name string) (Strategy, error) {
	var names []string
	for _, s := range Strategies() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Strategy{}, fmt.Errorf("strategy: found %q, expected one of %s", name, strings.Join(names, ", "))
}

// RandomWalk picks every step with the same chance.
var RandomWalk = Strategy{
	Name: "random-walk",
	New:  func(rng *rand.Rand, _ int) Chooser { return randomWalk{rng} },
}

type randomWalk struct{ rng *rand.Rand }

func (w randomWalk) Choose(steps []Step) int { return w.rng.IntN(len(steps)) }
