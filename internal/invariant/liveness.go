package invariant

import (
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// liveness holds that pages become fresh again once nothing is in the way. No lock stays held after its node has died,
// no mark of a failed regeneration keeps a page from being made, and a page that is made gets into the cache, so that
// the next request is served from there. It is judged from the moment at which faults have stopped and all other nodes
// are done: the event history.Settled, if the history has it.
var liveness = Invariant{
	Name:      "liveness",
	Statement: "once faults stop, every page that is asked for is in the cache and fresh within the scenario's time",
	Check:     checkLiveness,
	// after the last step of a schedule, liveness depends on the rows alone
	Memory: rememberNothing,
}

func checkLiveness(ev Evidence) Finding {
	at := slices.IndexFunc(ev.History, func(e history.Event) bool { return e.Kind == history.Settled })
	if at < 0 {
		return ok()
	}
	settled := ev.History[at]
	type page struct{ tenant, key string }
	var pages []page // the pages that were asked for since then, in order
	last := map[page]history.Event{}
	well := map[page]bool{} // served fresh, and from the cache
	made := map[page]bool{} // made since it was asked for
	for _, e := range ev.History[at+1:] {
		it := page{e.Tenant, e.Key}
		switch {
		case well[it]:
		case e.Kind == history.Asked:
			if !slices.Contains(pages, it) {
				pages = append(pages, it)
			}
			last[it], made[it] = e, false
		case e.Kind == history.Rendered:
			made[it] = true
		case e.Kind == history.Failed, e.Kind == history.Served:
			last[it] = e
			well[it] = e.As == history.Fresh && !made[it]
		}
	}
	if len(pages) == 0 {
		return unknown("no page was asked for after faults had stopped (event %d)", settled.Seq)
	}
	for _, it := range pages {
		e := last[it]
		if well[it] && !e.Time.After(settled.Time.Add(ev.Settle)) {
			continue
		}
		locked := lockedBy(ev, &e)
		return Finding{
			Verdict: Violated,
			Changes: locked,
			Why: fmt.Sprintf("%v after faults had stopped, no request had found a fresh page of %s in the cache; at "+
				"most %v is allowed%s",
				e.Time.Sub(settled.Time), it.key, ev.Settle, tooLong(ev, locked)),
			Events: []int{settled.Seq, e.Seq},
		}
	}
	return ok()
}

// tooLong reports a lease longer than configured, beyond clock skew and rounding to whole seconds. It looks at the last
// of the changes that show who holds the lock.
func tooLong(ev Evidence, changes []int) string {
	world := ev.Held
	if len(changes) == 0 || world == 0 {
		return ""
	}
	at := slices.IndexFunc(ev.Changes, func(c ddbfake.Change) bool { return c.Seq == changes[len(changes)-1] })
	c := &ev.Changes[at]
	held, is := readLease(c.After)
	if !is || !held.expires.After(c.Time.Add(world+ev.MaxClockSkew+2*time.Second)) {
		return ""
	}
	return fmt.Sprintf(" (%s took the lock for %s, and a lease of this world lasts %v)", c.Actor,
		span(c.Time, held.expires), world)
}

// lockedBy returns the changes that show who holds the lock of an event's page at the time of the event: the change
// that put the token into the row, and the last change of the row, if that is another one. It returns none if the lock
// is free.
func lockedBy(ev Evidence, e *history.Event) (changes []int) {
	past := newLedger(Promise{})
	for i := range ev.Changes {
		past.take(ev.Changes[i:i+1], func(*step) {})
	}
	pk := (&places{ev: ev}).of(past, e)
	holds := ""
	for i := range ev.Changes {
		c := &ev.Changes[i]
		if id, sk := role(*c); id.pk != pk || sk != sortLock || c.Time.After(e.Time) {
			continue
		}
		if c.After == nil {
			changes, holds = nil, ""
			continue
		}
		if token, _ := c.After.Str("lease_token"); token != holds {
			changes, holds = nil, token
		}
		changes = append(changes[:min(len(changes), 1)], c.Seq)
	}
	return changes
}
