package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// Freshness holds that what is called fresh is fresh, whatever the clocks say
// within their promise. It is not judged by rows but by when the origin was
// really read for the body that was served.
func Freshness() Invariant {
	return Invariant{
		Name:      "freshness",
		Statement: "what is served as fresh at T was generated from data read at or after T - revalidate_seconds - 2e",
		Check:     checkFreshness,
		Memory:    rememberRenderings,
	}
}

func checkFreshness(ev Evidence) Finding {
	type page struct{ key, body string }
	rendered := map[page]history.Event{} // of one body made twice, the later: it holds that data as well
	finding := ok()
	for _, e := range ev.History {
		switch {
		case e.Kind == history.Rendered:
			rendered[page{e.Key, e.Body}] = e
		case e.Kind == history.Served && e.As == history.Fresh:
			source, known := rendered[page{e.Key, e.Body}]
			if !known {
				finding = finding.or(unknown("event %d serves body %q for %s, of which nobody knows when the origin was read",
					e.Seq, e.Body, e.Key))
				continue
			}
			age := e.Time.Sub(source.Time)
			if limit := ev.Revalidate + 2*ev.MaxClockSkew; age > limit {
				return Finding{
					Verdict: Violated,
					Why: fmt.Sprintf("%s served as fresh what %s had read from the origin %v before; at most %v is allowed",
						e.Actor, source.Actor, age, limit),
					Events: []int{source.Seq, e.Seq},
				}
			}
		}
	}
	return finding
}
