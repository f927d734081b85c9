package invariant

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// mutualExclusion holds that no two nodes hold a lock at the same time, as far as a lock can promise that.
//
// A holder may rely on its lock from the answer that grants it until it releases the lock, learns of its loss, or
// crashes, but without a confirmation only until the end of the lease less 2e. The lease counts from before the
// request. The 2e cover two readings of clocks, by the holder or by another node. A confirmation ("still held") means
// that the lock has been held since it was taken. It may be late by 4e, because two nodes read their clocks twice.
var mutualExclusion = Invariant{
	Name: "mutual-exclusion",
	Statement: "no two nodes hold a lock at once. A grant counts until its lease ends (less 2e), or until a " +
		"later confirmation (less 4e)",
	Check: checkMutualExclusion,
}

func checkMutualExclusion(ev Evidence) Finding {
	for _, lock := range locksOf(ev) {
		for i, first := range lock.holds {
			for _, second := range lock.holds[i+1:] {
				if both(ev, first, second) {
					return overlap(ev, lock.key, first, second)
				}
			}
		}
	}
	return ok()
}

// both reports whether two holders could rely on one lock at the same time. The parameter second is the holder with the
// later grant.
func both(ev Evidence, first, second *hold) bool {
	at := second.taken
	if first.ended != nil && first.ended.Seq < at.Seq {
		return false
	}
	if first.surely(ev, at) && second.surely(ev, at) {
		return true
	}
	// From here on, a later answer to a holder counts only if it is later by more than clocks can be wrong.
	end := at.Time.Add(math.MaxInt64)
	for _, pair := range [][2]*hold{{first, second}, {second, first}} {
		h := pair[0]
		until, claimed := h.sure(ev, h.last), h.claimed(ev, at, pair[1])
		if claimed == nil && !h.surely(ev, at) {
			return false
		}
		if claimed != nil {
			until = later(until, claimed.Time)
		}
		if h.ended != nil && h.ended.Time.Before(until) {
			until = h.ended.Time
		}
		if until.Before(end) {
			end = until
		}
	}
	return ev.MaxClockSkew == 0 || end.Sub(at.Time) > 4*ev.MaxClockSkew
}

// overlap is the finding for two holders for whom both returned true. It shows how each took and last extended the
// lock, and a later confirmation or extension of an expired lease. The reason names the holder with the last answer.
func overlap(ev Evidence, key string, first, second *hold) Finding {
	at := second.taken
	f := Finding{Verdict: Violated,
		Why: fmt.Sprintf("%s was told that it has lock %s, which %s had taken %s before and could still rely on",
			second.actor, key, first.actor, span(first.taken.Time, at.Time))}
	limit := at.Time
	if !first.surely(ev, at) || !second.surely(ev, at) {
		limit = limit.Add(4 * ev.MaxClockSkew)
	}
	shown, last := []*history.Event{first.asked, first.taken, second.asked, at}, at
	for _, h := range []*hold{first, second} {
		told := h.claimOver(ev, at, limit)
		before := at
		if told.answer != nil {
			before = told.asked
		}
		extended := h.extension(before)
		shown = append(shown, extended.asked, extended.answer, told.asked, told.answer)
		if told.answer == nil || told.answer.Seq < last.Seq {
			continue
		}
		last = told.answer
		other, what := first, "it still has"
		if h == first {
			other = second
		}
		if last.Kind == mark.EventLockExtended {
			what = "it has extended"
		}
		f.Why = fmt.Sprintf("%s was told that %s lock %s, although %s had taken it %s before", h.actor, what, key,
			other.actor, span(other.taken.Time, last.Time))
	}
	f.Events = events(shown...)
	f.Changes = rowsBetween(ev, f.Events, first.actor, second.actor)
	return f.done(true)
}

// claimOver is the first claim, answered after at, that let a holder rely on its lock beyond limit. It is zero if no
// claim was needed, or none sufficed.
func (h *hold) claimOver(ev Evidence, at *history.Event, limit time.Time) answered {
	began := h.asked
	for _, x := range h.extended {
		if x.answer.Seq < at.Seq {
			began = x.asked
		}
	}
	if sureFrom(ev, began).After(limit) {
		return answered{}
	}
	for _, c := range h.claims {
		switch {
		case c.answer.Seq < at.Seq:
		case c.answer.Kind == mark.EventLockExtended && sureFrom(ev, c.asked).After(limit),
			c.asked.Seq > at.Seq && (ev.MaxClockSkew == 0 || c.asked.Time.After(limit)):
			return c
		}
	}
	return answered{}
}

// rowsBetween returns the changes, from the first to the last of some events, of every row that either holder wrote in
// that time. It is not known which rows belong to the lock, but they are among these. If there are many changes, it
// returns the first and the last ones.
func rowsBetween(ev Evidence, events []int, holders ...string) (seqs []int) {
	from, to := ev.History[events[0]-1].Change, ev.History[events[len(events)-1]-1].Change
	var between []ddbfake.Change
	for i := range ev.Changes {
		if seq := ev.Changes[i].Seq; seq > from && seq <= to {
			between = append(between, ev.Changes[i])
		}
	}
	for _, c := range between {
		if slices.ContainsFunc(between, func(own ddbfake.Change) bool {
			return own.Cause == ddbfake.CauseClient && slices.Contains(holders, own.Actor) && own.Table == c.Table &&
				own.Key.Equal(c.Key)
		}) {
			seqs = append(seqs, c.Seq)
		}
	}
	return shortened(seqs)
}
