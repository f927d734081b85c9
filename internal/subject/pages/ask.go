package pages

import (
	"context"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Visit implements subject.State: it asks for every page.
func (s *state) Visit(p *sim.Proc) {
	w := s.world
	var n subject.Node
	var handler isr.Handler
	nodes, ids, until := 0, map[string]int{}, p.Now().Add(w.Times().Settle)
	for _, page := range w.Keys() {
		if n == nil || n.Tenant() != page.Tenant {
			if n != nil {
				n.Close(handler)
			}
			nodes++
			n, handler = w.Visitor(p, page.Tenant, nodes, ids)
		}
		for !finds(n, handler, page.Name) && p.Now().Before(until) {
			if hooks.SoonStale(w.Times().Revalidate) {
				// Pages rendered in the background are there as soon as time moves.
				_ = n.Sleep(w.Context(), time.Millisecond)
				if finds(n, handler, page.Name) {
					break
				}
			}
			_ = n.Sleep(w.Context(), max(w.Times().Poll, 1))
		}
	}
	if n != nil {
		n.Close(handler)
	}
}

// finds asks for a page, and reports whether it is in the cache and fresh. If the page was rendered for this visitor,
// the visitor asks once more, because others must find the page in the cache, too.
func finds(n subject.Node, handler isr.Handler, key string) bool {
	before := made(n)
	if !servedFresh(n, handler, key) {
		return false
	}
	asked := made(n)
	return asked == before || servedFresh(n, handler, key) && made(n) == asked
}

// made counts the node's renderings.
func made(n subject.Node) int { return n.Given(n.Proc().Name() + subject.Rendering) }

// servedFresh asks for a page and says whether it was served as fresh.
func servedFresh(n subject.Node, handler isr.Handler, key string) bool {
	answered := get(n, handler, key)
	return answered.Kind == history.Served && answered.As == history.Fresh
}

// get asks the cache for a page and records the answer.
func get(n subject.Node, handler isr.Handler, key string) (answered history.Event) {
	return serve(n, history.Event{Key: key},
		func(ctx context.Context) (isr.Served, error) { return handler.Get(ctx, key) })
}

// regenerate asks the cache to render a page for a request with an idempotency key, at most once.
func regenerate(n subject.Node, handler isr.Regenerator, key string, r isr.Request) {
	serve(n, history.Event{Key: key, Request: r.ID, Inputs: r.Hash}, func(ctx context.Context) (isr.Served, error) {
		return handler.Regenerate(context.WithValue(ctx, requested{}, r), key, r)
	})
}

// requested is the context key of a regeneration's isr.Request. A page that is rendered with such a context is rendered
// for that request.
type requested struct{}

// serve asks for a page, and records the question and the answer. The event e has the fields that both share.
func serve(n subject.Node, e history.Event, ask func(context.Context) (isr.Served, error)) (answered history.Event) {
	e.Kind = history.Asked
	n.Record(e)
	served, err := ask(n.Question(n.Life(), e.Key))
	n.Turn()
	if err != nil {
		e.Kind, e.Note = history.Failed, err.Error()
		n.Record(e)
		return e
	}
	e.Kind, e.As, e.Body = history.Served, history.Stale, string(served.Body)
	if served.Fresh {
		e.As = history.Fresh
		n.Mark(mark.ServedFresh)
	} else {
		n.Mark(mark.ServedStale)
	}
	n.Record(e)
	return e
}

// invalidate tells the cache that a page is wrong.
func invalidate(n subject.Node, handler isr.Invalidator, key string) {
	n.Record(history.Event{Kind: history.Invalidating, Key: key})
	err := handler.Invalidate(n.Life(), key)
	n.Turn()
	if err != nil {
		n.Record(history.Event{Kind: history.Failed, Key: key, Note: err.Error()})
		return
	}
	n.Mark(mark.PageInvalidated)
	n.Record(history.Event{Kind: history.Invalidated, Key: key})
}

// rollback makes the cache go back to an older version. No invariant demands that a rollback does anything; a mark
// shows that it did. If it did, monotonic-publication judges the result.
func rollback(n subject.Node, handler isr.Rollbacker, key string) {
	n.Record(history.Event{Kind: history.RollingBack, Key: key})
	err := handler.Rollback(n.Life(), key)
	n.Turn()
	if err != nil {
		n.Record(history.Event{Kind: history.Failed, Key: key, Note: err.Error()})
		return
	}
	n.Proc().Tell(func() { markRollback(n.World(), n.Proc().Name()) })
}

// markRollback marks that a rollback by an actor is over, if the actor has made a page show another generation since
// the rollback began.
func markRollback(w subject.World, actor string) {
	events := w.History()
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		if e.Kind != history.RollingBack || e.Actor != actor {
			continue
		}
		if slices.ContainsFunc(w.Changes(), func(c ddbfake.Change) bool {
			return c.Seq > e.Change && c.Actor == actor && invariant.Publishes(&c)
		}) {
			w.Mark(mark.RolledBack)
		}
		return
	}
}
