package invariant

import "fmt"

// staleWriter holds that no publish overwrites a newer state: no other node has taken the lease since the publisher
// did. A publish by another node in between is a violation itself.
//
// Neither the end of the publisher's own lease nor the LOCK row counts: as long as nobody has taken the lease, nobody
// has made a newer page. See expiredPublish.
func staleWriter() Invariant {
	return onLog("stale-writer",
		"the publisher has taken the lease, and nobody else has taken it or published since",
		func(s *step) Finding {
			if !s.published {
				return ok()
			}
			return s.staleness()
		})
}

// staleness judges a publish by the turns before its request, because that request may itself take the lease.
func (s *step) staleness() Finding {
	c := s.onMeta
	violated := func(why string, args ...any) Finding {
		published, over := c.Actor+" published", s.overwrites()
		if over {
			published += " over a newer page"
		}
		f := Finding{Verdict: Violated, Why: published + fmt.Sprintf(why, args...), Changes: []int{c.Seq}}
		return f.done(over)
	}
	switch {
	case s.was.blur != 0:
		return unknown("change %d leaves a LOCK row without lease_token (S), so somebody may have taken the lease, "+
			"and change %d publishes after that", s.was.blur, c.Seq).change(s.was.blur).change(c.Seq)
	case s.held.n == 0:
		return violated(" without having taken the lease")
	case s.held.n < s.was.turns:
		return violated(", although %s had taken the lease since %s took it", s.takerOf(s.was.turns), c.Actor)
	default:
		return ok()
	}
}

// takerOf is the actor whose last turn is n.
func (p *partition) takerOf(n int) string {
	for _, t := range p.took {
		if t.n == n {
			return t.actor
		}
	}
	return "somebody"
}

// overwrites reports whether a publish replaces a page of newer data. Harm is about data, and a lease says little of
// it: who took the lease first may have read the origin last. So the times of the two pages decide, as far as clocks
// can tell, and the order of the leases decides only where a page has no time.
func (s *step) overwrites() bool {
	before, known := s.generatedAt(s.was.meta)
	now, says := s.generatedAt(s.meta)
	if known && says {
		return s.older(now, before)
	}
	return s.held.n > 0 && s.held.n < s.was.newest.n && isPage(s.was.meta)
}
