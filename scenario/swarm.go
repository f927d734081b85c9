package scenario

import (
	"slices"

	"github.com/isr-sim/isr-sim/scenario/sim"
)

// swarmKeeps says whether swarm testing leaves a possible fault on in the run of a
// seed. Each is on in half of the runs, whatever the others are: a run with few
// kinds of faults goes deeper into what these few can do than one in which all of
// them keep getting into each other's way. The draw depends on the fault's text,
// not on its place, so that it stays the same when other faults come and go.
//
// Source: Groce, Zhang, Eide, Chen, Regehr: Swarm testing (ISSTA 2012).
func swarmKeeps(seed uint64, f Fault) bool {
	return sim.Stream(seed, "swarm "+f.String()).IntN(2) == 0
}

// Drawn returns the scenario with only the possible faults that are on in the run
// of a seed. The run's choices fit it as they are, without swarm: a fault that is
// off offers no step.
func (s *Scenario) Drawn(seed uint64) *Scenario {
	same := *s
	same.Faults = slices.DeleteFunc(slices.Clone(s.Faults), func(f Fault) bool { return f.Maybe && !swarmKeeps(seed, f) })
	return &same
}
