package invariant

import (
	"cmp"
	"fmt"

	"github.com/isr-sim/isr-sim/ddbfake"
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
		Follow: func(p Promise) Follower { return &freshPages{Promise: p, windows: p.Revalidate > 0} },
		Memory: rememberRenderings,
	}
}

func checkFreshness(ev Evidence) Finding {
	pages := freshPages{Promise: Promise{ev.MaxClockSkew, ev.Revalidate}, windows: true}
	finding := ok()
	for i := 0; i < len(ev.History) && finding.Verdict != Violated; i++ {
		if f := pages.Event(&ev.History[i]); f.Verdict != 0 {
			finding = finding.and(f)
		}
	}
	return finding
}

// freshPages follows a history.
type freshPages struct {
	Promise
	windows  bool                            // Revalidate holds where a rendering does not say its own
	rendered map[renderedPage]*history.Event // of one body made twice, the later: it holds that data as well
	first    map[string]*history.Event       // by body
}

type renderedPage struct{ key, body string }

// Request implements Follower.
func (*freshPages) Request([]ddbfake.Change) {}

// Event implements Follower.
func (all *freshPages) Event(e *history.Event) Finding {
	switch e.Kind {
	case history.Rendered:
		if all.rendered == nil {
			all.rendered, all.first = map[renderedPage]*history.Event{}, map[string]*history.Event{}
		}
		all.rendered[renderedPage{e.Key, e.Body}] = e
		if all.first[e.Body] == nil {
			all.first[e.Body] = e
		}
	case history.Served:
		source := all.rendered[renderedPage{e.Key, e.Body}]
		if source == nil {
			return all.notItsOwn(e)
		}
		if e.As != history.Fresh {
			return ok()
		}
		if source.Within == 0 && !all.windows {
			return unknown("how long %s is fresh is not known", e.Key)
		}
		age := e.Time.Sub(source.Time)
		if limit := cmp.Or(source.Within, all.Revalidate) + 2*all.MaxClockSkew; age > limit {
			return Finding{
				Verdict: Violated,
				Why: fmt.Sprintf("%s served as fresh what %s had read from the origin %v before; at most %v is allowed",
					e.Actor, source.Actor, age, limit),
				Events: []int{source.Seq, e.Seq},
			}
		}
		return ok()
	}
	return Finding{}
}

// notItsOwn judges a served body that was not made for its key.
func (all *freshPages) notItsOwn(e *history.Event) Finding {
	source := all.first[e.Body]
	if source == nil {
		return unknown("event %d serves body %q for %s as %s, and no rendering is known that made it", e.Seq, e.Body, e.Key, e.As)
	}
	return Finding{
		Verdict: Violated,
		Why:     fmt.Sprintf("%s served for %s what %s had made for %s", e.Actor, e.Key, source.Actor, source.Key),
		Events:  []int{source.Seq, e.Seq},
	}
}
