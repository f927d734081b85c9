package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// lockTheft holds that only the holder of a lease changes it before its end, and that nobody extends a lease that is
// gone.
//
// An update without a condition, sent by a holder after its lock was given back or deleted, writes a row with an end
// and without a token: nobody can give that lock back. A deletion by TTL is not a client's write: if the ttl of a lock
// is before the end of its lease, the lock is ill-formed, not stolen.
//
// A holder that has published is done, even before it releases the lease. Taking that lock breaks a rule of the recipe,
// but harms nobody.
//
// A write that came from another region counts as a write of its writer: each of two regions of a global table can give
// the lease away, and then the later write takes it from the other holder. This is judged in the region where the lease
// was taken. In other regions LOCK is a copy, which may not show that the lease was given back in between. A deletion
// by TTL in another region takes a lease away like any other write: the row had expired there, and not here.
func lockTheft() Invariant {
	return onLog("lock-theft",
		"only its holder replaces, extends or removes a lock before its end (lease_expires_at > T + e). Nobody "+
			"extends a lock that is gone",
		func(s *step) Finding {
			c, held := s.onLock, s.was.lock
			if c == nil || c.Cause == ddbfake.CauseTTL || c.Cause == ddbfake.CauseReplica && held.copied {
				return ok()
			}
			violated := func(why string, args ...any) Finding {
				return Finding{Verdict: Violated, Why: fmt.Sprintf(why, args...), Changes: []int{c.Seq}}.
					done(s.lock.holder != "" && s.lock.holder != held.holder)
			}
			if held.token == "" {
				free := c.Before == nil || s.was.turns > 0 && isNobodys(c.Before, c.Time)
				switch {
				case free && s.revives():
					return violated(
						"%s extended a lease that was gone: the lock is held again, and the row does not say by whom",
						c.Actor,
					)
				case free:
					return ok()
				}
				return unknown("change %d finds a LOCK row of which the log does not say who holds it until when: "+
					"one without lease_token (S) and lease_expires_at (N), or one from before the log began", c.Seq).
					change(c.Seq)
			}
			why := theft(c, held)
			switch {
			case why == "" || held.open == 0 && !held.expires.After(c.Time.Add(s.MaxClockSkew)):
				return ok()
			case held.open != 0:
				return unknown("change %d finds a LOCK row without lease_expires_at (N): %s, and it is not known "+
					"whether the lease was over", c.Seq, why).change(c.Seq)
			}
			stolen := violated("%s %s before the end of the lease", why, span(c.Time, held.expires))
			if held.endless() {
				stolen = violated("%s, which had not given it back: a lock without an expiry has no other end", why)
			}
			switch published := s.was.newest.n == s.was.turns; {
			case published && !s.Promise.Recipe:
				return ok()
			case published:
				return stolen.asRule("the holder had published by then")
			default:
				return stolen
			}
		})
}

// revives reports whether an actor that once had the lease leaves a LOCK row without a token whose end is in the
// future.
func (s *step) revives() bool {
	c := s.onLock
	now, held := readLease(c.After)
	return !held && now.expires.After(c.Time.Add(s.MaxClockSkew)) && s.lastOf(c.Actor).n > 0
}

// theft says how c changes a lease that does not belong to c's actor; "" if it does not.
func theft(c *ddbfake.Change, held lease) string {
	token, _ := c.After.Str("lease_token")
	switch {
	case c.After == nil && held.holder != c.Actor:
		return fmt.Sprintf("%s removed the lock of %s", who(c), held.holder)
	case c.After == nil:
		return ""
	case held.holder == c.Actor && isNobodys(c.After, c.Time):
		return "" // given back by an update
	case token != held.token:
		return fmt.Sprintf("%s replaced the lock of %s by one with another token", c.Actor, held.holder)
	case held.holder != c.Actor:
		return fmt.Sprintf("%s changed the lock of %s", c.Actor, held.holder)
	default:
		return ""
	}
}
