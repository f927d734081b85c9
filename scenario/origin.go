package scenario

import (
	"cmp"
	"context"
	"fmt"

	"github.com/isr-sim/isr-sim/internal/fingerprint"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// render reads the origin and takes the scenario's time to make a page of it. It is the Renderer of the node's cache.
func (n *node) render(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error) {
	read := &originRead{node: n, page: page{n.tenant, key}, named: n.namedFor(ctx)}
	read.request, _ = ctx.Value(requested{}).(isr.Request)
	if err := n.do(ctx, read); err != nil {
		return nil, err
	}
	if read.dependency != "" {
		return nil, read.dependency.err()
	}
	c := n.world.scenario.Cache
	part := c.KeepAlive
	if part <= 0 {
		part = c.Render
	}
	for left := c.Render; left > 0; left -= part {
		if err := n.sleep(ctx, min(part, left)); err != nil {
			return nil, err
		}
		if c.KeepAlive > 0 {
			if err := keepAlive(ctx); err != nil {
				return nil, err
			}
		}
	}
	return []byte(read.body), nil
}

// originRead is a request to the origin. The body names the rendering, so that an answer with this body shows when its
// data was read.
type originRead struct {
	dependencyCall
	node *node
	page page
	body string
	// request is the request that the page is made for, if there is one.
	request isr.Request
	named   *named // nil is the node's
}

// Outcomes implements sim.Request.
func (r *originRead) Outcomes() []int { return r.outcomes(r.node, ofOrigin) }

// Accesses implements sim.Request.
func (r *originRead) Accesses(outcome int) []sim.Access {
	touched := []sim.Access{{Object: sim.ObjectNamed(originObject, r.page.String())}}
	return withPossible(r.node.world.withCertain(touched), outcome)
}

func (r *originRead) Apply(outcome int) {
	w := r.node.world
	if r.meet(r.node, outcome, ofOrigin); r.dependency != "" {
		return
	}
	r.body = fmt.Sprintf("%s@%d#%s", r.page, w.versions[r.page], w.nextID(r.node.proc.Name()+renderings))
	r.node.record(history.Event{
		Kind: history.Rendered, Key: r.page.key, Body: r.body, Request: r.request.ID, Inputs: r.request.Hash,
		Partition: cmp.Or(r.named, r.node.named).partition(r.page),
	})
}

// AnswerFingerprint implements sim.Fingerprinter.
func (r *originRead) AnswerFingerprint() (uint64, bool) {
	return uint64(fingerprint.Hash(0).Text(r.body).Text(string(r.dependency))), true
}

func (r *originRead) Describe(int) string {
	return "reads the origin of " + r.page.String() + r.printed(" for body "+r.body, " -> ")
}
func (r *originRead) DescribeAnswer() string { return r.printed("origin's data for body "+r.body, "") }

// originChange is the script's command change.
type originChange struct {
	node *node
	page page
}

// Outcomes implements sim.Request.
func (*originChange) Outcomes() []int { return ordinary }

// Accesses implements sim.Request.
func (r *originChange) Accesses(int) []sim.Access {
	return []sim.Access{{Object: sim.ObjectNamed(originObject, r.page.String()), Write: true}}
}

func (r *originChange) Apply(int) {
	w := r.node.world
	w.versions[r.page]++
	if w.fingerprinter != nil {
		w.fingerprinter.thing(versionFingerprint(r.page, w.versions[r.page]-1), versionFingerprint(r.page, w.versions[r.page]))
	}
	r.node.record(history.Event{Kind: history.Changed, Key: r.page.key})
}

// AnswerFingerprint implements sim.Fingerprinter.
func (*originChange) AnswerFingerprint() (uint64, bool) { return 0, true }

func (r *originChange) Describe(int) string { return "changes the origin of " + r.page.String() }
func (r *originChange) DescribeAnswer() string {
	return "the origin of " + r.page.String() + " is changed"
}

// bodies is the node's view of the one body store.
type bodies struct{ n *node }

var _ isr.BodyStore = bodies{}

func (b bodies) PutBody(ctx context.Context, name string, body []byte) error {
	r := &bodyRequest{node: b.n, name: name, body: body, put: true}
	if err := b.n.do(ctx, r); err != nil {
		return err
	}
	return r.dependency.err()
}

// DeleteBody takes a body away: no reference protocol does, but some that are broken do.
func (b bodies) DeleteBody(ctx context.Context, name string) error { return b.PutBody(ctx, name, nil) }

func (b bodies) GetBody(ctx context.Context, name string) ([]byte, error) {
	r := &bodyRequest{node: b.n, name: name}
	if err := b.n.do(ctx, r); err != nil {
		return nil, err
	}
	if r.body == nil && r.dependency == "" {
		return nil, isr.ErrNoBody
	}
	return r.body, r.dependency.err()
}

// bodyRequest is a request to the body store.
type bodyRequest struct {
	dependencyCall
	node *node
	name string
	body []byte // nil is none
	put  bool
}

// faults are those that can strike the request.
func (r *bodyRequest) faults() []DependencyFault {
	if r.put {
		return ofPuts
	}
	return ofGets
}

// Outcomes implements sim.Request.
func (r *bodyRequest) Outcomes() []int { return r.outcomes(r.node, r.faults()) }

// Accesses implements sim.Request.
func (r *bodyRequest) Accesses(outcome int) []sim.Access {
	touched := []sim.Access{{Object: sim.ObjectNamed(bodyObject, r.name), Write: r.put}}
	return withPossible(r.node.world.withCertain(touched), outcome)
}

func (r *bodyRequest) Apply(outcome int) {
	w := r.node.world
	r.meet(r.node, outcome, r.faults())
	switch {
	case r.dependency != "" && r.dependency != BodyPutLost:
		return
	case !r.put:
		r.body = w.bodies[r.name]
		return
	}
	r.node.keepBody(r.name, r.body)
}

// AnswerFingerprint implements sim.Fingerprinter.
func (r *bodyRequest) AnswerFingerprint() (uint64, bool) {
	return uint64(bodyFingerprint(r.name, r.body).Text(string(r.dependency))), true
}

func (r *bodyRequest) Describe(int) string {
	switch {
	case r.put && r.body == nil:
		return "DeleteBody " + r.name + r.printed("", " -> ")
	case r.put:
		return "PutBody " + r.name + r.printed("", " -> ")
	}
	return "GetBody " + r.name + " -> " + r.DescribeAnswer()
}

func (r *bodyRequest) DescribeAnswer() string {
	switch {
	case r.dependency != "":
		return r.dependency.err().Error()
	case r.put && r.body == nil:
		return "body deleted"
	case r.put:
		return "body stored"
	case r.body == nil:
		return isr.ErrNoBody.Error()
	default:
		return "body " + string(r.body)
	}
}
