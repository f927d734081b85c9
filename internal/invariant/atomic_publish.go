package invariant

import (
	"fmt"
)

// atomicPublish holds that a publish also ends its lease: a reader who sees the new generation sees no lock of its
// publisher. It is a rule of the recipe: a reader who finds the lock waits, or gets the new page. If LOCK stays, it
// counts as released if it has another token or none, or if its lease is over.
//
// Publishers that had already given their lock back, or never had it, are found by staleWriter and expiredPublish.
func atomicPublish() Invariant {
	inv := onLog("atomic-publish",
		"the request that publishes also releases: no state has both the new page and its publisher's lock",
		func(s *step) Finding {
			if !s.published {
				return ok()
			}
			c := s.onMeta
			if s.murky != 0 && s.onLock == nil {
				return publishedUnder(s.murky, c.Seq)
			}
			if s.lock.holder != c.Actor || s.lock.open == 0 && !s.lock.expires.After(c.Time) {
				return ok()
			}
			if s.lock.open != 0 {
				return publishedUnder(s.lock.open, c.Seq)
			}
			return Finding{
				Verdict: Violated, Why: fmt.Sprintf("%s published and kept its lock", c.Actor), Changes: []int{c.Seq},
			}.asRule("the page is there, and the lock ends later")
		})
	inv.Rule = true
	return inv
}
