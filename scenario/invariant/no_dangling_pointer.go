package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// NoDanglingPointer holds that whoever follows META arrives: at the version that
// it names, at the body, and at the one that the etag was made for. Otherwise a
// reader has nothing to serve, or keeps an old page because its etag is current.
//
// META that is past its ttl is not visible, and neither is what an invalidation
// leaves where there was no page. Bodies are looked at if the evidence has any.
func NoDanglingPointer() Invariant {
	return onLogAnd("no-dangling-pointer",
		"while META is visible, the version that it leads to is there and so is the body, put before META named it; "+
			"and no etag of a key ever stands for two bodies",
		checkPointer, checkBodies)
}

// checkPointer judges META and its version.
func checkPointer(s *step) Finding {
	c := s.rows[len(s.rows)-1]
	if s.onMeta != nil {
		c = s.onMeta
	}
	if !s.visible(c.Time) {
		return ok()
	}
	violated := func(why string, args ...any) Finding {
		return Finding{Verdict: Violated, Why: fmt.Sprintf(why, args...), Changes: []int{c.Seq}}
	}
	row, sk := s.generation()
	etag, tagged := s.meta.Str("etag")
	of, both := row.Str("etag")
	switch {
	case sk == sortMeta:
		return ok()
	case row == nil && s.onMeta == c:
		return violated("%s has META lead to %s, which is not there", c.Actor, sk)
	case row == nil:
		for _, c = range s.rows { // there is one that removed it, or this was said before
			if _, gone := role(*c); gone == sk {
				return violated("%s removed %s, to which META leads", who(c), sk)
			}
		}
		return ok()
	case row["s3_key"] == nil:
		return violated("%s has META lead to %s, which names no body", c.Actor, sk)
	case tagged && both && etag != of:
		return violated("META has the etag %s, and %s, to which it leads, %s", etag, sk, of)
	default:
		return ok()
	}
}

// who names the one who made a change.
func who(c *ddbfake.Change) string {
	if c.Cause == ddbfake.CauseTTL {
		return "TTL"
	}
	return c.Actor
}

// checkBodies follows META to the bodies. What is told of a body with the same
// place in the log as a change happened after it.
func checkBodies(ev Evidence) Finding {
	if len(ev.Bodies) == 0 {
		return ok()
	}
	finding := ok()
	there := map[string]string{} // bodies by their names
	type tag struct {
		rowID
		etag string
	}
	stands := map[tag]string{} // for which body
	bodies := ev.Bodies
	l := newLedger(Promise{ev.MaxClockSkew})
	violated := func(seq int, why string, args ...any) {
		finding = finding.and(Finding{Verdict: Violated, Why: fmt.Sprintf(why, args...), Changes: Story(ev.Changes, []int{seq})})
	}
	told := func(b history.Body) {
		if !b.Gone {
			there[b.Name] = b.Body
			return
		}
		delete(there, b.Name)
		//isrsim:unordered a body belongs to one page
		for _, p := range l.partitions {
			if row, _ := p.generation(); p.visible(b.Time) && named(row) == b.Name {
				violated(p.shown, "%s deleted the body %s, to which META leads", b.Actor, b.Name)
			}
		}
	}
	for request := range Requests(ev.Changes) {
		for len(bodies) > 0 && bodies[0].Change < request[0].Seq {
			told(bodies[0])
			bodies = bodies[1:]
		}
		l.take(request, func(s *step) {
			if !s.published {
				return
			}
			row, _ := s.generation()
			name := named(row)
			body, is := there[name]
			if !is {
				if row != nil {
					violated(s.onMeta.Seq, "%s published the body %q, which was not there", s.onMeta.Actor, name)
				}
				return
			}
			for _, from := range []attr.Item{s.meta, row} {
				etag, has := from.Str("etag")
				if !has {
					continue
				}
				before, known := stands[tag{s.rowID, etag}]
				if known && before != body {
					violated(s.onMeta.Seq, "%s published %q under the etag %s, which stood for %q before", s.onMeta.Actor, body, etag, before)
				}
				stands[tag{s.rowID, etag}] = body
			}
		})
	}
	for _, b := range bodies {
		told(b)
	}
	return finding
}
