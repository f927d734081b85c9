package invariant

import "fmt"

// staleWriter holds that only the holder of the lease publishes, or sets META back to an older version.
//
// The expiry is judged at S, the time of sending, and not at T. A condition of DynamoDB knows the time only from the
// value :now, which the sender has put in, so no client can promise more. But the token is judged when the publish
// takes effect: once another node has the lock, a late publish must fail.
func staleWriter() Invariant {
	return onLog("stale-writer",
		"a publish takes effect only while LOCK carries the publisher's own token, "+
			"with lease_expires_at > S - e, S being the true time at which the publisher sent it",
		// A publish is judged by the lock before its request, because the same request may release the lock.
		func(s *step) Finding {
			if !s.published {
				return ok()
			}
			c, held := s.onMeta, s.was.lock
			violated := func(why string, args ...any) Finding {
				return Finding{Verdict: Violated, Why: fmt.Sprintf(why, args...), Changes: []int{c.Seq}}
			}
			switch {
			case s.was.murky != 0:
				return publishedUnder(s.was.murky, c.Seq)
			case held.token == "":
				return violated("%s published while the lease was free", c.Actor)
			case held.holder != c.Actor:
				return violated("%s published while LOCK carried the token of %s", c.Actor, held.holder)
			case held.open != 0:
				return publishedUnder(held.open, c.Seq)
			case !held.expires.After(c.Sent.Add(-s.MaxClockSkew)):
				when := "at"
				if !c.Sent.Equal(held.expires) {
					when = span(held.expires, c.Sent) + " after"
				}
				return violated("%s sent its publish %s the end of its own lease", c.Actor, when)
			default:
				return ok()
			}
		})
}

// publishedUnder is the doubt about a publish under a LOCK row that lacks a token or an end since a change.
func publishedUnder(left, publish int) Finding {
	return unknown("change %d leaves a LOCK row without lease_token (S) and lease_expires_at (N), and change %d "+
		"publishes under it", left, publish).change(left).change(publish)
}
