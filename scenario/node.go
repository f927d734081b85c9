package scenario

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
	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// node is one machine: an incarnation of an actor, until it crashes.
type node struct {
	world  *world
	proc   *sim.Proc
	tenant string // the tenant whose pages its cache keeps
	region string // where it is
	client uint64 // the number of its client of the SDK
	*noted
	// request is memory for the call in progress. Without goroutines there is only one call at a time.
	request storeRequest
	busy    bool
	own     *ownTime // nil unless locks or calls are judged
	// ids and rendered count the names that the node has given out, and the pages that it has made, if its deeds are
	// remembered.
	ids      map[string]int
	rendered int
	// questions are those that the node was asked, if several may be under way. Requests whose context is of none of
	// them, such as those of a goroutine that goes on after the answer, are stray.
	questions []*named
	stray     named
}

// noted is what the world notes about a node when its requests take effect. All nodes of the same name share it if
// deeds are remembered.
type noted struct {
	asked bool   // the request in progress has written the REQ row itself
	named *named // the partitions that were named for the question that is being answered
}

// fingerprint is the fingerprint of what is noted, and of a number.
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

// mark notes that the node's code has reached m.
func (n *node) mark(m Mark) {
	if n.proc.Remembers() {
		n.proc.Tell(func() { n.world.mark(m) })
		return
	}
	n.world.mark(m)
}

// nextID gives out names that are unique in the run, to the node's code.
func (n *node) nextID(of string) string {
	n.proc.Own()
	if !n.proc.Remembers() {
		return n.world.nextID(of)
	}
	n.ids[of]++
	n.proc.Tell(func() { n.world.nextID(of) })
	return of + "-" + strconv.Itoa(n.ids[of])
}

// boot starts a node and its cache. It runs as code of the actor: to make the cache may take requests, and time, and
// give out names. The parameter ids has those that the actor's nodes have given out: see node.ids.
func (w *world) boot(p *sim.Proc, tenant, region string, client uint64, ids map[string]int) (*node, isr.Handler) {
	n := &node{world: w, proc: p, tenant: tenant, region: cmp.Or(region, ddbfake.DefaultRegion), client: client,
		noted: w.notedOf(p), ids: ids}
	if w.ofLocks || w.ofCalls {
		n.own = &ownTime{}
	}
	n.label("starts")
	handler := n.handler()
	n.closeAtEnd(handler)
	n.turn()
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
		Client: dynamo, Clock: n.clock(), Bodies: bodies{n}, Render: n.render,
		Tokens: func() string { return n.nextID(n.proc.Name()) },
		Table:  hooks.TableName, Tenant: n.tenant,
		Lease: c.Lease, Revalidate: c.Revalidate, Retention: c.Retention, TTLBuffer: c.TTLBuffer,
		Contention: c.Contention, Failure: c.Failure, Poll: c.Poll, Patience: c.Patience,
		MaxClockSkew: n.world.scenario.Skew,
	}
	if w := n.world; w.fingerprinter != nil && w.protocol.Memoryless {
		p := n.proc
		inside.In(&cfg).Forget = func(state string) {
			p.Forget(state, func() (upToNames, named uint64) {
				at := n.noted.fingerprint(w.position(p, p.Place()))
				return uint64(at.Text(w.fingerprinter.twins.text(state))), uint64(at.Text(state))
			})
		}
	}
	if n.world.observing && n.world.bubble == nil {
		inside.In(&cfg).Observe = n.ofTenant(n.world.operations.Observer(n.proc.Name(), n.proc.Now))
	}
	return cfg
}

// clock is the clock of the node's cache, or lock.
func (n *node) clock() clockwork.Clock {
	clock, ok := n.proc.Clock().(nodeClock)
	if n.own == nil || !ok {
		return n.proc.Clock()
	}
	return lockClock{clock, n}
}

// ofTenant returns an observer to which the pages of the node's tenant have names that no other tenant uses.
func (n *node) ofTenant(observe storeop.Observer) storeop.Observer {
	if n.tenant == "" {
		return observe
	}
	return func(called storeop.Operation) func(storeop.Operation) {
		called.Key = page{n.tenant, called.Key}.String()
		answered := observe(called)
		return func(o storeop.Operation) {
			o.Key = called.Key
			answered(o)
		}
	}
}

// do sends a request into the world, and returns when the answer has arrived. It returns an error only in a bubble.
func (n *node) do(ctx context.Context, r sim.Request) error {
	if n.own != nil {
		defer n.own.request(n.proc.Now)()
	}
	if n.world.bubble != nil {
		return n.proc.Send(ctx, r)
	}
	n.proc.Do(r)
	return nil
}

// sleep waits by the node's clock. It returns an error only in a bubble.
func (n *node) sleep(ctx context.Context, d time.Duration) error {
	if n.world.bubble != nil {
		return n.proc.Sleep(ctx, d)
	}
	n.proc.Clock().Sleep(d)
	return nil
}

