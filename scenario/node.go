package scenario

import (
	"fmt"

	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// node is one machine: an incarnation of an actor.
type node struct {
	world *world
	proc  *sim.Proc
}

// handler makes the node's cache, as the protocol has it.
func (n *node) handler() isr.Handler {
	handler, err := n.world.protocol.New(n.config())
	if err != nil {
		panic(fmt.Errorf("protocol %s: %w", n.world.protocol.Name, err))
	}
	return handler
}

// carryOut does one command of the script.
func (n *node) carryOut(handler isr.Handler, c Command) {
	switch c.Verb {
	case Get:
		n.get(handler, c.Key)
	case Change:
		n.proc.Do(&originChange{node: n, key: c.Key})
	case Sleep:
		n.proc.Clock().Sleep(c.For)
	}
}

// get asks the cache for a page and records what it was told.
func (n *node) get(handler isr.Handler, key string) {
	n.record(history.Event{Kind: history.Asked, Key: key})
	served, err := handler.Get(n.world.ctx, key)
	if err != nil {
		n.record(history.Event{Kind: history.Failed, Key: key, Note: err.Error()})
		return
	}
	e := history.Event{Kind: history.Served, Key: key, As: history.Stale, Body: string(served.Body)}
	if served.Fresh {
		e.As = history.Fresh
	} else {
		n.world.mark(ServedStale)
	}
	n.record(e)
}

// config is the node's cache as the scenario configures it.
func (n *node) config() isr.Config {
	c := n.world.scenario.Cache
	var dynamo isr.Client = client{n}
	if n.world.sdk {
		dynamo = n.sdkClient()
	}
	var observe history.Observer
	if n.world.observing {
		observe = n.world.operations.Observer(n.proc.Name(), n.proc.Now)
	}
	return isr.Config{
		Observe: observe,
		Client:  dynamo, Clock: n.proc.Clock(), Bodies: bodies{n}, Render: n.render,
		Tokens: func() string { return n.world.nextID(n.proc.Name()) },
		Table:  tableName,
		Lease:  c.Lease, Revalidate: c.Revalidate, Retention: c.Retention, LockBuffer: c.LockBuffer,
		Contention: c.Contention, Poll: c.Poll, Patience: c.Patience,
	}
}

func (n *node) record(e history.Event) {
	e.Time, e.Actor = n.proc.Now(), n.proc.Name()
	if n.world.skewed && n.proc.Clock().Now().Sub(e.Time).Abs() > n.world.scenario.Skew {
		n.world.mark(SkewBroken)
	}
	n.world.history.Add(e)
}
