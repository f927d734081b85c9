package invariant

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// noLostInvalidation holds that a confirmed invalidation stays in force: no rendering that was under way brings the old
// data back as fresh.
//
// "Before" and "after" mean true time, or the order of events on one node. Events of different nodes at the same
// instant have no order. An invalidation that failed may not have happened, so it does not count. A page that is served
// as stale may have any age.
var noLostInvalidation = Invariant{
	Name: "no-lost-invalidation",
	Statement: "after an invalidation is confirmed, nothing is served as fresh from data read before it was asked " +
		"for",
	Check:  checkInvalidations,
	Follow: func(Promise) teller { return newCutoffs() },
	Memory: func(Promise) memory { return &invalidations{} },
}

func checkInvalidations(ev Evidence) Finding {
	var all invalidations
	finding := ok()
	for i := range ev.History {
		finding = finding.and(all.judge(&ev.History[i]))
	}
	return finding
}

// pageOf names a page in a history.
type pageOf struct{ tenant, key string }

// invalidations follows a history.
type invalidations struct {
	rendered map[pageOf][]*history.Event // the last rendering of each body
	all      []*invalidation
	text     words
}

type invalidation struct {
	pageOf
	actor            string
	asked, confirmed int              // sequence numbers of the events, or 0
	at               time.Time        // when it was confirmed
	failed           bool             // it will never be confirmed
	old              []*history.Event // renderings from before it
	bound            []*history.Event // open requests to which none of these may be served as fresh
}

// judge reads the next event.
func (all *invalidations) judge(e *history.Event) Finding {
	page := pageOf{e.Tenant, e.Key}
	switch e.Kind {
	case history.Rendered:
		all.render(page, e)
	case history.Invalidating:
		all.begin(page, e)
	case history.Invalidated:
		for _, v := range all.all {
			if v.pageOf == page && v.actor == e.Actor && v.open() {
				v.confirmed, v.at = e.Seq, e.Time
			}
		}
	case history.Asked:
		for _, v := range all.all {
			if v.confirmed != 0 && v.pageOf == page && (v.at.Before(e.Time) || v.actor == e.Actor) {
				v.bound = append(v.bound, e)
			}
		}
	case history.Served, history.Failed, history.Crashed:
		return all.end(page, e)
	}
	return ok()
}

func (all *invalidations) render(page pageOf, e *history.Event) {
	if all.rendered == nil {
		all.rendered = map[pageOf][]*history.Event{}
	}
	same := func(other *history.Event) bool { return other.Body == e.Body }
	all.rendered[page] = append(without(all.rendered[page], same), e)
	for _, v := range all.all {
		if v.pageOf == page { // if a body is made again, it also holds the newer data
			v.old = without(v.old, same)
		}
	}
}

func (all *invalidations) begin(page pageOf, e *history.Event) {
	v := &invalidation{pageOf: page, actor: e.Actor, asked: e.Seq}
	for _, r := range all.rendered[page] {
		if r.Time.Before(e.Time) || r.Actor == e.Actor {
			v.old = append(v.old, r)
		}
	}
	all.all = append(all.all, v)
}

// end reads an event that ends a request or an invalidation of its actor.
func (all *invalidations) end(page pageOf, e *history.Event) Finding {
	finding := ok()
	for _, v := range all.all {
		if v.open() && v.actor == e.Actor && (e.Kind == history.Crashed || v.pageOf == page) {
			v.failed = true
		}
		for _, asked := range v.bound {
			if asked.Actor != e.Actor || v.pageOf != page || e.As != history.Fresh {
				continue
			}
			made := func(r *history.Event) bool { return r.Body == e.Body }
			if !slices.ContainsFunc(all.rendered[page], made) {
				finding = finding.or(unknown("event %d serves body %q for %s as fresh after an invalidation, and no "+
					"rendering of that page is known that made it",
					e.Seq, e.Body, e.Key).event(e.Seq))
			}
			for _, source := range v.old {
				if source.Body == e.Body {
					finding = finding.and(Finding{
						Verdict: Violated,
						Why: fmt.Sprintf("%s served as fresh what %s had read from the origin before %s invalidated it",
							e.Actor, source.Actor, v.actor),
						Events: []int{source.Seq, v.asked, v.confirmed, asked.Seq, e.Seq},
					}.answered())
				}
			}
		}
		v.bound = without(v.bound, func(asked *history.Event) bool {
			return asked.Actor == e.Actor && (e.Kind == history.Crashed || v.pageOf == page)
		})
	}
	return finding
}

func (v *invalidation) open() bool { return v.confirmed == 0 && !v.failed }

func (*invalidations) Change(ddbfake.Change) {}

func (all *invalidations) Event(e history.Event) { all.judge(&e) }

func (all *invalidations) Fingerprint(time.Time) uint64 {
	var sum fingerprint.Hash
	for _, v := range all.all {
		if v.failed || len(v.old) == 0 {
			continue // no later event can violate it
		}
		h := fingerprint.Hash(0).Text(v.tenant).Text(v.key).Text(all.text.of(v.actor)).
			Number(uint64(v.at.Unix())).Number(uint64(v.at.Nanosecond()))
		var old, bound fingerprint.Hash
		for _, e := range v.old {
			old += fingerprint.Hash(0).Text(all.text.of(e.Body))
		}
		for _, e := range v.bound {
			bound += fingerprint.Hash(0).Text(all.text.of(e.Actor))
		}
		sum += h.Number(uint64(old)).Number(uint64(bound))
	}
	return uint64(sum)
}

// without returns the events for which is returns false, in new memory.
func without(events []*history.Event, is func(*history.Event) bool) []*history.Event {
	var left []*history.Event
	for _, e := range events {
		if !is(e) {
			left = append(left, e)
		}
	}
	return left
}

func (*invalidations) Heeds(e *history.Event) bool { return e != nil }

func (all *invalidations) Clone() memory {
	c := &invalidations{rendered: maps.Clone(all.rendered), text: all.text}
	for _, v := range all.all {
		same := *v
		same.bound = slices.Clone(v.bound) // old is copied on write
		c.all = append(c.all, &same)
	}
	return c
}
