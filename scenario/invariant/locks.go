package invariant

import (
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// The invariants of locks are judged from the requests of a lock's clients and the answers they got (history.Hold),
// whatever rows the lock keeps. From the change log the invariants take only the times of a node's writes.
var ofLocks = ofTold(mutualExclusion, guardedWrites, keptLease, freeLock, lockLiveness)

// OfLocks returns the invariants of locks in the order in which reports name them. They are not among All, because a
// run is about pages or about locks. Pass them to Judge.
func OfLocks() []Invariant { return slices.Clone(ofLocks) }

// guardedWrites holds that writes to the guarded resource take effect in the order of the lock's holders.
//
// A write that is still under way when the lease ends may take effect at any time. A lock can prevent that only if it
// gives out fencing tokens and the resource checks them: then a late write is refused. So a write out of order is a
// violation only if it took effect before the end of the lease less 2e, or if its writer had a token. For that, tokens
// must grow: it is a violation, too, if a write is refused within that time, since an earlier holder had a greater
// token.
var guardedWrites = Invariant{
	Name: "guarded-write",
	Statement: "the guarded resource takes no write of an earlier holder after a later one's: during the earlier " +
		"lease less 2e, or ever with fencing tokens",
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

// after says whether a lock was granted after another. If the requests overlapped, nobody knows which came first.
func (h *hold) after(first *hold) bool { return h.asked.Seq > first.taken.Seq }

// keptLease holds that a lock is held for as long as it says.
//
// It is violated if a holder learns too early that the lock is lost: before the end of its lease, less 2e and the
// lock's own margin. Then the lease was shorter than requested, or the lock gave it up. The holder of a self-extending
// lock must not lose it while the lock could have extended itself: its requests saw no failure, and the delays of
// requests and node add up to less than a quarter of (lease - 2e). A failed request does not excuse a lock that then
// sends nothing for half a lease: see stopped.
var keptLease = Invariant{
	Name: "kept-lease",
	Statement: "no holder is told of a loss before its lease ends, less 2e. Heartbeats retry within half a lease, " +
		"and fail only with their requests",
	Check: checkKeptLease,
}

func checkKeptLease(ev Evidence) Finding {
	if inside.In(&ev).Lock == nil {
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
			early := lost.Time.Before(h.sure(ev, lost).Add(-inside.In(&ev).Lock.Margin))
			held := inside.In(&ev).Lock.Heartbeats && h.extends(ev, lost)
			if lost.Hold.Troubled || !early && !held {
				continue
			}
			why := fmt.Sprintf("%s was told to have lost lock %s %s after it had asked for it; its lease is %v",
				h.actor, lock.key, span(h.since(lost).Time, lost.Time), inside.In(&ev).Held)
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
	if !inside.In(&ev).Lock.Heartbeats {
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

// excused is the time in which the lock was not to blame, until an event.
func (h *hold) excused(until *history.Event) time.Duration {
	return h.taken.Hold.Excused + until.Hold.Excused
}

// extends says whether a lock that extends itself was held up for so short a time that it could do so until an event.
func (h *hold) extends(ev Evidence, until *history.Event) bool {
	return h.excused(until) < inside.In(&ev).Held/4-2*ev.MaxClockSkew
}

// checkOutlived finds a lock that claims to be held after the end of the lease that its last write began.
func checkOutlived(ev Evidence, lock *lock, h *hold) Finding {
	for _, e := range h.told {
		says := e.Kind == mark.EventLockHeld || e.Kind == mark.EventLockReleasing && h.checking == nil && h.ended == e
		if silent := h.silent(ev, e); says && silent > inside.In(&ev).Held+2*ev.MaxClockSkew {
			return Finding{
				Verdict: Violated,
				Why: fmt.Sprintf("%s still held lock %s, which extends itself and had sent no write for %v: its lease "+
					"is %v", h.actor, lock.key, silent, inside.In(&ev).Held),
				Events: events(h.asked, h.taken, e),
			}
		}
	}
	return ok()
}

// stopped reports, and for how long, that a self-extending lock had stopped extending by the time of an event: it sent
// no write for more than half a lease and 2e, yet stayed held. A lock that reports its loss after a failed request has
// not stopped.
func (h *hold) stopped(ev Evidence, until *history.Event) (silent time.Duration, stopped bool) {
	silent = h.silent(ev, until)
	goesOn := h.checking == nil
	if c := h.lastClaim(until); c != nil {
		goesOn = c.Time.After(until.Time.Add(-silent))
	}
	return silent, goesOn && silent > inside.In(&ev).Held/2+2*ev.MaxClockSkew
}

// silent is for how long a lock had sent no write when an event came, without the time for which its node stood still.
// A request that failed counts as a write.
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

// freeLock holds that a free lock is granted at once.
//
// Another node, or an earlier request of the same node, may hold the lock from its request on. If its requests saw no
// failure, it may hold the lock until it is refused or its release has returned. A failed release does not count as a
// failure if only a condition of the lock's own failed while its holder could still rely on the lock: see ownFault.
// Otherwise (a crash, a lost answer, any other failed release) it may hold the lock for a lease plus
// LockTerms.Takeover, counted from its last write or its last event, whichever is later, plus 4e and two seconds,
// because rows may hold whole seconds. Eventually consistent reads may show the lock as held for longer, by their lag.
//
// A lock whose LockTerms.Takeover is longer than a lease compares no clocks: each node watches the lock for a while
// before it takes it over, and may begin late. For it Takeover also counts from the node's own first look.
//
// A lock may also refuse if the new lease has ended, except for its margin, by the time of the answer: see heldUp.
var freeLock = Invariant{
	Name: "free-lock",
	Statement: "a node that asks for a free lock gets it, within the lock's terms, unless its own requests failed " +
		"or were held up",
	Check: checkFreeLock,
}

func checkFreeLock(ev Evidence) Finding {
	if inside.In(&ev).Lock == nil {
		return ok()
	}
	for _, lock := range locksOf(ev) {
		for _, h := range lock.all {
			h.late = h.heldUp(ev, inside.In(&ev).Lock.Margin, inside.In(&ev).Lock.Wait)
		}
		asked := free{
			all: lock.all, wait: inside.In(&ev).Lock.Wait, takeover: inside.In(&ev).Lock.Takeover,
			refused: mark.EventLockRefused, watches: inside.In(&ev).Lock.Takeover > inside.In(&ev).Held,
			refusal: func(h *hold) string {
				return fmt.Sprintf("%s was refused lock %s, which nobody else could hold", h.actor, lock.key)
			},
			delay: func(h *hold, waited time.Duration) string {
				return fmt.Sprintf("%s waited %v for lock %s while nobody else could hold it; its terms allow %v",
					h.actor, waited, lock.key, inside.In(&ev).Lock.Wait)
			},
		}
		if f := asked.check(ev); f.Verdict != OK {
			return f
		}
	}
	return ok()
}

// free judges the requests for which nobody else can be in the way.
type free struct {
	all            []*hold
	wait, takeover time.Duration
	watches        bool // takeover also counts from a node's first look: see freeLock
	refused        history.Kind
	// refusal and delay are the words about a request that was refused, and about one that was delayed.
	refusal func(*hold) string
	delay   func(*hold, time.Duration) string
}

func (r free) check(ev Evidence) Finding {
	for i, a := range r.all {
		if a.answer == nil || a.answer.Hold.Troubled || a.late {
			continue
		}
		free, inTheWay := a.asked.Time, (*hold)(nil)
		clear := true // nobody could hold it at any time of the call
		for j, other := range r.all {
			if j == i || other.asked.Seq > a.answer.Seq {
				continue
			}
			if other.gone(ev) && other.closed.Seq < a.asked.Seq && inside.In(&ev).Behind == 0 {
				continue
			}
			until := other.until(ev, r.takeover)
			if r.watches && !other.gone(ev) {
				until = later(until, until.Add(r.firstLook(a, other).Sub(other.lastSign())-inside.In(&ev).Held))
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

// firstLook is when the node of a request first saw a lock as another request had left it.
func (r free) firstLook(a, other *hold) time.Time {
	for _, own := range r.all {
		if own.actor == a.actor && own != a && own != other && own.answer != nil &&
			!own.answer.Hold.Troubled && !own.asked.Time.Before(other.lastSign()) {
			return own.answer.Time
		}
	}
	return a.asked.Time
}

// lockLiveness holds that every lock can be taken again once faults have stopped and its holders are done or dead. It
// is judged from the event history.Settled on, which says that this is so.
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

// lock is the part of a history about one lock.
type lock struct {
	key    string
	all    []*hold // requests, in the order in which they were made
	holds  []*hold // the granted requests, in the order of the answers
	byID   map[string]*hold
	writes []*history.Event // writes that the guarded resource accepted

	refused []*history.Event // writes that it refused
}

// answered is a holder's question whether it still holds a lock, or for an extension, and the answer that it does.
type answered struct{ asked, answer *history.Event }

// hold is a request for a lock and its fate.
type hold struct {
	actor     string
	asked     *history.Event
	answer    *history.Event // LockTaken, LockRefused, or nil
	taken     *history.Event // nil if it was not granted
	extending *history.Event
	extended  []answered // the extensions that were granted
	claims    []answered // the extensions, and the answers that it still holds the lock
	checking  *history.Event
	ended     *history.Event // the event after which the holder no longer relies on the lock: released, lost or crashed
	releasing *history.Event
	// the event after which it can no longer be in the way: refused, or the release has returned
	closed    *history.Event
	troubled  bool
	late      bool // see heldUp
	last      *history.Event
	told      []*history.Event // all its events
	lastWrite time.Time        // in the change log
}

// since is the request with which the lease began: the last one for the lock or an extension that was granted before an
// event.
func (h *hold) since(before *history.Event) *history.Event {
	if asked := h.extension(before).asked; asked != nil {
		return asked
	}
	return h.asked
}

// extension is the last extension that was asked for before an event, if it was granted.
func (h *hold) extension(before *history.Event) answered {
	for _, c := range slices.Backward(h.extended) {
		if c.asked.Seq < before.Seq {
			return c
		}
	}
	return answered{}
}

// sure is the time until which a holder may rely on its lock without asking again. It considers the extensions before
// an event.
func (h *hold) sure(ev Evidence, before *history.Event) time.Time {
	return sureFrom(ev, h.since(before))
}

// sureFrom is the time until which a holder may rely on a lease that began with a request. Rows may hold whole
// milliseconds.
func sureFrom(ev Evidence, asked *history.Event) time.Time {
	return asked.Time.Add(promise.Sure(inside.In(&ev).Held, ev.MaxClockSkew, promise.LeaseRounding))
}

// heldUp says whether the answer to a request came when its lease was over, except for the margin, although the lock
// itself did not wait too long.
func (h *hold) heldUp(ev Evidence, margin, wait time.Duration) bool {
	if h.answer == nil || h.answer.Time.Before(sureFrom(ev, h.asked).Add(-margin)) {
		return false
	}
	return h.answer.Time.Sub(h.asked.Time)-h.answer.Hold.Excused <= wait
}

// surely says whether a holder may rely on its lock at an event without asking again.
func (h *hold) surely(ev Evidence, at *history.Event) bool { return at.Time.Before(h.sure(ev, at)) }

// claimed is the last question after the given event that was answered "still held", or nil. An answer within the lease
// requested by then does not count: rows may hold whole milliseconds, so that the row ends a fraction earlier. Nor does
// one within a millisecond of the event, if the time of the last extension is unknown. Clock skew excuses more.
func (h *hold) claimed(ev Evidence, after *history.Event) *history.Event {
	terms := inside.In(&ev).Lock
	for _, c := range slices.Backward(h.claims) {
		if terms != nil && terms.Heartbeats && c.asked.Time.Before(after.Time.Add(promise.LeaseRounding)) {
			continue
		}
		if c.asked.Seq > after.Seq && (ev.MaxClockSkew > 0 || c.answer.Kind == mark.EventLockExtended ||
			!c.asked.Time.Before(h.since(after).Time.Add(inside.In(&ev).Held))) {
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

// gone says whether a request is over, and nothing has happened to it that could have left something behind.
func (h *hold) gone(ev Evidence) bool {
	failed := h.closed != nil && h.closed.Kind == mark.EventLockReleased && h.closed.Note != ""
	return h.closed != nil && !h.troubled && (!failed || h.ownFault(ev))
}

// ownFault says whether a release that failed did so by the lock's own doing: its holder could still rely on the lock,
// no request failed, and none of them held the release up.
func (h *hold) ownFault(ev Evidence) bool {
	r := h.releasing
	if r == nil || h.ended != r || r.Hold.Excused != h.closed.Hold.Excused {
		return false
	}
	return h.surely(ev, r) || inside.In(&ev).Lock.Heartbeats && h.extends(ev, r)
}

// until is the time until which a request can be in the way of others.
func (h *hold) until(ev Evidence, takeover time.Duration) time.Time {
	behind := inside.In(&ev).Behind
	if h.gone(ev) {
		return h.closed.Time.Add(behind)
	}
	if h.answer == nil && h.ended == nil {
		return endOfTime // it goes on
	}
	return h.lastSign().Add(inside.In(&ev).Held + takeover + 4*ev.MaxClockSkew + 2*time.Second + behind)
}

// lastSign is the time of a request's last event, or of its node's last write for it.
func (h *hold) lastSign() time.Time { return later(h.last.Time, h.lastWrite) }

// locksOf reads the history.
func locksOf(ev Evidence) []*lock {
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

// take takes in an event of a hold.
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
