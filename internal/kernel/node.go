package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/pprof"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/internal/trace/request"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// node is one machine: an incarnation of an actor, until it crashes.
type node struct {
	world  *world
	proc   *sim.Proc
	tenant string // the tenant whose pages its cache keeps
	region string // where it is
	client uint64 // the number of its SDK client
	life   context.Context
	*noted
	// request is memory for the call in progress. Without goroutines there is only one call at a time.
	request storeRequest
	busy    bool
	own     *subject.OwnTime // nil unless times are judged
	// ids counts the names that the node's code has given out or got, if its outputs are remembered.
	ids map[string]int
	// questions are the calls to the node, if several may be under way. Requests with another context, such as those of
	// a goroutine that outlives the answer, are stray.
	questions []*named
	stray     named
}

// noted is the world's record of a node, updated when its requests take effect. With remembered outputs, all nodes with
// the same name share it.
type noted struct {
	asked bool   // the request in progress has written the REQ row itself
	named *named // the partitions named for the question being answered
}

// fingerprint covers the record and a number.
func (n *noted) fingerprint(number uint64) fingerprint.Hash {
	h := fingerprint.Hash(number)
	if n.asked {
		h = ^h
	}
	for _, partition := range n.named.partitions {
		h = h.Text(partition)
	}
	return h
}

// notedOf returns what is noted about the node of the running code, and clears it.
func (w *world) notedOf(p *sim.Proc) *noted {
	if !p.Remembers() {
		return &noted{named: &named{}}
	}
	n := w.noted[p.Name()]
	if n == nil {
		n = &noted{named: &named{}}
		w.noted[p.Name()] = n
	}
	p.Tell(func() { n.asked, n.named.partitions = false, nil })
	return n
}

// Mark implements subject.Node.
func (n *node) Mark(m string) {
	if n.proc.Remembers() {
		n.proc.Tell(func() { n.world.Mark(m) })
		return
	}
	n.world.Mark(m)
}

// NextID implements subject.Node.
func (n *node) NextID(of string) string {
	n.proc.Own()
	if !n.proc.Remembers() {
		return n.world.NextID(of)
	}
	n.ids[of]++
	n.proc.Tell(func() { n.world.NextID(of) })
	return of + "-" + strconv.Itoa(n.ids[of])
}

// boot starts a node and its cache. It runs as code of the actor: making the cache may send requests, take time, and
// give out names. The parameter ids counts the names that the actor's nodes have given out: see node.ids.
func (w *world) boot(p *sim.Proc, tenant, region string, client uint64, ids map[string]int) (*node, isr.Handler) {
	n := &node{world: w, proc: p, tenant: tenant, region: cmp.Or(region, ddbfake.DefaultRegion), client: client,
		noted: w.notedOf(p), ids: ids}
	if w.by.Times {
		n.own = &subject.OwnTime{}
	}
	n.label("starts")
	handler := n.handler()
	if n.life = w.ctx; w.bubble != nil {
		n.life = p.Life()
	}
	n.life = n.hooks().In(n.life)
	n.closeAtEnd(handler)
	n.Turn()
	return n, handler
}

// label labels a node's goroutines, and the goroutines that they start, with the node and the command. The runtime
// prints these labels with the stacks. They are for readers of code under test.
func (n *node) label(call string) {
	if n.world.sdk {
		pprof.SetGoroutineLabels(pprof.WithLabels(n.world.ctx, pprof.Labels("node", n.proc.Name(), "call", call)))
	}
}

// handler makes the node's cache with the protocol's New.
func (n *node) handler() isr.Handler {
	handler, err := n.world.protocol.New(n.config())
	if err != nil {
		panic(fmt.Errorf("protocol %s: %w", n.world.protocol.Name, err))
	}
	if p, is := handler.(subject.Program); is {
		return n.world.subject.Wire().Client(p)
	}
	return handler
}

// config is the configuration that the scenario gives to the node's cache.
func (n *node) config() isr.Config {
	c := n.world.scenario.Cache
	var dynamo isr.Client = client{n}
	if n.world.sdk {
		dynamo = n.sdkClient()
	}
	cfg := isr.Config{
		Client: dynamo, Clock: n.clock(), Bodies: bodies{n}, Render: noOrigin,
		Tokens: func() string { return n.NextID(n.proc.Name()) },
		Table:  hooks.TableName, Tenant: n.tenant,
		Lease: c.Lease, Revalidate: c.Revalidate, Retention: c.Retention, TTLBuffer: c.TTLBuffer,
		Contention: c.Contention, Failure: c.Failure, Poll: c.Poll, Patience: c.Patience,
		MaxClockSkew: n.world.scenario.Skew,
	}
	n.world.state.Configure(n, &cfg)
	return cfg
}

