package invariant

import (
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// The invariants of locks are judged from the requests of a lock's clients and the answers they got (history.Hold),
// whatever rows the lock keeps. The change log is used only for the times of a node's writes.
var ofLocks = ofTold(mutualExclusion, guardedWrites, keptLease, freeLock, lockLiveness)

// OfLocks returns the invariants of locks in the order in which reports name them. They are not among All, because a
// run concerns either pages or locks. Pass them to Judge.
func OfLocks() []Invariant { return slices.Clone(ofLocks) }

// guardedWrites holds that writes to the guarded resource take effect in the order of the lock's holders.
//
// A write that is still under way when the lease ends may take effect at any time. A lock can prevent that only if it
// gives out fencing tokens and the resource checks them: then a late write is refused. So a write out of order is a
// violation only if it took effect before the end of the lease less 2e, or if its writer had a token. Tokens must grow:
// it is also a violation if a write is refused within that time because an earlier holder had a greater token.
var guardedWrites = Invariant{
	Name: "guarded-write",
	Statement: "no earlier holder's write takes effect after a later holder's. Without fencing tokens, this " +
		"holds only while the writer's lease runs (less 2e)",
	Check: checkGuardedWrites,
}

func checkGuardedWrites(ev Evidence) Finding {
	for _, lock := range locksOf(ev) {
		if f := checkWrites(ev, lock).or(checkTokens(lock)); f.Verdict != OK {
			return f
		}
	}
	return ok()
}

func checkWrites(ev Evidence, lock *lock) Finding {
	for i, late := range lock.writes {
		first := lock.byID[late.Hold.ID]
		for _, before := range lock.writes[:i] {
			second := lock.byID[before.Hold.ID]
			if !second.after(first) {
				continue
			}
			if late.Hold.Fenced || late.Time.Before(first.sure(ev, late)) {
				return Finding{
					Verdict: Violated,
					Why: fmt.Sprintf("a write of %s, which took lock %s at first, took effect after one of %s, "+
						"which took it later",
						first.actor, lock.key, second.actor),
					Events: events(first.taken, second.asked, second.taken, before, late),
				}
			}
		}
	}
	for _, refused := range lock.refused {
		if h := lock.byID[refused.Hold.ID]; refused.Time.Before(h.sure(ev, refused)) {
			return Finding{
				Verdict: Violated,
				Why: fmt.Sprintf("a write of %s, which could still rely on lock %s, was refused for its fencing "+
					"token %d: an earlier holder had a greater one",
					h.actor, lock.key, refused.Hold.Token),
				Events: events(h.asked, h.taken, refused),
			}
		}
	}
	return ok()
}

func checkTokens(lock *lock) Finding {
	for i, first := range lock.holds {
		for _, second := range lock.holds[i+1:] {
			if first.taken.Hold.Fenced && second.taken.Hold.Fenced && second.after(first) &&
				second.taken.Hold.Token <= first.taken.Hold.Token {
				return Finding{
					Verdict: Violated,
					Why: fmt.Sprintf("%s got the fencing token %d of lock %s, and %s, which asked for it after "+
						"that, got %d: tokens must grow",
						first.actor, first.taken.Hold.Token, lock.key, second.actor,
						second.taken.Hold.Token),
					Events: events(first.taken, second.asked, second.taken),
				}
			}
		}
	}
	return ok()
}

// after reports whether h was granted after first. If the requests overlapped, nobody knows which came first.
func (h *hold) after(first *hold) bool { return h.asked.Seq > first.taken.Seq }

// lockLiveness holds that every lock can be taken again once faults have stopped and its holders are done or dead. It
// is judged from the event history.Settled on, which marks that moment.
var lockLiveness = Invariant{
	Name:      "lock-liveness",
	Statement: "once faults stop, every lock can be taken within the scenario's time",
	Check:     checkLockLiveness,
}

func checkLockLiveness(ev Evidence) Finding {
	at := slices.IndexFunc(ev.History, func(e history.Event) bool { return e.Kind == history.Settled })
	if at < 0 {
		return ok()
	}
	settled := &ev.History[at]
	asked := false
	for _, lock := range locksOf(ev) {
		last := (*hold)(nil)
		for _, a := range lock.all {
			if a.asked.Seq > settled.Seq {
				last = a
			}
		}
		if last == nil {
			continue
		}
		asked = true
		if last.taken != nil && !last.taken.Time.After(settled.Time.Add(ev.Settle)) {
			continue
		}
		f := Finding{
			Verdict: Violated,
			Why: fmt.Sprintf("%v after faults had stopped, lock %s had not been taken, and nobody held it; at most "+
				"%v is allowed",
				last.end().Time.Sub(settled.Time), lock.key, ev.Settle),
		}
		f.Events = events(settled, last.asked, last.end())
		return f.answered()
	}
	if !asked {
		return unknown("no lock was asked for after faults had stopped (event %d)", settled.Seq)
	}
	return ok()
}

// lock is the part of a history that concerns one lock.
type lock struct {
	key    string
	all    []*hold // requests, in the order in which they were made
	holds  []*hold // the granted requests, in the order of the answers
	byID   map[string]*hold
	writes []*history.Event // writes that the guarded resource accepted

	refused []*history.Event // writes that it refused
}

// answered is a holder's question whether it still holds a lock, or its request for an extension, with the answer yes.
type answered struct{ asked, answer *history.Event }

// hold is a request for a lock and its fate.
type hold struct {
	actor     string
	asked     *history.Event
	answer    *history.Event // LockTaken, LockRefused, or nil
	taken     *history.Event // nil if it was not granted
	extending *history.Event
	extended  []answered // the extensions that were granted
	claims    []answered // the extensions, and the other requests answered "still held"
	checking  *history.Event
	ended     *history.Event // the event after which the holder no longer relies on the lock: released, lost or crashed
	releasing *history.Event
	// closed is the event after which it can no longer hold up others: refused, or the release has returned.
	closed    *history.Event
	troubled  bool
	late      bool // see heldUp
	last      *history.Event
	told      []*history.Event // all its events
	lastWrite time.Time        // in the change log
}

// since is the request with which the lease began: of those granted before an event, the last one for the lock or for
// an extension.
func (h *hold) since(before *history.Event) *history.Event {
	if asked := h.extension(before).asked; asked != nil {
		return asked
	}
	return h.asked
}

// extension is the last extension requested before an event, if it was granted.
func (h *hold) extension(before *history.Event) answered {
	for _, c := range slices.Backward(h.extended) {
		if c.asked.Seq < before.Seq {
			return c
		}
	}
	return answered{}
}

// sure is the time until which a holder may rely on its lock without asking again, given the extensions before an
// event.
func (h *hold) sure(ev Evidence, before *history.Event) time.Time {
	return sureFrom(ev, h.since(before))
}

// sureFrom is the time until which a holder may rely on a lease that began with a request. Rows may hold whole
// milliseconds.
func sureFrom(ev Evidence, asked *history.Event) time.Time {
	return asked.Time.Add(promise.Sure(ev.Held, ev.MaxClockSkew, promise.LeaseRounding))
}

// heldUp reports whether the answer to a request came after the end of its lease, less the margin, although the lock
// itself did not wait too long.
func (h *hold) heldUp(ev Evidence, margin, wait time.Duration) bool {
	if h.answer == nil || h.answer.Time.Before(sureFrom(ev, h.asked).Add(-margin)) {
		return false
	}
	return h.answer.Time.Sub(h.asked.Time)-h.answer.Hold.Excused <= wait
}

// surely reports whether a holder may rely on its lock at an event without asking again.
func (h *hold) surely(ev Evidence, at *history.Event) bool { return at.Time.Before(h.sure(ev, at)) }

// claimed is the last request after the given event that was answered "still held", or nil. Without clock skew, such an
// answer does not count if it was requested within the lease that held at the event: rows may hold whole milliseconds,
// so a row may end a fraction earlier. If the lock extends itself, the time of the last extension is unknown: then an
// answer requested within a millisecond of when the other holder took the lock does not count either.
func (h *hold) claimed(ev Evidence, after *history.Event, other *hold) *history.Event {
	terms := ev.Lock
	for _, c := range slices.Backward(h.claims) {
		if terms != nil && terms.Heartbeats && c.asked.Time.Before(other.taken.Time.Add(promise.LeaseRounding)) {
			continue
		}
		if c.asked.Seq > after.Seq && (ev.MaxClockSkew > 0 || c.answer.Kind == mark.EventLockExtended ||
			!c.asked.Time.Before(h.since(after).Time.Add(ev.Held))) {
			return c.asked
		}
	}
	return nil
}

// end is the last event of a request.
func (h *hold) end() *history.Event {
	if h.answer != nil {
		return h.answer
	}
	return h.last
}

// gone reports whether a request is over, and cannot have left anything behind.
func (h *hold) gone(ev Evidence) bool {
	failed := h.closed != nil && h.closed.Kind == mark.EventLockReleased && h.closed.Note != ""
	return h.closed != nil && !h.troubled && (!failed || h.ownFault(ev))
}

// ownFault reports whether a failed release is the lock's own fault: its holder could still rely on the lock, no
// request failed, and no request held the release up.
func (h *hold) ownFault(ev Evidence) bool {
	r := h.releasing
	if r == nil || h.ended != r || r.Hold.Excused != h.closed.Hold.Excused {
		return false
	}
	return h.surely(ev, r) || ev.Lock.Heartbeats && h.extends(ev, r)
}

// until is the time until which a request can be in the way of others.
func (h *hold) until(ev Evidence, takeover time.Duration) time.Time {
	behind := ev.Behind
	if h.gone(ev) {
		return h.closed.Time.Add(behind)
	}
	if h.answer == nil && h.ended == nil {
		return endOfTime // it goes on
	}
	return h.lastSign().Add(ev.Held + takeover + 4*ev.MaxClockSkew + 2*time.Second + behind)
}

// lastSign is the time of a request's last event or of its node's last write for it, whichever is later.
func (h *hold) lastSign() time.Time { return later(h.last.Time, h.lastWrite) }

// locksOf reads the history, once for all checks of one Judge.
func locksOf(ev Evidence) []*lock {
	if ev.shared == nil {
		ev.shared = &shared{}
	}
	if ev.shared.locks == nil {
		ev.shared.locks = readLocks(ev)
	}
	return ev.shared.locks
}

func readLocks(ev Evidence) []*lock {
	var all []*lock
	open := map[string]*hold{} // by node
	for i := range ev.History {
		e := &ev.History[i]
		if e.Hold == nil {
			if h := open[e.Actor]; h != nil && e.Kind == history.Crashed {
				h.last = e
				if h.ended == nil {
					h.ended = e
				}
			}
			continue
		}
		at := slices.IndexFunc(all, func(l *lock) bool { return l.key == e.Key })
		if at < 0 {
			at = len(all)
			all = append(all, &lock{key: e.Key, byID: map[string]*hold{}})
		}
		l := all[at]
		h := l.byID[e.Hold.ID]
		if h == nil {
			if e.Kind != mark.EventLockAsked {
				continue
			}
			h = &hold{actor: e.Actor, asked: e}
			l.all = append(l.all, h)
			l.byID[e.Hold.ID] = h
			open[e.Actor] = h
		}
		l.take(h, e)
	}
	for _, l := range all {
		for _, h := range l.all {
			h.writes(ev.Changes)
		}
	}
	return all
}

func (l *lock) take(h *hold, e *history.Event) {
	h.last, h.told = e, append(h.told, e)
	h.troubled = h.troubled || e.Hold.Troubled
	end := func() {
		if h.ended == nil {
			h.ended = e
		}
	}
	switch e.Kind {
	case mark.EventLockTaken:
		h.answer, h.taken = e, e
		l.holds = append(l.holds, h)
	case mark.EventLockRefused:
		h.answer, h.closed = e, e
	case mark.EventLockChecking:
		h.checking = e
	case mark.EventLockHeld:
		h.claims = append(h.claims, answered{h.checking, e})
	case mark.EventLockExtending:
		h.extending = e
	case mark.EventLockExtended:
		h.extended = append(h.extended, answered{h.extending, e})
		h.claims = append(h.claims, answered{h.extending, e})
	case mark.EventLockLost:
		end()
	case mark.EventLockReleasing:
		h.releasing = e
		end()
	case mark.EventLockReleased:
		h.closed = e
	case mark.EventGuardedWrite:
		l.writes = append(l.writes, e)
	case mark.EventGuardedRefused:
		l.refused = append(l.refused, e)
	default:
	}
}

// writes finds the last write that the node of the hold may have made for it.
func (h *hold) writes(changes []ddbfake.Change) {
	for i := range changes {
		if c := &changes[i]; c.Actor == h.actor && c.Cause == ddbfake.CauseClient && !c.Sent.Before(h.asked.Time) {
			h.lastWrite = c.Time
		}
	}
}

// events returns the places of the given events in the history, each once and in order. It leaves out nil.
func events(all ...*history.Event) []int {
	var seqs []int
	for _, e := range all {
		if e != nil {
			seqs = append(seqs, e.Seq)
		}
	}
	slices.Sort(seqs)
	return slices.Compact(seqs)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
