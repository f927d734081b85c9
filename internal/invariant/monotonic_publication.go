package invariant

import (
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// monotonicPublication holds that a page only becomes newer: the node that took the lease later shows the newer
// generation.
//
// A publish belongs to the last turn of its actor at the lease. If the pointer is set back to a version that has been
// visible, that is a rollback. It makes the page older on purpose, but its lease must be in order like that of any
// other publish. It must lead to the newest older version that has been visible and whose row still exists and is not
// past its ttl. Versions within 2e of each other have no order. An actor that is asked for a rollback
// (history.RollingBack) must not set the page to a newer version. Without such events, a change to a newer version may
// be the undoing of a rollback.
//
// Several regions are judged separately. A publish is judged in the region where it is made. When it arrives in another
// region, its generated_at is judged there, too. Leases that are acquired in different regions have no order.
//
// If a row mapping has no lock, no publish belongs to a lease. Then only generated_at is judged, against the replaced
// page. Without a lease, a late writer cannot know of a page that is gone or past its ttl.
//
// generated_at may fall by 2e, and not only by e: one clock may be e ahead and the next e behind. If rows hold whole
// seconds, the bound is 2e rounded up to seconds; if they hold fractions, to milliseconds.
func monotonicPublication() Invariant {
	return followed(Invariant{
		Name: "monotonic-publication",
		Statement: "pages become visible in the order in which their leases were acquired. generated_at never falls " +
			"by more than 2e",
		Memory: rememberPages,
		judge: func(s *step) Finding {
			if !s.published && !s.arrived {
				return ok()
			}
			c := s.onMeta
			violated := func(why string, args ...any) Finding {
				f := Finding{Verdict: Violated, Why: fmt.Sprintf(why, args...), Changes: []int{s.was.shown, c.Seq}}
				return f.done(s.overwrites())
			}
			if s.by.n > 0 && s.by.n < s.was.newest.n { // if it arrived from another region, by is zero
				return violated("%s published, whose lease was acquired before the one under which %s had published",
					c.Actor, s.was.newest.actor)
			}
			at, known := s.generatedAt(c.After)
			if !known {
				return unknown("change %d publishes without generated_at (N)", c.Seq).change(c.Seq)
			}
			newest, unlocked := s.was.generated, c.After[rowmap.Unlocked] != nil
			if unlocked {
				newest = s.replaced()
			}
			if allowed := roundedUp(2*s.MaxClockSkew, grain(newest, at)); !s.restored && farther(at, newest, allowed) {
				if _, points := c.After.Str("current_sk"); s.arrived && points {
					return unknown("change %d brings an older page from another region, and not whether the page "+
						"was rolled back there", c.Seq).change(c.Seq)
				}
				return violated("%s published what was generated %s before what had been visible; at most "+
					"%v is allowed",
					c.Actor, span(at, newest), allowed)
			}
			if s.back != nil && s.back.skipped != nil {
				f := violated("%s set the page back to what was generated %s before, and %s, generated %s before, "+
					"had been visible and was still there",
					c.Actor, span(s.back.to, s.back.from), s.back.skipped.sk,
					span(s.back.skipped.generated, s.back.from))
				f.Changes = slices.Insert(f.Changes, 0, s.back.skipped.change)
				return f
			}
			if s.by.n == 0 && s.published && !unlocked {
				return unknown("change %d publishes, and the log does not show that its actor %s ever took the lease",
					c.Seq, c.Actor).change(c.Seq)
			}
			return ok()
		},
		beyond: newRollbacks,
	})
}

// replaced is generated_at of the page that a publish replaces; zero if some clock within the promise may count that
// page as gone.
func (s *step) replaced() time.Time {
	if s.was.meta == nil || Expired(s.was.meta, s.onMeta.Time.Add(s.MaxClockSkew)) {
		return time.Time{}
	}
	at, _ := s.generatedAt(s.was.meta)
	return at
}

// rollbacks judges the actors that were asked for rollbacks.
type rollbacks struct {
	asked map[string]bool
	first Finding
}

func newRollbacks(ev Evidence, _ *ledger) follower {
	if !slices.ContainsFunc(ev.History, func(e history.Event) bool { return e.Kind == history.RollingBack }) {
		return nil
	}
	return &rollbacks{asked: map[string]bool{}, first: ok()}
}

func (all *rollbacks) event(e *history.Event) {
	if e.Kind == history.RollingBack {
		all.asked[e.Actor] = true
	}
}

func (all *rollbacks) step(s *step) {
	if c := s.onMeta; s.back != nil && all.asked[c.Actor] && s.older(s.back.from, s.back.to) {
		all.first = all.first.and(Finding{Verdict: Violated, Changes: []int{s.was.shown, c.Seq},
			Why: fmt.Sprintf("%s was asked for an older version, and set the page to one that was generated %s "+
				"later than what was visible",
				c.Actor, span(s.back.from, s.back.to))})
	}
}

func (*rollbacks) body(*recorder.Body) {}

func (all *rollbacks) found(ev Evidence) Finding {
	f := all.first
	f.Changes = Story(ev.Changes, f.Changes)
	return f
}

// grain is the unit of two times: a second if both are whole seconds, otherwise a millisecond.
func grain(a, b time.Time) time.Duration {
	if a.Nanosecond() == 0 && b.Nanosecond() == 0 {
		return time.Second
	}
	return time.Millisecond
}

func roundedUp(d, step time.Duration) time.Duration {
	return (d + step - time.Nanosecond).Truncate(step)
}

// farther reports whether to is more than d after from. A time.Duration, which time.Time.Sub returns, cannot hold more
// than 292 years.
func farther(from, to time.Time, d time.Duration) bool { return from.Add(d).Before(to) }
