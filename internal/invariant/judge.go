package invariant

import (
	"math"
	"slices"

	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// follower judges a run in the order of its events.
type follower interface {
	step(*step)           // the changes of one request to one key
	body(*recorder.Body)  // a write or deletion in the body store
	event(*history.Event) // an event that a client saw
	// found returns the finding after the last step, body and event.
	found(Evidence) Finding
}

// following is a check under way. Either part may be missing.
type following struct {
	ruled
	beyond follower
}

// Judge checks the given invariants, and reports the findings that are not ok, in the order of the invariants. If none
// is given, it checks All, with the rules of the recipe only if Evidence.Recipe is set. The findings are those of
// Check, but the log is read only once for all invariants that need it. If a check gives no verdict, the verdict is
// unknown. An invariant that is not one of All sees the cache's own rows, whatever Schema says.
func Judge(ev Evidence, report func(Invariant, Finding), by ...Invariant) {
	if len(by) == 0 {
		if by = harmful; ev.Recipe {
			by = all
		}
	}
	raw := ev
	ev, rows := ev.translated()
	ev.shared = &shared{}
	followed := follow(ev, by)
	for i := range by {
		inv := &by[i]
		var f Finding
		switch {
		case inv.follows():
			f = followed[i].found(ev)
		case !isOneOfAll(inv.Name):
			if f = checked(inv, raw); f.Verdict != OK {
				report(*inv, f)
			}
			continue
		default:
			f = checked(inv, ev)
		}
		own := *inv
		if rows != nil && (f.Verdict != OK || rows.hides(inv)) {
			own.Statement, f = rows.say(own.Statement), rows.own(f)
		}
		if f.Verdict != OK {
			report(own, f)
		}
	}
}

func isOneOfAll(name string) bool {
	_, is := Find(name)
	return is
}

// checked runs a check, which may be the caller's own, and corrects its finding: the finding has a verdict, and names
// only changes and events that exist.
func checked(inv *Invariant, ev Evidence) Finding {
	if inv.Check == nil {
		return unknown("%s has no check", inv.Name)
	}
	f := inv.Check(ev)
	if f.Verdict == OK && f.Changes == nil && f.Events == nil {
		return f
	}
	return corrected(inv, f, ev)
}

func corrected(inv *Invariant, f Finding, ev Evidence) Finding {
	if f.Verdict != OK && f.Verdict != Violated && f.Verdict != Unknown {
		return unknown("the check of %s gave the verdict %v, expected ok, violated or unknown", inv.Name, f.Verdict)
	}
	first, last := 1, 0
	if n := len(ev.Changes); n > 0 {
		first, last = ev.Changes[0].Seq, ev.Changes[n-1].Seq
	}
	f.Changes = among(f.Changes, first, last)
	f.Events = among(f.Events, 1, len(ev.History))
	f.Operations = among(f.Operations, 1, len(ev.Operations))
	return f
}

func among(all []int, first, last int) []int {
	is := func(n int) bool { return n >= first && n <= last }
	if !slices.ContainsFunc(all, func(n int) bool { return !is(n) }) {
		return all
	}
	var some []int
	for _, n := range all {
		if is(n) {
			some = append(some, n)
		}
	}
	return some
}

// follow runs the checks that follow the log, all of them at once.
func follow(ev Evidence, invs []Invariant) []following {
	l := newLedger(ev.promise())
	all := make([]following, len(invs))
	var beyond []follower
	for i := range invs {
		all[i].rule = invs[i].judge
		if invs[i].beyond == nil {
			continue
		}
		if all[i].beyond = invs[i].beyond(ev, l); all[i].beyond != nil {
			beyond = append(beyond, all[i].beyond)
		}
	}
	bodies, events := ev.Bodies, ev.History
	// A body or an event comes after the last change before it.
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

// ruled judges each step by a rule until the rule is violated. Without a rule it judges nothing.
type ruled struct {
	rule    rule
	finding *Finding // nil is ok
}

func (r *ruled) step(s *step) {
	if r.rule == nil || r.finding != nil && r.finding.Verdict == Violated {
		return
	}
	if f := r.rule(s); f.Verdict == Violated || f.Verdict == Unknown && r.finding == nil {
		kept := f // a copy, so that not every step allocates an f
		r.finding = &kept
	}
}
