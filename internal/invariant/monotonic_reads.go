package invariant

import (
	"fmt"
	"slices"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// monotonicReads holds that no node sees a page go back in time. If the cache promises it for all nodes together
// (Evidence.AcrossNodes), all nodes count as one.
//
// Only pages from the cache count: those served to a request that did not make them. A node whose publish was refused
// may serve its own page to the request for which the page was made, and then the page in the cache to the next
// request. A regeneration with an idempotency key is answered with the page made for that key, however old it is. It
// makes no difference whether a page is served as fresh or as stale.
var monotonicReads = Invariant{
	Name: "monotonic-reads",
	Statement: "a node is never served older data than before or, where promised, than any node was. " +
		"Rollbacks and answers to idempotency keys are exempt",
	Check: checkMonotonicReads,
}

// seenPage is a page that a node was served.
type seenPage struct{ source, served *history.Event }

// descent is a page that was served after a newer one.
type descent struct {
	newer seenPage
	older read
}

// readers follow a history.
type readers struct {
	across bool
	exempt map[pageOf]bool
	reads  reads
	seen   map[question][]seenPage // by node; the actor "" stands for all
	cached map[*history.Event]bool // renderings that were served to a request that did not make them
	doubts []descent               // descents of which it is not yet known whether the newer page was ever in the cache
	lost   map[question]string     // a body that was served although nobody is known to have made it
}

func checkMonotonicReads(ev Evidence) Finding {
	if !servesTwo(ev.History) {
		return ok()
	}
	all := readers{
		across: ev.AcrossNodes, exempt: rolledBack(ev.History), seen: map[question][]seenPage{},
		cached: map[*history.Event]bool{}, lost: map[question]string{},
	}
	finding := ok()
	for i := 0; i < len(ev.History) && finding.Verdict != Violated; i++ {
		if r, is := all.reads.event(&ev.History[i]); is && !all.exempt[pageOf{r.served.Tenant, r.served.Key}] {
			finding = finding.and(all.judge(r))
		}
	}
	return finding
}

// servesTwo reports whether two different pages were served. Most short runs serve only one.
func servesTwo(events []history.Event) bool {
	body := ""
	for i := range events {
		if e := &events[i]; e.Kind == history.Served {
			if body != "" && e.Body != body {
				return true
			}
			body = e.Body
		}
	}
	return false
}

// judge takes in the next answer.
func (all *readers) judge(r read) Finding {
	by := question{r.served.Actor, pageOf{r.served.Tenant, r.served.Key}}
	if all.across {
		by.actor = ""
	}
	if r.source == nil {
		return all.unknownBody(by, r)
	}
	finding := ok()
	if body, is := all.lost[by]; is && body != r.served.Body && r.served.Request == "" {
		finding = unknown("event %d serves %s, and it is not known whether body %q, which was served before, is "+
			"newer: nobody is known to have made it",
			r.served.Seq, r.served.Key, body).event(r.served.Seq)
	}
	if !r.own && !all.cached[r.source] {
		all.cached[r.source] = true
		for _, d := range all.doubts {
			if d.newer.source == r.source {
				return d.finding(r.served)
			}
		}
	}
	if r.served.Request == "" {
		for _, s := range all.seen[by] {
			if s.source.Body == r.source.Body || !before(r.source, s.source) || !before(s.served, r.asked) {
				continue
			}
			d := descent{s, r}
			if all.cached[s.source] {
				return d.finding(nil)
			}
			all.doubts = append(all.doubts, d)
		}
	}
	if !slices.ContainsFunc(all.seen[by], func(s seenPage) bool { return s.source == r.source }) {
		all.seen[by] = append(all.seen[by], seenPage{r.source, r.served})
	}
	return finding
}

// unknownBody takes in an answer with a body that nobody is known to have rendered.
func (all *readers) unknownBody(by question, r read) Finding {
	if r.foreign {
		return ok()
	}
	body, another := all.lost[by]
	if !another {
		all.lost[by] = r.served.Body
	}
	if r.served.Request != "" || len(all.seen[by]) == 0 && (!another || body == r.served.Body) {
		return ok()
	}
	return unknown("event %d serves body %q for %s, and no rendering is known that made it: it may be older than "+
		"what was served before",
		r.served.Seq, r.served.Body, r.served.Key).event(r.served.Seq)
}

// finding is the violation. The parameter proof is the answer that shows that the newer page was in the cache; nil if
// an earlier answer showed it.
func (d descent) finding(proof *history.Event) Finding {
	events := []int{d.older.source.Seq, d.newer.source.Seq, d.newer.served.Seq, d.older.asked.Seq, d.older.served.Seq}
	if proof != nil {
		events = append(events, proof.Seq)
	}
	slices.Sort(events)
	who := d.newer.served.Actor + " had been"
	if d.newer.served.Actor == d.older.served.Actor {
		who = "it had been"
	}
	return Finding{
		Verdict: Violated,
		Why: fmt.Sprintf("%s was served for %s what %s had read from the origin, after %s served what %s had read %s",
			d.older.served.Actor, d.older.served.Key, d.older.source.Actor, who, d.newer.source.Actor,
			howMuchLater(d.older.source, d.newer.source)),
		Events: slices.Compact(events),
	}
}

// howMuchLater says how much later b was than a.
func howMuchLater(a, b *history.Event) string {
	if d := span(a.Time, b.Time); d != "0s" {
		return d + " later"
	}
	return "later, at the same instant"
}
