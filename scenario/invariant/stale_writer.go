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
		Check:  checkStaleWriter,
		Memory: rememberHolders,
	}
}

func checkStaleWriter(ev Evidence) Finding {
	held, malformed := locks{}, map[rowID]int{} // malformed: by which change
	finding := ok()
	for at := range requests(ev.Changes) {
		// A publish is judged by the lock as its request found it: the same request may release it.
		for _, c := range at {
			id, sk := role(c)
			if sk != sortMeta || !isPublish(c) {
				continue
			}
			if seq, is := malformed[id]; is {
				finding = finding.or(unknown("change %d leaves a LOCK row without lease_token (S) and lease_expires_at (N), "+
					"and change %d publishes under it", seq, c.Seq))
				continue
			}
			if f := checkPublish(ev.Changes, c, held[id], ev.MaxClockSkew); f.Verdict == Violated {
				return f
			}
		}
		for _, c := range at {
			id, sk := role(c)
			if sk != sortLock {
				continue
			}
			delete(malformed, id)
			if !held.note(c) {
				malformed[id] = c.Seq
			}
		}
	}
	return finding
}

// checkPublish judges one publish by the lock as it was just before.
func checkPublish(log []ddbfake.Change, c ddbfake.Change, held lease, skew time.Duration) Finding {
	violated := func(why string, args ...any) Finding {
		return Finding{Verdict: Violated, Why: fmt.Sprintf(why, args...), Changes: story(log, c)}
	}
	switch {
	case held.token == "":
		return violated("%s published while nobody held the lease", c.Actor)
	case held.holder != c.Actor:
		return violated("%s published while LOCK carried the token of %s", c.Actor, held.holder)
	case !held.expires.After(c.Sent.Add(-skew)):
		return violated("%s sent its publish %v after its own lease was over", c.Actor, c.Sent.Sub(held.expires))
	default:
		return ok()
	}
}