// hooks returns the hooks of the node's calls to its cache.
func (n *node) hooks() (h storeop.Hooks) {
	if w := n.world; w.fingerprinter != nil && w.protocol.Memoryless {
		p := n.proc
		h.Forget = func(state string) {
			p.Forget(state, func() (upToNames, named uint64) {
				at := n.noted.fingerprint(w.position(p, p.Place()))
				return uint64(at.Text(w.fingerprinter.symmetric.Text(state))), uint64(at.Text(state))
			})
		}
	}
	if n.world.observing && n.world.bubble == nil {
		h.Observe = n.ofTenant(n.world.operations.Observer(n.proc.Name(), n.proc.Now))
	}
	return h
}

// noOrigin is the renderer in scenarios without pages.
func noOrigin(context.Context, string, func(context.Context) error) ([]byte, error) {
	return nil, errors.New("the scenario has no pages")
}

// clock is the clock of the code under test.
func (n *node) clock() clockwork.Clock {
	if n.own == nil {
		return n.proc.Clock()
	}
	return ownClock{n.proc.Clock(), n}
}

// ownClock is the clock of a node if times are judged. It notes sleeps that end late.
type ownClock struct {
	sim.NodeClock
	node *node
}

func (c ownClock) Sleep(d time.Duration) {
	began := c.node.proc.Now()
	c.NodeClock.Sleep(d)
	c.node.own.Late(c.node.proc.Now().Sub(began) - d)
}

// ofTenant wraps an observer so that it sees the pages of the node's tenant under names that no other tenant uses.
func (n *node) ofTenant(observe storeop.Observer) storeop.Observer {
	if n.tenant == "" {
		return observe
	}
	return func(called storeop.Operation) func(storeop.Operation) {
		called.Key = subject.Key{Tenant: n.tenant, Name: called.Key}.String()
		answered := observe(called)
		return func(o storeop.Operation) {
			o.Key = called.Key
			answered(o)
		}
	}
}

// Do implements subject.Node.
func (n *node) Do(ctx context.Context, r sim.Request) error {
	if n.own != nil {
		defer n.own.Request(n.proc.Now)()
	}
	if n.world.bubble != nil {
		return n.proc.Send(ctx, r)
	}
	n.proc.Do(r)
	return nil
}

// Sleep implements subject.Node.
func (n *node) Sleep(ctx context.Context, d time.Duration) error {
	if n.world.bubble != nil {
		return n.proc.Sleep(ctx, d)
	}
	n.proc.Clock().Sleep(d)
	return nil
}

// Idle implements subject.Node. A handler may still have to wait for the timers of a program.
func (n *node) Idle(ctx context.Context, handler any, d time.Duration) error {
	if h, is := handler.(rester); is && h.Later() && d > 0 {
		return h.Rest(ctx, d)
	}
	return n.Sleep(ctx, d)
}

// rester is a handler that may have something left to do after a command, and can do it while its client sleeps.
type rester interface {
	Later() bool
	Rest(ctx context.Context, d time.Duration) error
}

// Enter implements subject.Node.
func (n *node) Enter(call func()) {
	if n.world.enter == nil {
		call()
		return
	}
	n.world.enter(call)
}

// Turn implements subject.Node. In a bubble, the code of several nodes may run at the same time.
func (n *node) Turn() {
	if n.world.bubble != nil {
		n.proc.Turn()
		return
	}
	n.proc.GoOn()
}

// Life implements subject.Node.
func (n *node) Life() context.Context { return n.life }

// Close implements subject.Node. In a bubble, closeAtEnd closes the handler. Close notes if the handler leaves work for
// later that nothing will start.
func (n *node) Close(handler isr.Handler) {
	if p, is := handler.(interface{ Later() bool }); is && n.world.subjects != nil && p.Later() {
		n.world.subjects[hooks.LeftForLater] = true
	}
	w := n.world
	if c, ok := handler.(io.Closer); ok && w.bubble == nil {
		_ = c.Close() // there is no client to return the error to
	}
	if w.fingerprinter == nil { // EndLife reads a clock, and so the end's time would be part of the state
		w.unended = cmp.Or(w.unended, w.endLives(n.proc))
	}
}

// closeAtEnd closes a handler with goroutines when the node ends, and ends a handler that holds something outside of
// the run.
func (n *node) closeAtEnd(handler isr.Handler) {
	if c, ok := handler.(io.Closer); ok && n.world.bubble != nil {
		n.proc.AtEnd(func() { _ = c.Close() }) // the node is gone: there is no caller to return the error to
	}
	if m, ok := handler.(mortal); ok {
		n.world.alive = append(n.world.alive, life{n.proc, m})
	}
}

// mortal is a handler that holds something outside of the run, such as a process. It ends with the incarnation of its
// node: at a crash, when it is closed, or at the end of the run. EndLife makes no requests.
type mortal interface{ EndLife() error }

