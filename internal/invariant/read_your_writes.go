package invariant

import (
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// readYourWrites holds that after a successful regeneration with an idempotency key, its node does not get an older
// page, not even as stale. A regeneration that failed does not count, because it may not have happened.
//
// Reads after an invalidation, by the node itself or by another, are judged by noLostInvalidation.
var readYourWrites = Invariant{
	Name: "read-your-writes",
	Statement: "a node that was told that a page is regenerated is not served older data afterwards, unless the " +
		"page is rolled back",
	Check:  checkOwnWrites,
	Memory: func(Promise) memory { return &ownWrites{} },
}

func checkOwnWrites(ev Evidence) Finding {
	if !writes(ev.History) {
		return ok()
	}
	all := ownWrites{exempt: rolledBack(ev.History)}
	finding := ok()
	for i := 0; i < len(ev.History) && finding.Verdict != Violated; i++ {
		finding = finding.and(all.judge(&ev.History[i]))
	}
	return finding
}

// writes reports whether some node was told that a regeneration has succeeded.
func writes(events []history.Event) bool {
	for i := range events {
		if e := &events[i]; e.Kind == history.Served && e.Request != "" {
			return true
		}
	}
	return false
}

// ownWrites follows a history.
type ownWrites struct {
	exempt map[pageOf]bool // pages that are rolled back at some time
	reads  reads
	all    []*ownWrite
	// rendered are the last renderings of all bodies, in order.
	rendered []*history.Event
	text     words
}

// ownWrite is a regeneration whose success its node knows.
type ownWrite struct {
	question
	told  *history.Event // that the regeneration is done
	bound *history.Event // the rendering of its page; earlier data is old
	old   []*history.Event
}

// judge takes in the next event.
func (all *ownWrites) judge(e *history.Event) Finding {
	q := question{e.Actor, pageOf{e.Tenant, e.Key}}
	r, served := all.reads.event(e)
	if e.Kind == history.Rendered {
		same := func(other *history.Event) bool { return other.Key == e.Key && other.Body == e.Body }
		all.rendered = append(without(all.rendered, same), e)
		for _, w := range all.all {
			w.old = without(w.old, same) // if a body is made again, it also holds the newer data
		}
	}
	if !served {
		return ok()
	}
	finding := all.read(q, r)
	if e.Request != "" && r.source != nil && !all.exempt[q.pageOf] {
		all.add(&ownWrite{question: q, told: e, bound: r.source})
	}
	return finding
}

// add takes in a write, with the earlier renderings.
func (all *ownWrites) add(w *ownWrite) {
	for _, r := range all.rendered {
		if r.Key == w.key && r.Tenant == w.tenant && before(r, w.bound) {
			w.old = append(w.old, r)
		}
	}
	all.all = append(all.all, w)
}

// read judges an answer.
func (all *ownWrites) read(q question, r read) Finding {
	finding := ok()
	for _, w := range all.all {
		if w.question != q || r.served.Request != "" || w.told.Seq > r.asked.Seq {
			continue
		}
		if r.source == nil && !r.foreign {
			finding = finding.or(unknown("event %d serves body %q for %s after its node was told of its own write "+
				"(event %d), and no rendering is known that made it",
				r.served.Seq, r.served.Body, r.served.Key, w.told.Seq).event(r.served.Seq))
		}
		for _, old := range w.old {
			if old == r.source {
				return w.broken(r)
			}
		}
	}
	return finding
}

func (w *ownWrite) broken(r read) Finding {
	return Finding{
		Verdict: Violated,
		Why: fmt.Sprintf("%s was served for %s what %s had read from the origin before the data of the page that %s "+
			"had regenerated as %s",
			w.actor, w.key, r.source.Actor, w.actor, w.told.Request),
		Events: eventsOf(r.source, w.bound, w.told, r.asked, r.served),
	}
}

func (*ownWrites) Change(ddbfake.Change) {}

func (*ownWrites) Heeds(e *history.Event) bool { return e != nil }

func (all *ownWrites) Clone() memory {
	c := &ownWrites{exempt: all.exempt, reads: all.reads.copy(), rendered: slices.Clone(all.rendered), text: all.text}
	for _, w := range all.all {
		same := *w
		same.old = slices.Clone(w.old)
		c.all = append(c.all, &same)
	}
	return c
}

func (all *ownWrites) Event(e history.Event) { all.judge(&e) }

func (all *ownWrites) Fingerprint(time.Time) uint64 {
	var sum fingerprint.Hash
	for _, w := range all.all {
		if len(w.old) == 0 {
			continue // no later event can violate it
		}
		h := fingerprint.Hash(0).Text(w.tenant).Text(w.key).Text(all.text.of(w.actor))
		var old fingerprint.Hash
		for _, e := range w.old {
			old += fingerprint.Hash(0).Text(all.text.of(e.Body))
		}
		sum += h.Number(uint64(old))
	}
	return uint64(sum)
}
