package live

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

var liveness = invariant.Named("liveness")

type pageOf struct{ tenant, key string }

// settled judges the time after faults have stopped. The time of each page counts from the first request for it. A page
// is well if it was served as fresh, and nobody had made it since it was asked for: then it came from the cache. If it
// was made for its only readers, and its window is over, the time counts from the next request.
type settled struct {
	settled *history.Event // nil if no client has said that faults have stopped
	pages   map[pageOf]*settling
	waiting []*settling // pages in the order of their first requests; decided pages at the front are removed
	broken  bool
	// open are the pages that were undecided when the time of all pages began anew, in the order of their first
	// requests. That happens at a Restore and at each event settled; every client of a fleet may tell one.
	open []pageOf
}

// settling is the state of a page that was asked for.
type settling struct {
	first  *history.Event
	made   bool           // it was made since the last request for it
	last   *history.Event // the last request or answer
	answer *history.Event // the last answer, or nil
	ends   time.Time      // the end of the window of the last rendering, as far as it is known
	done   bool           // it is known whether the page is well
}

// hear takes in an event. The parameter window is for renderings that do not say how long they are fresh.
func (s *settled) hear(e *history.Event, window time.Duration) {
	if e.Kind == history.Settled {
		*s = settled{settled: e, pages: map[pageOf]*settling{}, open: s.undecided()}
		return
	}
	if s.settled == nil || e.Key == "" {
		return
	}
	of := pageOf{e.Tenant, e.Key}
	p := s.pages[of]
	if p == nil {
		if e.Kind != history.Asked {
			return
		}
		p = &settling{first: e}
		s.pages[of], s.waiting = p, append(s.waiting, p)
	}
	switch e.Kind {
	case history.Asked:
		if !p.done && p.answer != nil && p.answer.As == history.Fresh && !e.Time.Before(p.ends) {
			p.first, p.answer = e, nil
			s.waiting = append(slices.DeleteFunc(s.waiting, func(other *settling) bool { return other == p }), p)
		}
		p.last, p.made = e, false
	case history.Rendered:
		p.made, p.ends = true, e.Time.Add(cmp.Or(e.Within, window))
	case history.Failed:
		p.last, p.answer = e, e
	case history.Served:
		p.last, p.answer = e, e
		if e.As == history.Fresh && !p.made {
			p.done = true
			s.open = slices.DeleteFunc(s.open, func(left pageOf) bool { return left == of })
		}
	}
}

// undecided returns the requested pages without a result so far, in the order of their first requests.
func (s *settled) undecided() []pageOf {
	for _, p := range s.waiting {
		if of := (pageOf{p.first.Tenant, p.first.Key}); !p.done && !slices.Contains(s.open, of) {
			s.open = append(s.open, of)
		}
	}
	return s.open
}

// overdue returns the next page whose time is over, or nil. If the last fresh answer was rendered for its own request,
// only the next answer can show that the page is in the cache, so twice the time is allowed.
func (s *settled) overdue(now time.Time) *settling {
	for len(s.waiting) > 0 && s.waiting[0].done {
		s.waiting = s.waiting[1:]
	}
	for _, p := range s.waiting {
		if !now.After(p.first.Time.Add(s.settled.Within)) {
			break
		}
		late := p.last.Kind == history.Asked && now.After(p.last.Time.Add(s.settled.Within))
		if !p.done && (late || p.answer == nil || p.answer.As != history.Fresh) {
			return p
		}
	}
	return nil
}

// judgeLiveness reports pages whose time is over.
func (c *Checker) judgeLiveness(now time.Time) {
	s := &c.told.since
	if s.settled == nil {
		return
	}
	for p := s.overdue(now); p != nil; p = s.overdue(now) {
		p.done, s.broken = true, true
		for _, inv := range c.options.Invariants {
			if inv.Name == liveness.Name {
				c.tellEvent(inv, invariant.Finding{
					Verdict: invariant.Violated,
					Why: fmt.Sprintf("%v after %s was asked for, with no faults any more, no request had found a "+
						"fresh page of it; at most %v is allowed",
						now.Sub(p.first.Time), p.first.Key, s.settled.Within),
					Events: unique(s.settled.Seq, p.first.Seq, p.last.Seq),
				}, p.last)
			}
		}
	}
}

// unique returns each of the numbers once. They must be in rising order.
func unique(rising ...int) (all []int) {
	for _, n := range rising {
		if len(all) == 0 || all[len(all)-1] != n {
			all = append(all, n)
		}
	}
	return all
}

// decided reports whether all requested pages are well, or one was found not to be well.
func (s *settled) decided() bool {
	if s.broken {
		return true
	}
	for _, p := range s.waiting {
		if !p.done {
			return false
		}
	}
	return len(s.pages) > 0 && len(s.open) == 0
}

// lacks returns the reason why it is not decided whether the pages are well.
func (s *settled) lacks() string {
	if s.settled == nil && len(s.open) == 0 {
		return "no event settled says from when on every page must be fresh"
	}
	for _, p := range s.waiting {
		if !p.done {
			return fmt.Sprintf("since faults have stopped, no request has found a fresh page of %s in the cache, "+
				"and its time is not over", p.first.Key)
		}
	}
	if len(s.open) > 0 {
		return fmt.Sprintf("no request had found a fresh page of %s when another event settled, or a restore, began "+
			"its time anew, and none has since", s.open[0].key)
	}
	return "no page was asked for after faults had stopped"
}
