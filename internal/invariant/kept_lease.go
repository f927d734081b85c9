package invariant

import (
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// keptLease holds that a lock is held for as long as it promises.
//
// It is violated if a holder learns too early that the lock is lost: before the end of its lease, less 2e and the
// lock's own margin. Then the lease was shorter than requested, or the lock gave it up. The holder of a self-extending
// lock must not lose it while the lock could have extended itself: its requests saw no failure, and the delays of
// requests and node add up to less than a quarter of the lease, less 2e. A failed request does not excuse a lock that
// sends nothing for half a lease afterwards: see stopped.
var keptLease = Invariant{
	Name: "kept-lease",
	Statement: "no holder is told of a loss before its lease ends (less 2e). Heartbeats retry failed " +
		"requests within half a lease; nothing else fails them",
	Check: checkKeptLease,
}

func checkKeptLease(ev Evidence) Finding {
	if ev.Lock == nil {
		return ok()
	}
	for _, lock := range locksOf(ev) {
		if f := checkExtended(ev, lock); f.Verdict != OK {
			return f
		}
		for _, h := range lock.holds {
			if f := checkOutlived(ev, lock, h); f.Verdict != OK {
				return f
			}
			lost := h.ended
			if lost == nil || lost.Kind != mark.EventLockLost {
				continue
			}
			if silent, stopped := h.stopped(ev, lost); stopped {
				return Finding{
					Verdict: Violated,
					Why: fmt.Sprintf("%s was told to have lost lock %s, which extends itself: it had sent no write "+
						"for %v, although nothing held it up", h.actor, lock.key, silent),
					Events: events(h.asked, h.taken, h.lastClaim(lost), lost),
				}
			}
			early := lost.Time.Before(h.sure(ev, lost).Add(-ev.Lock.Margin))
			held := ev.Lock.Heartbeats && h.extends(ev, lost)
			if lost.Hold.Troubled || !early && !held {
				continue
			}
			why := fmt.Sprintf("%s was told to have lost lock %s %s after it had asked for it; its lease is %v",
				h.actor, lock.key, span(h.since(lost).Time, lost.Time), ev.Held)
			if !early {
				why = fmt.Sprintf("%s was told to have lost lock %s, which extends itself, although its requests "+
					"were held up for %v only, and none failed",
					h.actor, lock.key, h.excused(lost))
			}
			return Finding{Verdict: Violated, Why: why, Events: events(h.asked, h.taken, h.since(lost), lost)}
		}
	}
	return ok()
}

// checkExtended finds a lock that should have extended itself but was granted to another node. The holder's delays
// until then are known at its next event.
func checkExtended(ev Evidence, lock *lock) Finding {
	if !ev.Lock.Heartbeats {
		return ok()
	}
	for i, first := range lock.holds {
		for _, second := range lock.holds[i+1:] {
			at := second.taken
			next := slices.IndexFunc(first.told, func(e *history.Event) bool { return e.Seq > at.Seq })
			ended := first.ended != nil && first.ended.Seq < at.Seq
			if ended || !second.after(first) || next < 0 {
				continue
			}
			for _, until := range first.told[next:] {
				if silent, stopped := first.stopped(ev, until); stopped {
					return Finding{
						Verdict: Violated,
						Why: fmt.Sprintf("%s was told that it has lock %s, which extends itself, while %s held it, "+
							"which had sent no write for %v, although nothing held it up",
							second.actor, lock.key, first.actor, silent),
						Events: events(first.asked, first.taken, second.asked, at, first.lastClaim(until), until),
					}
				}
			}
			if until := first.told[next]; !until.Hold.Troubled && first.extends(ev, until) {
				return Finding{
					Verdict: Violated,
					Why: fmt.Sprintf("%s was told that it has lock %s, which extends itself, while %s held it, "+
						"whose requests were held up for %v only, and none failed",
						second.actor, lock.key, first.actor, first.excused(until)),
					Events: events(first.asked, first.taken, second.asked, at, until),
				}
			}
		}
	}
	return ok()
}

// excused is the time, until an event, in which the lock was not to blame.
func (h *hold) excused(until *history.Event) time.Duration {
	return h.taken.Hold.Excused + until.Hold.Excused
}

// extends reports whether a self-extending lock was held up so little, until an event, that it could have extended
// itself.
func (h *hold) extends(ev Evidence, until *history.Event) bool {
	return h.excused(until) < ev.Held/4-2*ev.MaxClockSkew
}

// checkOutlived finds a lock that claims to be held after the end of the lease that its last write began.
func checkOutlived(ev Evidence, lock *lock, h *hold) Finding {
	for _, e := range h.told {
		says := e.Kind == mark.EventLockHeld || e.Kind == mark.EventLockReleasing && h.checking == nil && h.ended == e
		if silent := h.silent(ev, e); says && silent > ev.Held+2*ev.MaxClockSkew {
			return Finding{
				Verdict: Violated,
				Why: fmt.Sprintf("%s still held lock %s, which extends itself and had sent no write for %v: its lease "+
					"is %v", h.actor, lock.key, silent, ev.Held),
				Events: events(h.asked, h.taken, e),
			}
		}
	}
	return ok()
}

// stopped reports whether, and for how long, a self-extending lock had stopped extending by the time of an event: it
// sent no write for more than half a lease and 2e, yet stayed held. A lock that reports its loss after a failed request
// has not stopped.
func (h *hold) stopped(ev Evidence, until *history.Event) (silent time.Duration, stopped bool) {
	silent = h.silent(ev, until)
	goesOn := h.checking == nil
	if c := h.lastClaim(until); c != nil {
		goesOn = c.Time.After(until.Time.Add(-silent))
	}
	return silent, goesOn && silent > ev.Held/2+2*ev.MaxClockSkew
}

// silent is how long before an event the lock last sent a write, without the time for which its node stood still. A
// request that failed counts as a write.
func (h *hold) silent(ev Evidence, until *history.Event) time.Duration {
	silent := until.Hold.Silent
	since, paused := until.Time.Add(-silent), time.Time{}
	for i := range ev.History[:until.Seq-1] {
		switch e := &ev.History[i]; {
		case silent <= 0:
			return 0
		case e.Actor != h.actor:
		case e.Kind == history.Paused:
			paused = e.Time
		case e.Kind == history.Resumed:
			silent -= max(e.Time.Sub(later(paused, since)), 0)
		}
	}
	return silent.Round(time.Millisecond)
}

// lastClaim is the last answer before an event that the lock is still held, or nil.
func (h *hold) lastClaim(before *history.Event) *history.Event {
	for _, c := range slices.Backward(h.claims) {
		if c.answer.Seq < before.Seq {
			return c.answer
		}
	}
	return nil
}
