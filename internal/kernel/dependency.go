package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/smithy-go/middleware"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/faults"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/internal/trace/request"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// The faults that can strike a request, by the kind of request.
var (
	ofPuts   = []string{mark.BodyPutFailed, mark.BodyPutLost}
	ofGets   = []string{mark.BodyGetFailed}
	ofOrigin = []string{mark.OriginFailed}
)

// The errors that clients see. A client cannot tell from them whether a lost put is stored.
var (
	errBodies     = errors.New("the body store is not available")
	errBodiesLost = errors.New("the body store does not answer")
	errOrigin     = errors.New("the origin is not available")
	errCutOff     = errors.New("the network does not answer")
)

// errorOf is the error that a client gets for a fault of a dependency; nil if there is no fault.
func errorOf(fault string) error {
	switch fault {
	case mark.BodyPutFailed, mark.BodyGetFailed:
		return errBodies
	case mark.BodyPutLost:
		return errBodiesLost
	case mark.OriginFailed:
		return errOrigin
	case mark.CutOff:
		return errCutOff
	default:
		return nil
	}
}

// befalls says whether the fault is one of the given faults of dependencies and can strike the given actor. As with
// faults of the store, a fault of alice can strike alice.2.
func befalls(f *spec.Fault, actor string, of []string) bool {
	return (f.CutOff || slices.Contains(of, f.Dependency)) && strikesActor(f, actor)
}

func strikesActor(f *spec.Fault, actor string) bool {
	return f.Actor == "" || f.Actor == actor || strings.HasPrefix(actor, f.Actor+".")
}

// dependencyCall is the part of a request to the body store or the origin that depends on faults.
type dependencyCall struct {
	node       *node
	of         []string // the faults of dependencies that can strike it
	ways       []int    // see Outcomes
	dependency string   // the name of the fault that struck it, or ""
	// strikes says whether a fault of the store can strike the request; nil means that none can. Only requests through
	// the body store's own client (S3) have this function.
	strikes func(ddbfake.Fault) bool
}

// befallen says whether a fault can strike the request.
func (b *dependencyCall) befallen(f *spec.Fault) bool {
	actor := b.node.proc.Name()
	if b.strikes == nil || !f.OfStore() || f.CutOff {
		return befalls(f, actor, b.of)
	}
	return b.node.world.ofObjects(f) && strikesActor(f, actor) && b.strikes(f.Fault)
}

// ofObjects reports whether a fault of the store strikes requests to the body store, too. It does if it names an
// operation of S3. In a world without pages, it also does if it names neither an operation nor a row.
func (w *world) ofObjects(f *spec.Fault) bool {
	return f.OfStore() && f.Latency == 0 && f.Table == "" &&
		(slices.Contains(faults.ObjectOperations, f.Op) || f.Op+f.Key == "" && !w.by.Rows)
}

func (n *node) befallenBy(faults []string) dependencyCall { return dependencyCall{node: n, of: faults} }

// Outcomes implements sim.Request. Outcome 0 is the ordinary one. The number of a possible fault is its place in
// world.possible plus one.
func (b *dependencyCall) Outcomes() []int {
	w := b.node.world
	if len(w.possible) == 0 {
		return subject.Ordinary
	}
	b.ways = append(b.ways[:0], 0)
	for i := range w.possible {
		f := &w.possible[i]
		if f.left != 0 && f.fault.During(w.since()) && b.befallen(&f.fault) {
			w.meet(f.declared)
			b.ways = append(b.ways, i+1)
		}
	}
	return b.ways
}

// Accesses implements subject.Faults.
func (b *dependencyCall) Accesses(touched []sim.Access, outcome int) []sim.Access {
	return withPossible(b.node.world.withCertain(touched), outcome)
}

// Strike implements subject.Faults. The fault is the possible one that the outcome names, or else the first certain one
// whose turn it is.
func (b *dependencyCall) Strike(outcome int) string {
	w := b.node.world
	b.dependency = ""
	if outcome > 0 {
		b.dependency = w.possible[outcome-1].strike().Name()
	}
	for i := 0; i < len(w.certain) && b.dependency == ""; i++ {
		f := &w.certain[i]
		if !f.fault.During(w.since()) || !b.befallen(&f.fault) {
			continue
		}
		if f.meets() {
			b.dependency = f.fault.Name()
			w.meet(f.declared)
		}
	}
	if b.dependency != "" {
		w.strikes++
		w.Mark(b.dependency)
	}
	return b.dependency
}

// Error implements subject.Faults.
func (*dependencyCall) Error(fault string) error { return errorOf(fault) }

