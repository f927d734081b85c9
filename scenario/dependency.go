package scenario

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/isr-sim/isr-sim/scenario/sim"
)

// DependencyFault is a fault of the body store or of the origin.
type DependencyFault string

// The faults of dependencies, in the order in which reports print them. Each is a Mark, too.
const (
	BodyPutFailed DependencyFault = "body-put-failed" // a body is not stored, and its writer is told
	BodyPutLost   DependencyFault = "body-put-lost"   // a body is stored, and its writer is told that it is not
	BodyGetFailed DependencyFault = "body-get-failed" // a body cannot be read now, whether it is there or not
	OriginFailed  DependencyFault = "origin-failed"   // the origin cannot be read now
)

// DependencyFaults returns every one of them in the order in which reports print them.
func DependencyFaults() []DependencyFault {
	return []DependencyFault{BodyPutFailed, BodyPutLost, BodyGetFailed, OriginFailed}
}

// The faults that can strike a request, by the kind of request.
var (
	ofPuts   = []DependencyFault{BodyPutFailed, BodyPutLost}
	ofGets   = []DependencyFault{BodyGetFailed}
	ofOrigin = []DependencyFault{OriginFailed}
)

// cutOff is a request that does not arrive, as a dependency's fault.
const cutOff DependencyFault = cutOffKind

// The errors that clients see. They cannot tell whether a lost put is stored.
var (
	errBodies     = errors.New("the body store is not available")
	errBodiesLost = errors.New("the body store does not answer")
	errOrigin     = errors.New("the origin is not available")
	errCutOff     = errors.New("the network does not answer")
)

func (t DependencyFault) err() error {
	switch t {
	case BodyPutFailed, BodyGetFailed:
		return errBodies
	case BodyPutLost:
		return errBodiesLost
	case OriginFailed:
		return errOrigin
	case cutOff:
		return errCutOff
	default:
		return nil
	}
}

// ofDependency is the fault as one of the body store or of the origin.
func (f *Fault) ofDependency() DependencyFault {
	if f.CutOff {
		return cutOff
	}
	return f.Dependency
}

// befalls says whether the fault is one of these and can strike this actor. As in the store, a fault of alice can
// strike alice.2.
func (f *Fault) befalls(actor string, of []DependencyFault) bool {
	return (f.CutOff || slices.Contains(of, f.Dependency)) && (f.Actor == "" || f.Actor == actor || strings.HasPrefix(actor, f.Actor+"."))
}

// dependencyCall is the part of a request to the body store or the origin that faults decide.
type dependencyCall struct {
	ways       []int           // see outcomes
	dependency DependencyFault // that it met; "" is none
}

// outcomes are those of sim.Request: the ordinary one, and each possible fault by one more than its place in
// world.possible.
func (b *dependencyCall) outcomes(n *node, of []DependencyFault) []int {
	w := n.world
	if len(w.possible) == 0 {
		return ordinary
	}
	b.ways = append(b.ways[:0], 0)
	for i := range w.possible {
		if f := &w.possible[i]; f.left != 0 && f.fault.during(w.since()) && f.fault.befalls(n.proc.Name(), of) {
			w.met[f.declared] = true
			b.ways = append(b.ways, i+1)
		}
	}
	return b.ways
}

// meet has a fault strike the request: the possible one that the outcome names, or else the first certain one whose
// turn it is.
func (b *dependencyCall) meet(n *node, outcome int, of []DependencyFault) {
	w := n.world
	if outcome > 0 {
		b.dependency = w.possible[outcome-1].strike().ofDependency()
	}
	for i := 0; i < len(w.certain) && b.dependency == ""; i++ {
		f := &w.certain[i]
		if !f.fault.during(w.since()) || !f.fault.befalls(n.proc.Name(), of) {
			continue
		}
		if f.meets() {
			b.dependency = f.fault.ofDependency()
			w.met[f.declared] = true
		}
	}
	if b.dependency != "" {
		w.mark(Mark(b.dependency))
	}
}

// printed is the answer as a trace prints it: well if there was no fault; otherwise a separator and the error.
func (b *dependencyCall) printed(well, separator string) string {
	if b.dependency == "" {
		return well
	}
	return separator + b.dependency.err().Error()
}

// possibleFault is a fault that the schedule may choose, and how often it still may; a negative number has no end.
type possibleFault struct {
	fault    Fault
	left     int
	declared int // its place among the scenario's faults
}

// strike returns the fault, which strikes now.
func (f *possibleFault) strike() *Fault {
	if f.left > 0 {
		f.left--
	}
	return &f.fault
}

// withCertain adds the certain faults, if there are any, to the accesses of a request. Faults are counted: of two
// requests that one fault can strike, it may strike the first only.
func (w *world) withCertain(touched []sim.Access) []sim.Access {
	if len(w.certain) == 0 {
		return touched
	}
	return append(touched, sim.Access{Object: sim.ObjectNamed(faultObject), Write: true})
}

// withPossible adds the possible fault that an outcome stands for.
func withPossible(touched []sim.Access, outcome int) []sim.Access {
	if outcome == 0 {
		return touched
	}
	return append(slices.Clip(touched), sim.Access{Object: sim.ObjectNamed(faultObject, strconv.Itoa(outcome)), Write: true})
}
