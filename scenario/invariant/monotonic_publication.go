package invariant

import (
	"fmt"
	"time"
)

// MonotonicPublication holds that a page only becomes newer: the node that took the lease later shows the newer
// generation.
//
// A publish belongs to the last turn of its actor at the lease. A pointer that is set back to a version that has been
// visible is a rollback: it makes the page older on purpose, but must come in turn like any other write.
//
// generated_at may fall by 2e, and not only by e: one clock may be e ahead and the next e behind. Rows hold whole
// seconds, so the bound is 2e rounded up.
func MonotonicPublication() Invariant {
	return onLog("monotonic-publication",
		"generations become visible in the order in which their leases were acquired, "+
			"and generated_at of a new one is at most 2e before that of any that has been visible",
		func(s *step) Finding {
			if !s.published {
				return ok()
			}
			c := s.onMeta
			violated := func(why string, args ...any) Finding {
				return Finding{Verdict: Violated, Why: fmt.Sprintf(why, args...), Changes: []int{s.was.shown, c.Seq}}
			}
			if s.by.n > 0 && s.by.n < s.was.newest.n {
				return violated("%s published, whose lease was acquired before the one under which %s had published",
					c.Actor, s.was.newest.actor)
			}
			at, known := c.After.Int("generated_at")
			if !known {
				return unknown("change %d publishes without generated_at (N)", c.Seq)
			}
			fell := minus(s.was.generated, at)
			if allowed := wholeSeconds(2 * s.MaxClockSkew); !s.restored && s.was.generated > 0 && fell > int64(allowed/time.Second) {
				return violated("%s published what was generated %s before what had been visible; at most %v is allowed",
					c.Actor, spanSeconds(fell), allowed)
			}
			if s.by.n == 0 {
				return unknown("change %d publishes, and the log does not show that its actor %s ever took the lease", c.Seq, c.Actor)
			}
			return ok()
		})
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}
