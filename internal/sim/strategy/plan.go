// Package strategy has the strategies that draw the schedules of a campaign, one per file, and the plans that assign
// them to schedules. Strategies implement sim.Chooser, and sim.Watcher if needed.
package strategy

import (
	"fmt"
	"strings"
	"sync"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// Plan assigns a strategy to each schedule of a campaign.
type Plan struct {
	Name string
	// At returns the strategy of the i-th schedule, from 0. The strategy of the first schedule must not need an
	// estimate of the run's length: that schedule gives the estimate for the others.
	At func(i int) sim.Strategy
	// begin, if set, returns At for one set of schedules, whose first also tells the others what its threads accessed.
	begin func() func(i int) sim.Strategy
}

// Begin returns the plan for one set of schedules. The first of these ends before the others begin.
func (p Plan) Begin() Plan {
	if p.begin != nil {
		p.At = p.begin()
	}
	return p
}

// Portfolio is the default plan. Its first four schedules have no delay, one, two and three: they show the bugs that
// need one late event. Then a random walk takes turns with strategies in which threads fall behind where steps race, as
// the first schedule has shown. No strategy alone is the best for every bug: docs/CI.md says what each finds.
func Portfolio() Plan {
	var delays [4]sim.Strategy
	for d := range delays {
		delays[d] = DelayBound(d)
	}
	begin := func() func(int) sim.Strategy {
		first := &profile{}
		trial := sync.OnceValues(first.races)
		turns := [...]sim.Strategy{sim.RandomWalk, racing(2, 2, trial), racing(2, 0, trial), racing(2, 2, trial)}
		return func(i int) sim.Strategy {
			switch {
			case i == 0:
				return first.of(delays[0])
			case i < len(delays):
				return delays[i]
			}
			return turns[i%len(turns)]
		}
	}
	return Plan{Name: "portfolio", At: func(i int) sim.Strategy { return begin()(i) }, begin: begin}
}

// Only is a plan of one strategy.
func Only(s sim.Strategy) Plan { return Plan{Name: s.Name, At: func(int) sim.Strategy { return s }} }

// Plans returns every plan that has a name, the default first.
func Plans() []Plan {
	plans := []Plan{Portfolio(), Only(sim.RandomWalk), Only(POS)}
	for depth := 2; depth <= 5; depth++ {
		plans = append(plans, Only(PCT(depth)))
	}
	for delays := 1; delays <= 3; delays++ {
		plans = append(plans, Only(DelayBound(delays)))
	}
	return append(plans, surw())
}

// PlanNamed finds one of Plans by its name.
func PlanNamed(name string) (Plan, error) {
	var names []string
	for _, p := range Plans() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Plan{}, fmt.Errorf("strategy: found %q, expected one of %s", name, strings.Join(names, ", "))
}
