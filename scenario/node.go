package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// node is one machine: an incarnation of an actor.
type node struct {
	world  *world
	proc   *sim.Proc
	tenant string // whose pages its cache keeps
	// asked says that the REQ row of the request in progress is its own.
	asked bool
	// request is room for the call in progress: without goroutines there is one at a time.
	request storeRequest
	busy    bool
	named   *named   // by the question that is being answered
	own     *ownTime // nil unless locks are judged
}

// boot starts a node and its cache, as an actor's own code. Making the cache may take requests, and time.
func (w *world) boot(p *sim.Proc, tenant string) (*node, isr.Handler) {
	n := &node{world: w, proc: p, tenant: tenant, named: &named{}}
	if w.ofLocks {
		n.own = &ownTime{}
	}
	n.label("starts")
	handler := n.handler()
	n.closeAtEnd(handler)
	n.turn()
	return n, handler
}

// label has the runtime print, with the stacks of a node's goroutines and of those that they start, whose they are and
// for which command: that is for code under test.
func (n *node) label(call string) {
	if n.world.sdk {
		pprof.SetGoroutineLabels(pprof.WithLabels(n.world.ctx, pprof.Labels("node", n.proc.Name(), "call", call)))
	}
}

// handler makes the node's cache, as the protocol has it.
func (n *node) handler() isr.Handler {
	handler, err := n.world.protocol.New(n.config())
	if err != nil {
		panic(fmt.Errorf("protocol %s: %w", n.world.protocol.Name, err))
	}
	return handler
}

// config is the node's cache as the scenario configures it.
func (n *node) config() isr.Config {
	c := n.world.scenario.Cache
	var dynamo isr.Client = client{n}
	if n.world.sdk {
		dynamo = n.sdkClient()
	}
	var observe history.Observer
	if n.world.observing && n.world.bubble == nil {
		observe = n.ofTenant(n.world.operations.Observer(n.proc.Name(), n.proc.Now))
	}
	return isr.Config{
		Observe: observe,
		Client:  dynamo, Clock: n.clock(), Bodies: bodies{n}, Render: n.render,
		Tokens: func() string { return n.world.nextID(n.proc.Name()) },
		Table:  TableName, Tenant: n.tenant,
		Lease: c.Lease, Revalidate: c.Revalidate, Retention: c.Retention, TTLBuffer: c.TTLBuffer,
		Contention: c.Contention, Failure: c.Failure, Poll: c.Poll, Patience: c.Patience,
	}
}

// clock is the clock of the node's cache, or lock.
func (n *node) clock() clockwork.Clock {
	if n.own == nil {
		return n.proc.Clock()
	}
	return lockClock{n.proc.Clock(), n}
}

// ofTenant returns an observer that gets the pages of the node's tenant under names that no other tenant uses.
func (n *node) ofTenant(observe history.Observer) history.Observer {
	if n.tenant == "" {
		return observe
	}
	return func(called history.Operation) func(history.Operation) {
		called.Key = page{n.tenant, called.Key}.String()
		answered := observe(called)
		return func(o history.Operation) {
			o.Key = called.Key
			answered(o)
		}
	}
}

// do sends a request into the world, and returns when its answer has arrived. It returns an error only in a bubble.
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

// turn waits for the node's place in the order of actors, where several of them may run at the same time.
func (n *node) turn() {
	if n.world.bubble != nil {
		n.proc.Turn()
	}
}

// life is the context of the node's work. It ends with the node.
func (n *node) life() context.Context {
	if n.world.bubble != nil {
		return n.proc.Life()
	}
	return n.world.ctx
}

// closeNow closes a handler that can be closed, once its script is over. In a bubble, closeAtEnd does it.
func (n *node) closeNow(handler isr.Handler) {
	if c, ok := handler.(io.Closer); ok && n.world.bubble == nil {
		_ = c.Close() // there is no client to return the error to
	}
}

// closeAtEnd has a handler with goroutines of its own closed when the node ends, and the life of one that holds something
// outside of the run ended.
func (n *node) closeAtEnd(handler isr.Handler) {
	if c, ok := handler.(io.Closer); ok && n.world.bubble != nil {
		n.proc.AtEnd(func() { _ = c.Close() }) // the node is gone: there is no caller to return the error to
	}
	if m, ok := handler.(mortal); ok {
		n.world.alive = append(n.world.alive, life{n.proc, m})
	}
}

// mortal is a handler that holds something outside of the run, such as a process. Its life ends with its node's: at a
// crash, or at the end of the run. It makes no requests at its end, which is in no coroutine.
type mortal interface{ EndLife() error }

// life is a handler whose life is to be ended with its node's.
type life struct {
	proc    *sim.Proc
	handler mortal
}

// endLives ends the lives of the nodes that end: proc, or all if it is nil.
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

func (n *node) record(e history.Event) {
	e.Time, e.Actor, e.Tenant, e.Change = n.proc.Now(), n.proc.Name(), n.tenant, n.world.seen
	if n.world.skewed && n.proc.Clock().Now().Sub(e.Time).Abs() > n.world.scenario.Skew {
		n.world.mark(SkewBroken)
	}
	n.world.history.Add(e)
}
