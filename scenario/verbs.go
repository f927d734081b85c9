package scenario

import (
	"context"
	"fmt"

	"github.com/isr-sim/isr-sim/internal/locking"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// carryOut does one command of the script.
func (n *node) carryOut(handler isr.Handler, c Command) {
	n.label(c.String())
	switch c.Verb {
	case Get:
		n.get(handler, c.Key)
	case Change:
		_ = n.do(n.world.ctx, &originChange{node: n, page: page{n.tenant, c.Key}})
	case Sleep:
		_ = n.sleep(n.world.ctx, c.For)
	case Invalidate:
		n.invalidate(able[isr.Invalidator](n, handler, c.Verb), c.Key)
	case Rollback:
		n.rollback(able[isr.Rollbacker](n, handler, c.Verb), c.Key)
	case Regenerate:
		n.regenerate(able[isr.Regenerator](n, handler, c.Verb), c.Key, c.request())
	case Hold:
		n.hold(able[locking.Client](n, handler, c.Verb), c)
	}
}

// able returns the handler as one that can do what the verb asks for. A protocol that cannot has no verdict under such
// a scenario.
func able[T any](n *node, handler isr.Handler, v Verb) T {
	t, ok := handler.(T)
	if !ok {
		panic(fmt.Errorf("protocol %s cannot %s: its %T has no such method", n.world.protocol.Name, v, handler))
	}
	return t
}

// get asks the cache for a page and records the answer.
func (n *node) get(handler isr.Handler, key string) {
	n.serve(history.Event{Key: key}, func(ctx context.Context) (isr.Served, error) { return handler.Get(ctx, key) })
}

// regenerate has the cache make a page for a request, once.
func (n *node) regenerate(handler isr.Regenerator, key string, r isr.Request) {
	n.asked = false
	n.serve(history.Event{Key: key, Request: r.ID, Inputs: r.Hash}, func(ctx context.Context) (isr.Served, error) {
		return handler.Regenerate(context.WithValue(ctx, requested{}, r), key, r)
	})
}

// requested is the key under which the context of a regeneration has its isr.Request: a page that is rendered within it
// is rendered for that request.
type requested struct{}

// serve asks for a page, and records the question and the answer. e holds the fields that both share.
func (n *node) serve(e history.Event, ask func(context.Context) (isr.Served, error)) {
	e.Kind = history.Asked
	n.record(e)
	served, err := ask(n.question(n.life()))
	n.turn()
	if err != nil {
		e.Kind, e.Note = history.Failed, err.Error()
		n.record(e)
		return
	}
	e.Kind, e.As, e.Body = history.Served, history.Stale, string(served.Body)
	if served.Fresh {
		e.As = history.Fresh
		n.world.mark(ServedFresh)
	} else {
		n.world.mark(ServedStale)
	}
	n.record(e)
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
	n.world.mark(PageInvalidated)
	n.record(history.Event{Kind: history.Invalidated, Key: key})
}

// rollback has the cache go back to an older version. The change log has the result.
func (n *node) rollback(handler isr.Rollbacker, key string) {
	n.record(history.Event{Kind: history.RollingBack, Key: key})
	err := handler.Rollback(n.life(), key)
	n.turn()
	if err != nil {
		n.record(history.Event{Kind: history.Failed, Key: key, Note: err.Error()})
		return
	}
	n.world.mark(RolledBack)
}