// life is a handler that must end with its node's incarnation.
type life struct {
	proc    *sim.Proc
	handler mortal
}

// endLives ends the handlers of proc, or of all nodes if proc is nil.
func (w *world) endLives(proc *sim.Proc) error {
	var errs []error
	w.alive = slices.DeleteFunc(w.alive, func(l life) bool {
		if proc != nil && l.proc != proc {
			return false
		}
		errs = append(errs, l.handler.EndLife())
		return true
	})
	return errors.Join(errs...)
}

// now returns true time. Use it only for times that are a part of the state of a search anyway: the time of a request
// under way, and the times of events that invariants remember (see invariant.Memory).
func (n *node) now() time.Time {
	if n.world.bubble != nil {
		return n.proc.Now()
	}
	return n.proc.True()
}

// Record implements subject.Node.
func (n *node) Record(e history.Event) {
	if n.proc.Remembers() {
		told, says, facts := e, e, history.Hold{}
		if e.Hold != nil {
			facts = *e.Hold
		}
		says.Hold = &facts       // a nil pointer is printed slowly
		type whole history.Event // Event.String leaves out some fields
		// e has no time and number yet: it gets them when it is recorded
		n.proc.Says(fmt.Sprintf("%+v %+v", whole(says), facts))
		n.proc.Tell(func() { n.Record(told) })
		return
	}
	e.Time, e.Actor, e.Tenant, e.Change = n.now(), n.proc.Name(), n.tenant, n.world.seen
	if n.world.skewed && n.proc.Local().Sub(e.Time).Abs() > n.world.scenario.Skew {
		n.world.Mark(mark.SkewBroken)
	}
	n.world.Add(e)
}

// carryOut does one command of the script.
func (n *node) carryOut(handler isr.Handler, c spec.Command) {
	n.label(c.String())
	if v := list.Named(string(c.Verb)); v != nil {
		v.Do(n, handler, c.Plain())
	}
}

// named collects the partitions of the page and lock rows that a node's requests have named since a client asked the
// node for a page. If there is only one partition, it has that page's rows.
type named struct {
	partitions []string
	of         subject.Key // the key of the question, if several may be under way
}

// namedKey is the key under which the context of a question has its *named. Nodes that may answer several questions at
// the same time need it.
type namedKey struct{}

// Question implements subject.Node.
func (n *node) Question(ctx context.Context, key string) context.Context {
	n.proc.Tell(func() { n.asked = false })
	if n.world.bubble == nil {
		n.proc.Tell(func() { n.named.partitions = n.named.partitions[:0] })
		return ctx
	}
	own := &named{of: subject.Key{Tenant: n.tenant, Name: key}}
	n.questions, n.stray = append(n.questions, own), named{}
	return context.WithValue(ctx, namedKey{}, own)
}

// namedFor returns the set of partitions that collects the names in a request with this context; nil means the set of
// the question under way when the request takes effect.
func (n *node) namedFor(ctx context.Context) *named {
	if n.world.bubble == nil {
		return nil
	}
	if own, is := ctx.Value(namedKey{}).(*named); is {
		return own
	}
	return &n.stray
}

// Partition implements subject.Node.
func (n *node) Partition(ctx context.Context) func(subject.Key) string {
	own := n.namedFor(ctx)
	return func(k subject.Key) string { return n.partitionOf(k, own) }
}

// partitionOf returns the partition of a page that is being rendered; own is the set of the rendering's context. A
// stray rendering may come during a question for another page, so questions for the page itself count first, if they
// named one partition.
func (n *node) partitionOf(k subject.Key, own *named) string {
	switch {
	case own == nil:
		return n.named.partition(k)
	case own != &n.stray && len(own.partitions) > 0:
		return own.partition(k)
	}
	for _, q := range n.questions {
		if q.of == k && len(q.partitions) == 1 {
			return q.partitions[0]
		}
	}
	return n.stray.partition(k)
}

// note notes the keys that a call names. A Query names none.
func (a *named) note(input any, rows *rows) {
	request.EachRow(input, func(table *string, key map[string]types.AttributeValue, _ bool) {
		if pk, roles := rows.place(table, key); roles&(rowmap.Page|rowmap.Lock) != 0 {
			a.add(pk)
		}
	})
}

func (a *named) add(pk string) {
	if !slices.Contains(a.partitions, pk) {
		a.partitions = append(a.partitions, pk)
	}
}

// partition is the partition of a page's rows. If only one partition was named, it is that one. If several were named,
// it is the one that the schema gives the page, if that is among them. Otherwise it is "".
func (a *named) partition(k subject.Key) string {
	switch len(a.partitions) {
	case 0:
		return ""
	case 1:
		return a.partitions[0]
	}
	if pk := isr.PartitionKey(k.Tenant, k.Name); slices.Contains(a.partitions, pk) {
		return pk
	}
	return ""
}
