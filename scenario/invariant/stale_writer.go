package invariant

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// StaleWriter holds that only the holder of the lease publishes.
//
// The expiry is judged at S, the time of sending, and not at T: a condition of
// DynamoDB sees no clock but the :now that the sender put in, so no client can
// promise more. What a long way to the store cannot break is the token: once
// somebody else has the lock, a late publish must fail.
func StaleWriter() Invariant {
	return Invariant{
		Name: "stale-writer",
		Statement: "a publish takes effect only while LOCK carries the publisher's own token, " +
			"with lease_expires_at > S - e, S being the true time at which the publisher sent it",
		Check: checkStaleWriter,
	}
}

func checkStaleWriter(ev Evidence) Finding {
	locks, tokens := map[rowID]lease{}, owners{}
	for at := range requests(ev.Changes) {
		for _, c := range at {
			id, sk := role(c)
			if sk != sortMeta || !isPublish(c) {
				continue
			}
			if f := checkPublish(ev.Changes, c, locks[id], tokens, ev.MaxClockSkew); f.Verdict != OK {
				return f
			}
		}
		for _, c := range at {
			id, sk := role(c)
			if sk != sortLock {
				continue
			}
			delete(locks, id)
			if c.After == nil {
				continue
			}
			l, wellFormed := readLease(c.After)
			if !wellFormed {
				return unknown("change %d leaves a LOCK row without lease_token (S) and lease_expires_at (N)", c.Seq)
			}
			locks[id] = l
			tokens.note(c)
		}
	}
	return ok()
}

// checkPublish judges one publish by the lock as it was just before.
func checkPublish(log []ddbfake.Change, c ddbfake.Change, held lease, tokens owners, skew time.Duration) Finding {
	violated := func(why string, args ...any) Finding {
		return Finding{Verdict: Violated, Why: fmt.Sprintf(why, args...), Changes: story(log, c)}
	}
	switch holder := tokens[held.token]; {
	case held.token == "":
		return violated("%s published while nobody held the lease", c.Actor)
	case holder != c.Actor:
		return violated("%s published while LOCK carried the token of %s", c.Actor, holder)
	case !held.expires.After(c.Sent.Add(-skew)):
		return violated("%s sent its publish %v after its own lease was over", c.Actor, c.Sent.Sub(held.expires))
	default:
		return ok()
	}
}