// idle sleeps between two commands. A handler that has something left to do meanwhile, such as a program whose timers
// are set, spends the time itself.
func (n *node) idle(ctx context.Context, handler any, d time.Duration) error {
	if h, is := handler.(rester); is && h.Later() && d > 0 {
		return h.Rest(ctx, d)
	}
	return n.sleep(ctx, d)
}

// rester is a handler that may have something left to do after a command, and can do it while its client sleeps.
type rester interface {
	Later() bool
	Rest(ctx context.Context, d time.Duration) error
}

// turn waits for the node's place in the order of actors, if several of them may run at the same time. It does not
// return if the node has crashed.
func (n *node) turn() {
	if n.world.bubble != nil {
		n.proc.Turn()
		return
	}
	n.proc.GoOn()
}

// life is the context of the node's work. It ends with the node.
func (n *node) life() context.Context {
	if n.world.bubble != nil {
		return n.proc.Life()
	}
	return n.world.ctx
}

// closeNow closes a handler, if it can be closed, when its script is over. In a bubble, closeAtEnd does that. It notes
// that the handler leaves work for later that nothing makes it do.
func (n *node) closeNow(handler isr.Handler) {
	if p, is := handler.(interface{ Later() bool }); is && n.world.subjects != nil && p.Later() {
		n.world.subjects[hooks.LeftForLater] = true
	}
	if c, ok := handler.(io.Closer); ok && n.world.bubble == nil {
		_ = c.Close() // there is no client to return the error to
	}
}

// closeAtEnd closes a handler with goroutines of its own when the node ends, and ends the life of a handler that holds
// something outside of the run.
func (n *node) closeAtEnd(handler isr.Handler) {
	if c, ok := handler.(io.Closer); ok && n.world.bubble != nil {
		n.proc.AtEnd(func() { _ = c.Close() }) // the node is gone: there is no caller to return the error to
	}
	if m, ok := handler.(mortal); ok {
		n.world.alive = append(n.world.alive, life{n.proc, m})
	}
}

// mortal is a handler that holds something outside of the run, such as a process. Its life ends with that of its node:
// at a crash, or at the end of the run. EndLife runs outside of the coroutines, so it makes no requests.
type mortal interface{ EndLife() error }

// life is a handler whose life must end with that of its node.
type life struct {
	proc    *sim.Proc
	handler mortal
}

// endLives ends the lives of the handlers of proc, or of all nodes if proc is nil.
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

func (n *node) record(e history.Event) {
	if n.proc.Remembers() {
		told, says, facts := e, e, mark.Hold{}
		if hold := inside.In(&e).Hold; hold != nil {
			inside.In(&says).Hold, facts = nil, *hold
		}
		type whole history.Event // Event.String leaves out some fields
		// without time and number, which it gets when it is recorded
		n.proc.Says(fmt.Sprintf("%+v %+v", whole(says), facts))
		n.proc.Tell(func() { n.record(told) })
		return
	}
	e.Time, e.Actor, e.Tenant, e.Change = n.now(), n.proc.Name(), n.tenant, n.world.seen
	if n.world.skewed && n.proc.Local().Sub(e.Time).Abs() > n.world.scenario.Skew {
		n.world.mark(mark.SkewBroken)
	}
	n.world.add(e)
}

// carryOut does one command of the script.
func (n *node) carryOut(handler isr.Handler, c Command) {
	n.label(c.String())
	switch c.Verb {
	case verbGet:
		n.get(handler, c.Key)
	case verbChange:
		_ = n.do(n.world.ctx, &originChange{node: n, page: page{n.tenant, c.Key}})
	case verbSleep:
		_ = n.idle(n.world.ctx, handler, c.For)
	case verbInvalidate:
		n.invalidate(able[isr.Invalidator](n, handler, c.Verb), c.Key)
	case verbRollback:
		n.rollback(able[isr.Rollbacker](n, handler, c.Verb), c.Key)
	case verbRegenerate:
		n.regenerate(able[isr.Regenerator](n, handler, c.Verb), c.Key, c.request())
	case verbHold:
		n.hold(able[hooks.LockClient](n, handler, c.Verb), c)
	case verbOnce:
		n.once(able[hooks.OnceClient](n, handler, c.Verb), c)
	}
}

// able returns the handler as the interface that the verb needs. If the protocol's handler does not have it, there is
// no verdict under such a scenario.
func able[T any](n *node, handler isr.Handler, v Verb) T {
	t, ok := handler.(T)
	if !ok {
		panic(fmt.Errorf("protocol %s cannot %s: its %T has no such method", n.world.protocol.Name, v, handler))
	}
	return t
}

// get asks the cache for a page and records the answer.
func (n *node) get(handler isr.Handler, key string) (answered history.Event) {
	return n.serve(history.Event{Key: key},
		func(ctx context.Context) (isr.Served, error) { return handler.Get(ctx, key) })
}

// regenerate asks the cache to make a page for a request, at most once.
func (n *node) regenerate(handler isr.Regenerator, key string, r isr.Request) {
	n.serve(history.Event{Key: key, Request: r.ID, Inputs: r.Hash}, func(ctx context.Context) (isr.Served, error) {
		return handler.Regenerate(context.WithValue(ctx, requested{}, r), key, r)
	})
}

