package invariant

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// freshness holds that a page served as fresh is fresh, within the promised skew of clocks, and that a served page was
// made for the key that was asked for. It does not read rows. It uses the time at which the origin was really read for
// the served body.
var freshness = Invariant{
	Name: "freshness",
	Statement: "a page served as fresh comes from data read at most revalidate_seconds ago (plus 2e). A page served " +
		"as stale was generated for its key",
	Check:  checkFreshness,
	Follow: func(p Promise) teller { return &freshPages{Promise: p, windows: p.Revalidate != 0} },
	Memory: rememberRenderings,
}

// checkFreshness judges a whole history, which has all renderings. If some answer equals a rendering, the cache serves
// renderings unchanged. Then no render made an answer that contains no rendering. If no answer equals a rendering, the
// cache may change bodies before it serves them.
func checkFreshness(ev Evidence) Finding {
	pages := freshPages{Promise: ev.promise(), windows: true, whole: true}
	finding := ok()
	for i := range ev.History {
		if f := pages.Event(&ev.History[i]); f.Verdict != 0 {
			finding = finding.and(f)
		}
	}
	if e := pages.neverMade(); finding.Verdict != Violated && e != nil && pages.asMade {
		return Finding{
			Verdict: Violated,
			Why: fmt.Sprintf("%s served for %s, as %s, what nobody has ever made: body %q%s", e.Actor, e.Key, e.As,
				e.Body, ofEarlierRun(e)),
			Events: []int{e.Seq},
		}.done(true)
	}
	return finding
}

// freshPages follows a history.
type freshPages struct {
	Promise
	windows  bool                            // Revalidate is the window of renderings without their own
	rendered map[renderedPage]*history.Event // the last rendering of a body, whose data may be in the body, too
	first    map[string]*history.Event       // by body
	whole    bool                            // the history has all renderings
	asMade   bool                            // some answer equals a rendering of its page
	unmade   []*history.Event                // answers for which no rendering was known at the time
}

type renderedPage struct{ key, body string }

func (*freshPages) Request([]ddbfake.Change) {}

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
		all.asMade = true
		if e.As != history.Fresh {
			return ok()
		}
		if source.Within == 0 && !all.windows {
			return unknown("how long %s is fresh is not known", e.Key)
		}
		age := e.Time.Sub(source.Time)
		window := cmp.Or(source.Within, all.Revalidate)
		if limit := window + 2*all.MaxClockSkew; age > limit {
			return Finding{
				Verdict: Violated,
				Why: fmt.Sprintf("%s served as fresh what %s had read from the origin %v before; "+
					"at most %v is allowed: %s",
					e.Actor, source.Actor, age, limit, bound("its window (revalidate)", window, limit)),
				Events: []int{source.Seq, e.Seq},
			}.done(true)
		}
		return ok()
	}
	return Finding{}
}

// bound names a limit in a message: by the promise that sets it and, if the limit is longer, by 2e for clocks.
func bound(name string, of, limit time.Duration) string {
	if of == limit {
		return name
	}
	return fmt.Sprintf("%s of %v, and 2e for clocks", name, of)
}

// notItsOwn judges a served body for which the key has no rendering.
func (all *freshPages) notItsOwn(e *history.Event) Finding {
	source := all.first[e.Body]
	if source == nil {
		hint := ""
		if all.whole {
			all.unmade = append(all.unmade, e)
			hint = cmp.Or(ofEarlierRun(e), "\nhint: serve the bytes of Render, which kits call origin, unchanged")
		}
		return unknown("event %d serves body %q for %s as %s, and no rendering is known that made it%s", e.Seq, e.Body,
			e.Key, e.As, hint).event(e.Seq)
	}
	return Finding{
		Verdict: Violated,
		Why:     fmt.Sprintf("%s served for %s what %s had made for %s", e.Actor, e.Key, source.Actor, source.Key),
		Events:  []int{source.Seq, e.Seq},
	}.done(true)
}

// ofEarlierRun is the hint that an answer has the bytes of a rendering of an earlier run; otherwise "".
func ofEarlierRun(e *history.Event) string {
	if !recorder.IsRendering(e.Tenant+e.Key, e.Body) {
		return ""
	}
	return "\nhint: these are bytes of an earlier run: the code keeps them outside of the store, such as in a " +
		"package variable"
}

// neverMade is the first answer that contains no rendering of any page, or nil.
func (all *freshPages) neverMade() *history.Event {
	for _, e := range all.unmade {
		made := false
		//isrsim:unordered any of them decides
		for body := range all.first {
			if strings.Contains(e.Body, body) {
				made = true
			}
		}
		if !made {
			return e
		}
	}
	return nil
}
