package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// cutoffs follows a history whose events are in their true order. Of the confirmed invalidations of a page, only the
// one that was asked for last matters: a rendering that is too old for another one is also too old for this one.
type cutoffs struct {
	rendered map[renderedFor]*history.Event // the last of each body
	latest   map[pageOf]cutoff
	open     map[string]map[callOf]*history.Event // by actor: invalidations without an answer
	bound    map[string]map[callOf]boundBy        // by actor: requests without an answer
}

type renderedFor struct {
	pageOf
	body string
}

// callOf is a request of one actor.
type callOf struct {
	pageOf
	call string
}

// cutoff is a confirmed invalidation.
type cutoff struct{ asked, confirmed *history.Event }

type boundBy struct {
	cutoff
	request *history.Event
}

func newCutoffs() *cutoffs {
	return &cutoffs{
		rendered: map[renderedFor]*history.Event{}, latest: map[pageOf]cutoff{},
		open: map[string]map[callOf]*history.Event{}, bound: map[string]map[callOf]boundBy{},
	}
}

func (*cutoffs) Request([]ddbfake.Change) {}

func (all *cutoffs) Event(e *history.Event) Finding {
	page := pageOf{e.Tenant, e.Key}
	call := callOf{page, e.Call}
	switch e.Kind {
	case history.Rendered:
		all.rendered[renderedFor{page, e.Body}] = e
	case history.Invalidating:
		put(all.open, e.Actor, call, e)
	case history.Invalidated:
		if asked := all.open[e.Actor][call]; asked != nil {
			if last := all.latest[page].asked; last == nil || last.Seq < asked.Seq {
				all.latest[page] = cutoff{asked, e}
			}
		}
		drop(all.open, e.Actor, call)
	case history.Asked:
		if last, invalidated := all.latest[page]; invalidated {
			put(all.bound, e.Actor, call, boundBy{last, e})
		}
	case history.Crashed:
		delete(all.open, e.Actor)
		delete(all.bound, e.Actor)
	case history.Failed:
		drop(all.open, e.Actor, call)
		drop(all.bound, e.Actor, call)
	case history.Served:
		by, bound := all.bound[e.Actor][call]
		drop(all.bound, e.Actor, call)
		if bound && e.As == history.Fresh {
			return all.serve(page, by, e)
		}
	}
	return Finding{}
}

// serve judges a page that was served as fresh for a request after an invalidation.
func (all *cutoffs) serve(page pageOf, by boundBy, e *history.Event) Finding {
	source := all.rendered[renderedFor{page, e.Body}]
	if source == nil {
		return unknown("event %d serves body %q for %s as fresh after an invalidation, and no rendering of that "+
			"page is known that made it",
			e.Seq, e.Body, e.Key).event(e.Seq)
	}
	if source.Seq > by.asked.Seq {
		return ok()
	}
	return Finding{
		Verdict: Violated,
		Why: fmt.Sprintf("%s served as fresh what %s had read from the origin before %s invalidated it", e.Actor,
			source.Actor, by.asked.Actor),
		Events: []int{source.Seq, by.asked.Seq, by.confirmed.Seq, by.request.Seq, e.Seq},
	}
}

func put[V any](all map[string]map[callOf]V, actor string, call callOf, v V) {
	if all[actor] == nil {
		all[actor] = map[callOf]V{}
	}
	all[actor][call] = v
}

func drop[V any](all map[string]map[callOf]V, actor string, call callOf) {
	delete(all[actor], call)
	if len(all[actor]) == 0 {
		delete(all, actor)
	}
}
