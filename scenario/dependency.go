package scenario

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// The faults that can strike a request, by the kind of request.
var (
	ofPuts   = []string{mark.BodyPutFailed, mark.BodyPutLost}
	ofGets   = []string{mark.BodyGetFailed}
	ofOrigin = []string{mark.OriginFailed}
)

// The errors that clients see. They cannot tell whether a lost put is stored.
var (
	errBodies     = errors.New("the body store is not available")
	errBodiesLost = errors.New("the body store does not answer")
	errOrigin     = errors.New("the origin is not available")
	errCutOff     = errors.New("the network does not answer")
)

// errorOf is the error of a dependency's fault for a client, nil for none.
func errorOf(fault string) error {
	switch fault {
	case mark.BodyPutFailed, mark.BodyGetFailed:
		return errBodies
	case mark.BodyPutLost:
		return errBodiesLost
	case mark.OriginFailed:
		return errOrigin
	case cutOffKind:
		return errCutOff
	default:
		return nil
	}
}

// ofDependency is the word for a fault of the body store or the origin; "" for any other fault.
func (f *Fault) ofDependency() string {
	if f.CutOff {
		return cutOffKind
	}
	return f.Dependency
}

// befalls says whether the fault strikes one of these dependencies and can strike this actor. As in the store, a fault
// of alice can strike alice.2.
func (f *Fault) befalls(actor string, of []string) bool {
	return (f.CutOff || slices.Contains(of, f.Dependency)) && (f.Actor == "" || f.Actor == actor || strings.HasPrefix(actor, f.Actor+"."))
}

// dependencyCall is the part of a request to the body store or the origin that faults decide.
type dependencyCall struct {
	ways       []int  // see outcomes
	dependency string // that it met; "" is none
}

// outcomes are the outcomes of a sim.Request: the ordinary one, and each possible fault as one more than its place in
// world.possible.
func (b *dependencyCall) outcomes(n *node, of []string) []int {
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

// meet lets a fault strike the request: the possible one that the outcome names, or else the first certain one whose
// turn it is.
func (b *dependencyCall) meet(n *node, outcome int, of []string) {
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
	return separator + errorOf(b.dependency).Error()
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

// withPossible adds an access to the possible fault that an outcome names.
func withPossible(touched []sim.Access, outcome int) []sim.Access {
	if outcome == 0 {
		return touched
	}
	return append(slices.Clip(touched), sim.Access{Object: sim.ObjectNamed(faultObject, strconv.Itoa(outcome)), Write: true})
}

// render reads the origin and takes the scenario's time to make a page of it. It is the Renderer of the node's cache.
func (n *node) render(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error) {
	read := &originRead{node: n, page: page{n.tenant, key}, named: n.namedFor(ctx)}
	read.request, _ = ctx.Value(requested{}).(isr.Request)
	if err := n.do(ctx, read); err != nil {
		return nil, err
	}
	if read.dependency != "" {
		return nil, errorOf(read.dependency)
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

func (r *originRead) Outcomes() []int { return r.outcomes(r.node, ofOrigin) }

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

func (r *originRead) AnswerFingerprint() (uint64, bool) {
	return uint64(fingerprint.Hash(0).Text(r.body).Text(r.dependency)), true
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

func (*originChange) Outcomes() []int { return ordinary }

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
	return errorOf(r.dependency)
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
	return r.body, errorOf(r.dependency)
}

// bodyRequest is a request to the body store.
type bodyRequest struct {
	dependencyCall
	node *node
	name string
	body []byte // nil is none
	put  bool
}

// faults returns the dependencies whose faults can strike the request.
func (r *bodyRequest) faults() []string {
	if r.put {
		return ofPuts
	}
	return ofGets
}

func (r *bodyRequest) Outcomes() []int { return r.outcomes(r.node, r.faults()) }

func (r *bodyRequest) Accesses(outcome int) []sim.Access {
	touched := []sim.Access{{Object: sim.ObjectNamed(bodyObject, r.name), Write: r.put}}
	return withPossible(r.node.world.withCertain(touched), outcome)
}

func (r *bodyRequest) Apply(outcome int) {
	w := r.node.world
	r.meet(r.node, outcome, r.faults())
	switch {
	case r.dependency != "" && r.dependency != mark.BodyPutLost:
		return
	case !r.put:
		r.body = w.bodies[r.name]
		return
	}
	r.node.keepBody(r.name, r.body)
}

func (r *bodyRequest) AnswerFingerprint() (uint64, bool) {
	return uint64(bodyFingerprint(r.name, r.body).Text(r.dependency)), true
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
		return errorOf(r.dependency).Error()
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

var _ hooks.BodySteps = bodies{}

func (b bodies) Step(ctx context.Context, s hooks.BodyStep) error {
	return b.n.do(ctx, &objectRequest{node: b.n, step: s})
}

func (b bodies) Now() time.Time { return b.n.world.clock.Now() }

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
	step   hooks.BodyStep
	answer string
}

func (r *objectRequest) faults() []string {
	if r.step.Write {
		return ofPuts
	}
	return ofGets
}

func (r *objectRequest) Outcomes() []int { return r.outcomes(r.node, r.faults()) }

// Accesses implements sim.Request. A request that names no body reads a list of bodies: it may see the effect of any
// other request.
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

func (r *objectRequest) Apply(outcome int) {
	r.meet(r.node, outcome, r.faults())
	struck := hooks.Unharmed
	switch r.dependency {
	case "":
	case mark.BodyPutLost:
		struck = hooks.Lost
	default:
		struck = hooks.Refused
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

func (r *objectRequest) Describe(int) string { return r.step.Text + " -> " + r.answer }

func (r *objectRequest) DescribeAnswer() string { return r.answer }

// keepBody stores a body under its name. Nil deletes it.
func (n *node) keepBody(name string, body []byte) {
	w := n.world
	if w.fingerprinter != nil {
		w.fingerprinter.thing(bodyFingerprint(name, w.bodies[name]), bodyFingerprint(name, body))
	}
	w.bodies[name] = body
	w.bodyLog = append(w.bodyLog, recorder.Body{
		Time: n.proc.Now(), Actor: n.proc.Name(), Name: name, Body: string(body), Gone: body == nil, Change: w.seen,
	})
}
