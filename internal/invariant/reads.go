package invariant

import (
	"maps"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// read is one request for a page and its answer, taken from the history.
type read struct {
	asked  *history.Event // the request; the answer itself, if the history has no request
	served *history.Event
	// source is the last rendering of the served body for the key: the request's own rendering, if it made one, or nil.
	// Other requests may have made the same bytes.
	source *history.Event
	// foreign says that the body was made for another key: Freshness judges that.
	foreign bool
	// own says that the page was made for this request.
	own bool
}

// question names the open requests of one node for one page.
type question struct {
	actor string
	pageOf
}

// reads follows a history and puts requests, answers and renderings together.
type reads struct {
	made map[madeBody]*history.Event // the last rendering of each body
	by   map[madeBy]*history.Event   // the last one of each node
	any  map[string]bool             // the bodies that were made for any key
	open map[question]*openQuestion
}

type madeBody struct{ key, body string }

type madeBy struct {
	madeBody
	actor string
}

// openQuestion is the first of the open requests, and their number. If there are several, an answer does not show to
// which of them it belongs. It is taken for the answer to the first one. That can hide a violation but not invent one,
// because the first request may have seen the oldest state.
type openQuestion struct {
	first *history.Event
	n     int
}

// event reads the next event. If it is an answer with a page, it returns the read.
func (r *reads) event(e *history.Event) (read, bool) {
	if r.made == nil {
		r.made, r.any, r.open = map[madeBody]*history.Event{}, map[string]bool{}, map[question]*openQuestion{}
		r.by = map[madeBy]*history.Event{}
	}
	q, body := question{e.Actor, pageOf{e.Tenant, e.Key}}, madeBody{e.Key, e.Body}
	switch e.Kind {
	case history.Rendered:
		r.made[body], r.by[madeBy{body, e.Actor}], r.any[e.Body] = e, e, true
	case history.Asked:
		o := r.open[q]
		if o == nil {
			o = &openQuestion{first: e}
			r.open[q] = o
		}
		o.n++
	case history.Failed:
		r.close(q)
	case history.Served:
		asked := e
		if o := r.open[q]; o != nil {
			asked = o.first
		}
		r.close(q)
		source, mine := r.made[body], r.by[madeBy{body, e.Actor}]
		own := mine != nil && mine.Seq > asked.Seq
		if own {
			source = mine
		}
		return read{asked: asked, served: e, source: source, foreign: source == nil && r.any[e.Body], own: own}, true
	}
	return read{}, false
}

func (r *reads) copy() reads {
	c := reads{made: maps.Clone(r.made), by: maps.Clone(r.by), any: maps.Clone(r.any), open: maps.Clone(r.open)}
	//isrsim:unordered each by itself
	for q, o := range c.open {
		same := *o
		c.open[q] = &same
	}
	return c
}

func (r *reads) close(q question) {
	if o := r.open[q]; o != nil {
		if o.n--; o.n == 0 {
			delete(r.open, q)
		}
	}
}

// before reports whether an event happened before another one: at an earlier instant, or earlier on the same node.
// Events of different nodes at the same instant have no order.
func before(a, b *history.Event) bool {
	return a.Time.Before(b.Time) || a.Actor == b.Actor && a.Seq < b.Seq
}

// rolledBack returns the pages that somebody asks to roll back. For these pages, an older page may be served on
// purpose.
func rolledBack(events []history.Event) map[pageOf]bool {
	var all map[pageOf]bool
	for i := range events {
		if e := &events[i]; e.Kind == history.RollingBack {
			if all == nil {
				all = map[pageOf]bool{}
			}
			all[pageOf{e.Tenant, e.Key}] = true
		}
	}
	return all
}