// printed is the text of the answer in a trace: the parameter well if there was no fault, and otherwise the separator
// and the error.
func (b *dependencyCall) printed(well, separator string) string {
	if b.dependency == "" {
		return well
	}
	return separator + errorOf(b.dependency).Error()
}

// possibleFault is a fault that the schedule may choose. left says how often it may still be chosen; if it is negative,
// there is no limit.
type possibleFault struct {
	fault    spec.Fault
	left     int
	declared int // its place among the scenario's faults
}

// strike counts a strike of the fault, and returns the fault.
func (f *possibleFault) strike() *spec.Fault {
	if f.left > 0 {
		f.left--
	}
	return &f.fault
}

// withCertain adds the certain faults, if there are any, to the accesses of a request. The order matters, because calls
// are counted: if a fault can strike two requests, it may strike only the first of them.
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
	return append(slices.Clip(touched),
		sim.Access{Object: sim.ObjectNamed(faultObject, strconv.Itoa(outcome)), Write: true})
}

// bodies is the body store for one node. All nodes share the same store.
type bodies struct{ n *node }

var _ isr.BodyStore = bodies{}

// PutBody implements isr.BodyStore. It copies the body, because the caller may reuse its memory.
func (b bodies) PutBody(ctx context.Context, name string, body []byte) error {
	r := &bodyRequest{
		dependencyCall: b.n.befallenBy(ofPuts), name: name, body: bytes.Clone(body), put: true,
	}
	if err := b.n.Do(ctx, r); err != nil {
		return err
	}
	return errorOf(r.dependency)
}

// DeleteBody deletes a body. No reference protocol does that, but some broken protocols do.
func (b bodies) DeleteBody(ctx context.Context, name string) error { return b.PutBody(ctx, name, nil) }

func (b bodies) GetBody(ctx context.Context, name string) ([]byte, error) {
	r := &bodyRequest{dependencyCall: b.n.befallenBy(ofGets), name: name}
	if err := b.n.Do(ctx, r); err != nil {
		return nil, err
	}
	if r.body == nil && r.dependency == "" {
		return nil, isr.ErrNoBody
	}
	return bytes.Clone(r.body), errorOf(r.dependency) // the caller may modify its copy
}

// bodyRequest is a request to the body store.
type bodyRequest struct {
	dependencyCall
	name string
	body []byte // nil means no body
	put  bool
}

// bodyAccesses are the accesses of a request to the bodies with these names. If the request may replace a body, its
// order among the writes of rows matters, even those of other nodes: the etag of a row stands for the body that the row
// leads to when it is written.
func (w *world) bodyAccesses(names []string, write bool) (touched []sim.Access) {
	replaces := false
	for _, name := range names {
		touched = append(touched, sim.Access{Object: sim.ObjectNamed(bodyObject, name), Write: write})
		replaces = replaces || write && w.bodies[name] != nil
	}
	if replaces {
		touched = append(touched, sim.Access{Object: leads, Write: true})
	}
	return touched
}

func (r *bodyRequest) Accesses(outcome int) []sim.Access {
	touched := r.node.world.bodyAccesses([]string{r.name}, r.put)
	return r.dependencyCall.Accesses(touched, outcome)
}

func (r *bodyRequest) Apply(outcome int) {
	w := r.node.world
	if !r.put {
		r.body = nil
	}
	r.Strike(outcome)
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
	return r.print(request.AsItIs), true
}

// AnswerUpToNames implements sim.UpToNames.
func (r *bodyRequest) AnswerUpToNames() uint64 {
	return r.print(r.node.world.fingerprinter.symmetric.Value)
}

func (r *bodyRequest) print(text request.Text) uint64 {
	return uint64(bodyFingerprint(r.name, r.body, text).Text(r.dependency))
}

// Asks implements sim.Remembered.
func (r *bodyRequest) Asks() string {
	if !r.put {
		return "the body " + r.name
	}
	return fmt.Sprintf("to keep the body %s: %t %s", r.name, r.body != nil, r.body)
}

// bodyAnswer is the answer to a bodyRequest, and its text.
type bodyAnswer struct {
	body             []byte
	text, dependency string
}

// Answer implements sim.Remembered.
func (r *bodyRequest) Answer() any { return bodyAnswer{r.body, string(r.body), r.dependency} }

// Tell implements sim.Remembered.
func (r *bodyRequest) Tell(answer any) (same bool) {
	a, is := answer.(bodyAnswer)
	r.body, r.dependency = a.body, a.dependency
	return is && string(a.body) == a.text
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
	of := ofGets
	if s.Write {
		of = ofPuts
	}
	r := &objectRequest{dependencyCall: b.n.befallenBy(of), step: s}
	r.strikes = s.Strikes
	var left error
	_, _ = b.n.own.Watch(ctx, s.Invocation, b.n.proc.Now, func() (any, error) { // the answer is the step's
		left = b.n.Do(ctx, r)
		err := left
		if left == nil {
			err = s.Err()
		}
		b.n.own.Answered(s.Write, b.n.proc.Now, err)
		return nil, err
	})
	return left
}

