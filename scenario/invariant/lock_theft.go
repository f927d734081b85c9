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
		Check:  checkLockTheft,
		Memory: rememberHolders,
	}
}

func checkLockTheft(ev Evidence) Finding {
	held := locks{}
	finding := ok()
	for _, c := range ev.Changes {
		id, sk := role(c)
		if sk != sortLock {
			continue
		}
		was := held[id]
		held.note(c)
		if c.Before == nil || c.Cause != ddbfake.CauseClient {
			continue
		}
		if was.token == "" {
			finding = finding.or(unknown("change %d finds a LOCK row of which the log does not say who holds it until when: "+
				"one without lease_token (S) and lease_expires_at (N), or one from before the log began", c.Seq))
			continue
		}
		if !was.expires.After(c.Time.Add(ev.MaxClockSkew)) {
			continue
		}
		if why := theft(c, was); why != "" {
			return Finding{
				Verdict: Violated,
				Why:     fmt.Sprintf("%s %v before the end of the lease", why, was.expires.Sub(c.Time)),
				Changes: story(ev.Changes, c),
			}
		}
	}
	return finding
}

// theft says how c touches a lease that is not its actor's, or "".
func theft(c ddbfake.Change, held lease) string {
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
