package invariant

import (
	"math"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// follower judges what happened in the order in which it did.
type follower interface {
	step(*step)           // what a request did to one key
	body(*history.Body)   // what happened in the body store
	event(*history.Event) // what a client saw
	// found returns what came of it, when everything has happened.
	found(Evidence) Finding
}

// following is an invariant that is being followed. Either may be missing.
type following struct {
	ruled
	beyond follower
}

// Judge checks All, and reports in their order those whose verdict is not ok. It
// comes to what their Checks come to, and reads the log once for all that need it.
func Judge(ev Evidence, report func(Invariant, Finding)) {
	followed := follow(ev, all)
	for i := range all {
		f := Finding{}
		if all[i].follows() {
			f = followed[i].found(ev)
		} else {
			f = all[i].Check(ev)
		}
		if f.Verdict != OK {
			report(all[i], f)
		}
	}
}

// follow has the invariants that do follow what happened.
func follow(ev Evidence, invs []Invariant) []following {
	l := newLedger(Promise{ev.MaxClockSkew, ev.Revalidate})
	all := make([]following, len(invs))
	var beyond []follower
	for i := range invs {
		all[i].rule = invs[i].rule
		if invs[i].beyond == nil {
			continue
		}
		if all[i].beyond = invs[i].beyond(ev, l); all[i].beyond != nil {
			beyond = append(beyond, all[i].beyond)
		}
	}
	bodies, events := ev.Bodies, ev.History
	// The place of a body or an event is behind the last change before it.
	tell := func(next int) {
		if len(beyond) == 0 {
			return
		}
		for ; len(bodies) > 0 && bodies[0].Change < next; bodies = bodies[1:] {
			for _, f := range beyond {
				f.body(&bodies[0])
			}
		}
		for ; len(events) > 0 && events[0].Change < next; events = events[1:] {
			for _, f := range beyond {
				f.event(&events[0])
			}
		}
	}
	for request := range Requests(ev.Changes) {
		tell(request[0].Seq)
		l.take(request, func(s *step) {
			for i := range all {
				all[i].step(s)
			}
			for _, f := range beyond {
				f.step(s)
			}
		})
	}
	tell(math.MaxInt)
	return all
}

// found returns what an invariant comes to.
func (f *following) found(ev Evidence) Finding {
	finding := ok()
	if f.finding != nil {
		finding = *f.finding
	}
	if finding.Verdict == Violated {
		finding.Changes = Story(ev.Changes, finding.Changes)
	} else if f.beyond != nil {
		finding = finding.and(f.beyond.found(ev))
	}
	return finding
}

// ruled judges each step by a rule, until one is violated; by none if there is no rule.
type ruled struct {
	rule    rule
	finding *Finding // nil is ok
}

func (r *ruled) step(s *step) {
	if r.rule == nil || r.finding != nil && r.finding.Verdict == Violated {
		return
	}
	if f := r.rule(s); f.Verdict == Violated || f.Verdict == Unknown && r.finding == nil {
		kept := f // and not f itself, of which there is one for each step
		r.finding = &kept
	}
}
