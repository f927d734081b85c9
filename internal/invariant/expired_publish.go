package invariant

import (
	"fmt"
)

// expiredPublish holds that nobody publishes when its own lease is over, or its LOCK row is gone. It is a rule of the
// recipe: a new holder replaces the token, so a publish that checks the token is refused from then on. Publishes after
// that are stale writes, see staleWriter.
//
// The expiry is judged at S, the time of sending, and not at T. A condition of DynamoDB knows the time only from the
// value :now, which the sender has put in, so no client can promise more.
func expiredPublish() Invariant {
	inv := onLog("expired-publish",
		"a publish is sent before its own lease ends (lease_expires_at > S - e). Sent later, it replaces nothing "+
			"newer while the token fences it",
		// A publish is judged by the lock before its request, because the same request may release the lock.
		func(s *step) Finding {
			if !s.published || s.staleness().Verdict == Violated {
				return ok()
			}
			c, held := s.onMeta, s.was.lock
			violated := func(why string, args ...any) Finding {
				return Finding{Verdict: Violated, Why: fmt.Sprintf(why, args...), Changes: []int{c.Seq}}.
					asRule("nobody else has taken the lease or published since")
			}
			switch {
			case s.was.murky != 0:
				return publishedUnder(s.was.murky, c.Seq)
			case s.was.blur != 0:
				return s.staleness()
			case held.token == "":
				return violated("%s published when its LOCK row was gone", c.Actor)
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
	inv.Rule = true
	return inv
}

// publishedUnder is the doubt about a publish under a LOCK row that a change left without a token or an end.
func publishedUnder(left, publish int) Finding {
	return unknown("change %d leaves a LOCK row without lease_token (S) and lease_expires_at (N), and change %d "+
		"publishes under it", left, publish).change(left).change(publish)
}
