package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// boundedStaleness holds that a page of a certain age (Evidence.MaxAge) or older is not served, neither as fresh nor as
// stale. Without a stated age nothing is judged.
//
// The age is that of the page's data when the page was asked for. It is not the age at the time of the answer, because
// a node may stand still between its last look and its answer, and no cache can prevent that.
var boundedStaleness = Invariant{
	Name: "bounded-staleness",
	Statement: "whatever is served, fresh or stale, comes from data read at most max-age before the page was asked " +
		"for (plus 2e)",
	Check: checkAges,
}

func checkAges(ev Evidence) Finding {
	if ev.MaxAge <= 0 {
		return ok()
	}
	var all reads
	finding := ok()
	limit := ev.MaxAge + 2*ev.MaxClockSkew
	for i := range ev.History {
		r, is := all.event(&ev.History[i])
		switch {
		case !is || r.foreign:
		case r.source == nil:
			finding = finding.or(unknown("event %d serves body %q for %s as %s, and no rendering is known that made "+
				"it: it may be of any age",
				r.served.Seq, r.served.Body, r.served.Key, r.served.As).event(r.served.Seq))
		case r.asked.Time.Sub(r.source.Time) > limit:
			return Finding{
				Verdict: Violated,
				Why: fmt.Sprintf("%s was served for %s, as %s, what %s had read from the origin %v before it asked; "+
					"at most %v is allowed: %s",
					r.served.Actor, r.served.Key, r.served.As, r.source.Actor, r.asked.Time.Sub(r.source.Time), limit,
					bound("the promised max-age", ev.MaxAge, limit)),
				Events: eventsOf(r.source, r.asked, r.served),
			}
		}
	}
	return finding
}

// eventsOf returns the numbers of the given events. The events must be in order. The same event may be given twice in a
// row; its number is returned once.
func eventsOf(events ...*history.Event) (seqs []int) {
	for _, e := range events {
		if len(seqs) == 0 || seqs[len(seqs)-1] != e.Seq {
			seqs = append(seqs, e.Seq)
		}
	}
	return seqs
}
