package scenario

import (
	"bytes"
	"context"
	"time"

	"github.com/isr-sim/isr-sim/internal/bodystep"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

var _ bodystep.Steps = bodies{}

// Step implements bodystep.Steps.
func (b bodies) Step(ctx context.Context, s bodystep.Step) error {
	return b.n.do(ctx, &objectRequest{node: b.n, step: s})
}

// Now implements bodystep.Steps.
func (b bodies) Now() time.Time { return b.n.world.clock.Now() }

// State implements bodystep.Steps.
func (b bodies) State(make func() any) any {
	w := b.n.world
	w.objectsMu.Lock()
	defer w.objectsMu.Unlock()
	if w.objects == nil {
		w.objects = make()
	}
	return w.objects
}

// objectRequest is a request to the body store by a client of its own, such as S3's.
type objectRequest struct {
	dependencyCall
	node   *node
	step   bodystep.Step
	answer string
}

func (r *objectRequest) faults() []DependencyFault {
	if r.step.Write {
		return ofPuts
	}
	return ofGets
}

// Outcomes implements sim.Request.
func (r *objectRequest) Outcomes() []int { return r.outcomes(r.node, r.faults()) }

// Accesses implements sim.Request. A request that names no body reads a list of them: it may see any other one's effect.
func (r *objectRequest) Accesses(outcome int) []sim.Access {
	if len(r.step.Names) == 0 {
		return nil
	}
	var touched []sim.Access
	for _, name := range r.step.Names {
		touched = append(touched, sim.Access{Object: sim.ObjectNamed(bodyObject, name), Write: r.step.Write})
	}
	return withPossible(r.node.world.withCertain(touched), outcome)
}

// Apply implements sim.Request.
func (r *objectRequest) Apply(outcome int) {
	r.meet(r.node, outcome, r.faults())
	struck := bodystep.Unharmed
	switch r.dependency {
	case "":
	case BodyPutLost:
		struck = bodystep.Lost
	default:
		struck = bodystep.Refused
	}
	r.answer = r.step.Do(struck)
	if !r.step.Write {
		return
	}
	for _, name := range r.step.Names {
		if body := r.step.Body(name); !bytes.Equal(body, r.node.world.bodies[name]) || (body == nil) != (r.node.world.bodies[name] == nil) {
			r.node.keepBody(name, body)
		}
	}
}

// Describe implements sim.Request.
func (r *objectRequest) Describe(int) string { return r.step.Text + " -> " + r.answer }

// DescribeAnswer implements sim.Request.
func (r *objectRequest) DescribeAnswer() string { return r.answer }

// keepBody has a body be what its name stands for. Nil takes it away.
func (n *node) keepBody(name string, body []byte) {
	w := n.world
	if w.fingerprinter != nil {
		w.fingerprinter.thing(bodyFingerprint(name, w.bodies[name]), bodyFingerprint(name, body))
	}
	w.bodies[name] = body
	w.bodyLog = append(w.bodyLog, history.Body{
		Time: n.proc.Now(), Actor: n.proc.Name(), Name: name, Body: string(body), Gone: body == nil, Change: w.seen,
	})
}
