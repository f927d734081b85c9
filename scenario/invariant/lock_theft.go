package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// LockTheft holds that nobody but its holder touches a lease that is not over.
//
// Deletions by TTL are not writes of anybody: a lock whose ttl ends before its
// lease is ill-formed, not stolen.
func LockTheft() Invariant {
	return Invariant{
		Name: "lock-theft",
		Statement: "a write that replaces, extends or removes a LOCK row with lease_expires_at > T + e " +
			"carries that row's token",
		Check: checkLockTheft,
	}
}

func checkLockTheft(ev Evidence) Finding {
	tokens := owners{}
	for _, c := range ev.Changes {
		if _, sk := role(c); sk != sortLock {
			continue
		}
		tokens.note(c)
		if c.Before == nil || c.Cause != ddbfake.CauseClient {
			continue
		}
		held, wellFormed := readLease(c.Before)
		if !wellFormed {
			return unknown("change %d finds a LOCK row without lease_token (S) and lease_expires_at (N)", c.Seq)
		}
		if !held.expires.After(c.Time.Add(ev.MaxClockSkew)) {
			continue
		}
		if why := theft(c, held, tokens); why != "" {
			return Finding{
				Verdict: Violated,
				Why:     fmt.Sprintf("%s %v before the end of the lease", why, held.expires.Sub(c.Time)),
				Changes: story(ev.Changes, c),
			}
		}
	}
	return ok()
}

// theft says how c touches a lease that is not its actor's, or "".
func theft(c ddbfake.Change, held lease, tokens owners) string {
	holder := tokens[held.token]
	token, _ := c.After.Str("lease_token")
	switch {
	case c.After == nil && holder != c.Actor:
		return fmt.Sprintf("%s removed the lock of %s", c.Actor, holder)
	case c.After == nil:
		return ""
	case token != held.token:
		return fmt.Sprintf("%s replaced the lock of %s by one with another token", c.Actor, holder)
	case holder != c.Actor:
		return fmt.Sprintf("%s changed the lock of %s", c.Actor, holder)
	default:
		return ""
	}
}
