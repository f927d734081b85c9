package hooks

import "github.com/isr-sim/isr-sim/internal/hooks/sim"

// KeepsFault says whether swarm testing leaves a possible fault, given as its text, on in the run of a seed. Each is on in
// half of the runs, whatever the others are: a run with few kinds of faults goes deeper into what these few can do than
// one in which all of them keep getting into each other's way. The draw depends on the fault's text, not on its place,
// so that it stays the same when other faults come and go.
//
// Source: Groce, Zhang, Eide, Chen, Regehr: Swarm testing (ISSTA 2012).
func KeepsFault(seed uint64, fault string) bool {
	return sim.Stream(seed, "swarm "+fault).IntN(2) == 0
}
