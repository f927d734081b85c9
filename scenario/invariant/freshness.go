package invariant

import (
	"fmt"
	"slices"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// Freshness holds that a page served as fresh is fresh, within the promised skew of clocks, and that a served page was
// made for the key that was asked for. Rows do not decide it. The check compares the time at which the origin was
// really read for the body that was served.
func Freshness() Invariant {
	return Invariant{
		Name: "freshness",
		Statement: "what is served as fresh at T was generated from data read at or after T - revalidate_seconds - 2e, " +
			"and what is served as stale was once generated for its key",
		Check:  checkFreshness,
		Memory: rememberRenderings,
	}
}

func checkFreshness(ev Evidence) Finding {
	type page struct{ key, body string }
	rendered := map[page]history.Event{} // of one body made twice, the later: it holds that data as well
	finding := ok()
	for i, e := range ev.History {
		switch e.Kind {
		case history.Rendered:
			rendered[page{e.Key, e.Body}] = e
		case history.Served:
			source, known := rendered[page{e.Key, e.Body}]
			if !known {
				finding = finding.and(notItsOwn(e, ev.History[:i]))
				continue
			}
			age := e.Time.Sub(source.Time)
			if limit := ev.Revalidate + 2*ev.MaxClockSkew; e.As == history.Fresh && age > limit {
				finding = finding.and(Finding{
					Verdict: Violated,
					Why: fmt.Sprintf("%s served as fresh what %s had read from the origin %v before; at most %v is allowed",
						e.Actor, source.Actor, age, limit),
					Events: []int{source.Seq, e.Seq},
				})
			}
		}
		if finding.Verdict == Violated {
			break
		}
	}
	return finding
}

// notItsOwn judges a served body that was not made for its key.
func notItsOwn(e history.Event, before []history.Event) Finding {
	made := slices.IndexFunc(before, func(r history.Event) bool { return r.Kind == history.Rendered && r.Body == e.Body })
	if made < 0 {
		return unknown("event %d serves body %q for %s as %s, and no rendering is known that made it", e.Seq, e.Body, e.Key, e.As)
	}
	source := before[made]
	return Finding{
		Verdict: Violated,
		Why:     fmt.Sprintf("%s served for %s what %s had made for %s", e.Actor, e.Key, source.Actor, source.Key),
		Events:  []int{source.Seq, e.Seq},
	}
}
