package invariant

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// freeLock holds that a free lock is granted at once.
//
// Another node, or an earlier request of the same node, may hold the lock from its request on. If its requests saw no
// failure, it may hold the lock until it is refused or its release has returned. A failed release is not such a failure
// if only a condition of the lock's own failed while its holder could still rely on the lock: see ownFault. Otherwise
// (a crash, a lost answer, any other failed release) it may hold the lock for a lease plus LockTerms.Takeover, counted
// from its last write or its last event, whichever is later, plus 4e and two seconds, because rows may hold whole
// seconds. Eventually consistent reads may show the lock as held for longer, by their lag.
//
// A lock whose LockTerms.Takeover is longer than a lease compares no clocks: each node watches the lock for a while
// before it takes it over, and may begin late. For such a lock, Takeover also counts from the node's own first look.
//
// A lock may also refuse if the new lease has ended, except for its margin, by the time of the answer: see heldUp.
var freeLock = Invariant{
	Name: "free-lock",
	Statement: "a node that asks for a free lock gets it, within the lock's terms, unless its own requests failed " +
		"or were held up",
	Check: checkFreeLock,
}

func checkFreeLock(ev Evidence) Finding {
	if ev.Lock == nil {
		return ok()
	}
	for _, lock := range locksOf(ev) {
		for _, h := range lock.all {
			h.late = h.heldUp(ev, ev.Lock.Margin, ev.Lock.Wait)
		}
		asked := free{
			all: lock.all, wait: ev.Lock.Wait, takeover: ev.Lock.Takeover,
			refused: mark.EventLockRefused, watches: ev.Lock.Takeover > ev.Held,
			refusal: func(h *hold) string {
				return fmt.Sprintf("%s was refused lock %s, which nobody else could hold", h.actor, lock.key)
			},
			delay: func(h *hold, waited time.Duration) string {
				return fmt.Sprintf("%s waited %v for lock %s while nobody else could hold it; its terms allow %v",
					h.actor, waited, lock.key, ev.Lock.Wait)
			},
		}
		if f := asked.check(ev); f.Verdict != OK {
			return f
		}
	}
	return ok()
}

// free judges requests at times when no other request can be in their way.
type free struct {
	all            []*hold
	wait, takeover time.Duration
	watches        bool // takeover also counts from a node's first look: see freeLock
	refused        history.Kind
	// refusal and delay word the finding about a refused request and about a delayed one.
	refusal func(*hold) string
	delay   func(*hold, time.Duration) string
}

func (r free) check(ev Evidence) Finding {
	for i, a := range r.all {
		if a.answer == nil || a.answer.Hold.Troubled || a.late {
			continue
		}
		free, inTheWay := a.asked.Time, (*hold)(nil)
		clear := true // nobody could hold it at any time during the call
		for j, other := range r.all {
			if j == i || other.asked.Seq > a.answer.Seq {
				continue
			}
			if other.gone(ev) && other.closed.Seq < a.asked.Seq && ev.Behind == 0 {
				continue
			}
			until := other.until(ev, r.takeover)
			if r.watches && !other.gone(ev) {
				until = later(until, until.Add(r.firstLook(a, other).Sub(other.lastSign())-ev.Held))
			}
			if !until.Before(a.asked.Time) {
				clear = false
			}
			if until.After(free) {
				free, inTheWay = until, other
			}
		}
		if a.answer.Kind == r.refused && clear {
			return Finding{Verdict: Violated, Why: r.refusal(a), Events: events(a.asked, a.answer)}.answered()
		}
		if waited := a.answer.Time.Sub(free) - a.answer.Hold.Excused; waited > r.wait {
			all := []*history.Event{a.asked, a.answer}
			if inTheWay != nil {
				all = append(all, inTheWay.asked, inTheWay.closed)
			}
			return Finding{Verdict: Violated, Why: r.delay(a, waited), Events: events(all...)}.answered()
		}
	}
	return ok()
}

// firstLook is when the node of request a first saw the lock as the request other had left it.
func (r free) firstLook(a, other *hold) time.Time {
	for _, own := range r.all {
		if own.actor == a.actor && own != a && own != other && own.answer != nil &&
			!own.answer.Hold.Troubled && !own.asked.Time.Before(other.lastSign()) {
			return own.answer.Time
		}
	}
	return a.asked.Time
}
