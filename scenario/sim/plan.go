package sim

import (
	"fmt"
	"strings"
)

// Plan assigns a strategy to each schedule of a campaign.
type Plan struct {
	Name string
	// At returns the strategy of the i-th schedule, from 0. That of the first must not need an estimate of the run's
	// length: the first schedule is the estimate for the others.
	At func(i int) Strategy
}

// Portfolio is the default plan. Its first four schedules have no delay, one, two and three: they show the bugs that
// need one late event. Then four strategies that are good at different bugs take turns. No strategy alone is the best
// for every bug; taking turns costs at most four times the schedules of the best one.
func Portfolio() Plan {
	var delays [4]Strategy
	for d := range delays {
		delays[d] = DelayBound(d)
	}
	turns := [...]Strategy{POS, PCT(3), RandomWalk, PCT(5)}
	return Plan{
		Name: "portfolio",
		At: func(i int) Strategy {
			if i < len(delays) {
				return delays[i]
			}
			return turns[i%len(turns)]
		},
	}
}

// Only is a plan of one strategy.
func Only(s Strategy) Plan { return Plan{Name: s.Name, At: func(int) Strategy { return s }} }

// Plans returns every plan that has a name, the default first.
func Plans() []Plan {
	plans := []Plan{Portfolio(), Only(RandomWalk), Only(POS)}
	for depth := 2; depth <= 5; depth++ {
		plans = append(plans, Only(PCT(depth)))
	}
	for delays := 1; delays <= 3; delays++ {
		plans = append(plans, Only(DelayBound(delays)))
	}
	return plans
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