// Client implements hooks.BodySteps.
func (b bodies) Client() hooks.BodyClient {
	c := hooks.BodyClient{Attempts: b.n.world.scenario.Cache.Attempts, Store: b.n.world.scenario.S3Store}
	if b.n.own != nil {
		c.Through = []func(*middleware.Stack) error{b.n.own.TellsTrouble}
	}
	return c
}

// Now implements hooks.BodySteps. Only the store asks for it, when a request takes effect.
func (b bodies) Now() time.Time { return b.n.world.clock.Now() }

// State implements hooks.BodySteps. A node with remembered outputs keeps the value that it got, so all runs of a search
// share one value.
func (b bodies) State(make func() hooks.Kept) hooks.Kept {
	w := b.n.world
	w.objectsMu.Lock()
	defer w.objectsMu.Unlock()
	if w.objects == nil {
		w.objects = make()
		w.noObjects = w.objects.Keep()
	}
	return w.objects
}

// objectRequest is a request to the body store through that store's own client, such as the client of S3.
type objectRequest struct {
	dependencyCall
	step   hooks.BodyStep
	answer string
}

// Accesses implements sim.Request. A request that names no body reads a list of bodies, so it may see the effect of any
// other request.
func (r *objectRequest) Accesses(outcome int) []sim.Access {
	if len(r.step.Names) == 0 {
		return nil
	}
	touched := r.node.world.bodyAccesses(r.step.Names, r.step.Write)
	return r.dependencyCall.Accesses(touched, outcome)
}

func (r *objectRequest) Apply(outcome int) {
	r.node.world.askedObjects = !r.node.world.by.Rows
	r.Strike(outcome)
	var struck ddbfake.FaultKind
	switch f, err := ddbfake.ParseFault(r.dependency); {
	case r.dependency == "":
	case err == nil:
		struck = f.Kind
	case r.dependency == mark.BodyPutLost:
		struck = ddbfake.FaultErrorAfter
	default:
		struck = ddbfake.FaultErrorBefore
	}
	r.answer = r.step.Do(struck)
	if struck == ddbfake.FaultDuplicate {
		r.answer += " (delivered twice)"
	}
	if r.step.Write || len(r.step.Names) == 0 { // a bucket may have been made
		r.node.world.noteObjects(r.step.State)
	}
	if !r.step.Write {
		return
	}
	for _, name := range r.step.Names {
		if body := r.step.Body(name); !bytes.Equal(body, r.node.world.bodies[name]) ||
			(body == nil) != (r.node.world.bodies[name] == nil) {
			r.node.keepBody(name, body)
		}
	}
}

// AnswerFingerprint implements sim.Fingerprinter.
func (r *objectRequest) AnswerFingerprint() (uint64, bool) { return r.step.Print(), true }

// Asks implements sim.Remembered.
func (r *objectRequest) Asks() string { return r.step.Asks() }

// Answer implements sim.Remembered.
func (r *objectRequest) Answer() any { return r.step.Answer() }

// Tell implements sim.Remembered.
func (r *objectRequest) Tell(answer any) (same bool) {
	r.step.Tell(answer)
	return true
}

func (r *objectRequest) Describe(int) string { return r.step.Text + " -> " + r.answer }

func (r *objectRequest) DescribeAnswer() string { return r.answer }

// noteObjects notes the state of the body store after a write. That store keeps more than bodies: dates, headers,
// uploads, buckets.
func (w *world) noteObjects(state func() uint64) {
	if w.fingerprinter == nil {
		return
	}
	now := fingerprint.Hash(0).Text(storeObject).Number(state())
	w.fingerprinter.thing(w.kept, now)
	w.kept, w.told = now, w.changed()
}

// keepBody stores a body under its name. Nil deletes it.
func (n *node) keepBody(name string, body []byte) {
	w := n.world
	if w.fingerprinter != nil {
		text := w.fingerprinter.symmetric.Value
		w.fingerprinter.thing(bodyFingerprint(name, w.bodies[name], text), bodyFingerprint(name, body, text))
	}
	w.bodies[name] = body
	w.named = w.changed()
	kept := recorder.Body{
		Time: n.proc.Now(), Actor: n.proc.Name(), Name: name, Body: string(body), Gone: body == nil, Change: w.seen,
	}
	w.showBody(&kept)
	w.bodyLog = append(w.bodyLog, kept)
}
