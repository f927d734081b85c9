package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// LockTheft holds that only the holder of a lease changes it before its end.
//
// A deletion by TTL is no client's write: a lock whose ttl ends before its lease is ill-formed, not stolen.
func LockTheft() Invariant {
	return onLog("lock-theft",
		"a write that replaces, extends or removes a LOCK row with lease_expires_at > T + e carries that row's token",
		func(s *step) Finding {
			c, held := s.onLock, s.was.lock
			if c == nil || c.Before == nil || c.Cause != ddbfake.CauseClient {
				return ok()
			}
			if held.token == "" {
				return unknown("change %d finds a LOCK row of which the log does not say who holds it until when: "+
					"one without lease_token (S) and lease_expires_at (N), or one from before the log began", c.Seq)
			}
			if !held.expires.After(c.Time.Add(s.MaxClockSkew)) {
				return ok()
			}
			why := theft(c, held)
			if why == "" {
				return ok()
			}
			return Finding{
				Verdict: Violated,
				Why:     fmt.Sprintf("%s %s before the end of the lease", why, span(c.Time, held.expires)),
				Changes: []int{c.Seq},
			}
		})
}

// theft says how c touches a lease that is not its actor's, or "".
func theft(c *ddbfake.Change, held lease) string {
	token, _ := c.After.Str("lease_token")
	switch {
	case c.After == nil && held.holder != c.Actor:
		return fmt.Sprintf("%s removed the lock of %s", c.Actor, held.holder)
	case c.After == nil:
		return ""
	case token != held.token:
		return fmt.Sprintf("%s replaced the lock of %s by one with another token", c.Actor, held.holder)
	case held.holder != c.Actor:
		return fmt.Sprintf("%s changed the lock of %s", c.Actor, held.holder)
	default:
		return ""
	}
}