// requested is the key under which the context of a regeneration has its isr.Request. A page that is rendered with this
// context is rendered for that request.
type requested struct{}

// serve asks for a page, and records the question and the answer. The event e has the fields that both share.
func (n *node) serve(e history.Event, ask func(context.Context) (isr.Served, error)) (answered history.Event) {
	e.Kind = history.Asked
	n.proc.Tell(func() { n.asked = false })
	n.record(e)
	served, err := ask(n.question(n.life(), e.Key))
	n.turn()
	if err != nil {
		e.Kind, e.Note = history.Failed, err.Error()
		n.record(e)
		return e
	}
	e.Kind, e.As, e.Body = history.Served, history.Stale, string(served.Body)
	if served.Fresh {
		e.As = history.Fresh
		n.mark(mark.ServedFresh)
	} else {
		n.mark(mark.ServedStale)
	}
	n.record(e)
	return e
}

// invalidate tells the cache that a page is wrong.
func (n *node) invalidate(handler isr.Invalidator, key string) {
	n.record(history.Event{Kind: history.Invalidating, Key: key})
	err := handler.Invalidate(n.life(), key)
	n.turn()
	if err != nil {
		n.record(history.Event{Kind: history.Failed, Key: key, Note: err.Error()})
		return
	}
	n.mark(mark.PageInvalidated)
	n.record(history.Event{Kind: history.Invalidated, Key: key})
}

// rollback makes the cache go back to an older version. No invariant demands that it does anything: the mark says that
// it has. If it does, monotonic-publication judges where it leads.
func (n *node) rollback(handler isr.Rollbacker, key string) {
	n.record(history.Event{Kind: history.RollingBack, Key: key})
	err := handler.Rollback(n.life(), key)
	n.turn()
	if err != nil {
		n.record(history.Event{Kind: history.Failed, Key: key, Note: err.Error()})
		return
	}
	n.proc.Tell(func() { n.world.markRollback(n.proc.Name()) })
}

// named are the partitions whose META or LOCK row was named in a node's requests since a client asked the node for a
// page. If there is only one partition, it has that page's rows.
type named struct {
	partitions []string
	page       page // that was asked for, if several questions may be under way
}

// namedKey is the key under which the context of a question has its *named. Nodes that may answer several questions at
// the same time need it.
type namedKey struct{}

// question begins a question for a page: the partitions that the node names from now on belong to it.
func (n *node) question(ctx context.Context, key string) context.Context {
	if n.world.bubble == nil {
		n.proc.Tell(func() { n.named.partitions = n.named.partitions[:0] })
		return ctx
	}
	own := &named{page: page{n.tenant, key}}
	n.questions, n.stray = append(n.questions, own), named{}
	return context.WithValue(ctx, namedKey{}, own)
}

// namedFor returns the set for the partitions that a request with this context names. It returns nil if the set is that
// of the question that is under way when the request takes effect.
func (n *node) namedFor(ctx context.Context) *named {
	if n.world.bubble == nil {
		return nil
	}
	if own, is := ctx.Value(namedKey{}).(*named); is {
		return own
	}
	return &n.stray
}

// partitionOf is the partition of a page that is rendered, with the set of the rendering's context. A stray rendering
// may come during a question for another page. So its page's own questions count first, if they named one partition.
func (n *node) partitionOf(p page, own *named) string {
	switch {
	case own == nil:
		return n.named.partition(p)
	case own != &n.stray && len(own.partitions) > 0:
		return own.partition(p)
	}
	for _, q := range n.questions {
		if q.page == p && len(q.partitions) == 1 {
			return q.partitions[0]
		}
	}
	return n.stray.partition(p)
}

// note notes the keys that a call names. A Query names none.
func (a *named) note(input any, rows *rows) {
	eachRow(input, func(table *string, key map[string]types.AttributeValue, _ bool) {
		if rows == nil {
			a.key(key)
		} else if pk, roles := rows.place(table, key); roles&(rowmap.Page|rowmap.Lock) != 0 {
			a.add(pk)
		}
	})
}

func (a *named) key(key map[string]types.AttributeValue) {
	pk, _ := key["pk"].(*types.AttributeValueMemberS)
	sk, _ := key["sk"].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil || sk.Value != isr.SortMeta && sk.Value != isr.SortLock {
		return
	}
	a.add(pk.Value)
}

func (a *named) add(pk string) {
	if !slices.Contains(a.partitions, pk) {
		a.partitions = append(a.partitions, pk)
	}
}

// partition is the partition of a page's rows. If only one partition was named, it is that one. If several were named,
// it is the one that the schema gives the page. "" is not known.
func (a *named) partition(p page) string {
	switch len(a.partitions) {
	case 0:
		return ""
	case 1:
		return a.partitions[0]
	}
	if pk := isr.PartitionKey(p.tenant, p.key); slices.Contains(a.partitions, pk) {
		return pk
	}
	return ""
}
