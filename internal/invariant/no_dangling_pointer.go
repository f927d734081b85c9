package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// noDanglingPointer holds that META leads to things that exist: to the version that it names, and to the body, which
// must be the body for which its etag was made. Otherwise a reader cannot serve the page, or keeps an old one because
// the etag looks current.
//
// META is not visible after its ttl, or if it has no page, as after some invalidations. Bodies are checked if the
// evidence has bodies.
func noDanglingPointer() Invariant {
	return followed(Invariant{
		Name: "no-dangling-pointer",
		Statement: "META leads to a version and a body that were put before META named them. An etag of a key " +
			"stands for one body",
		Memory: rememberPages,
		judge:  checkPointer,
		beyond: newBodies,
	})
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
		return violated("%s has META lead to %s, which is not there", who(c), sk)
	case row == nil:
		for _, c = range s.rows { // one of the changes removed it, or this was reported before
			if _, gone := role(*c); gone == sk {
				return violated("%s removed %s, to which META leads", who(c), sk)
			}
		}
		return ok()
	case row["s3_key"] == nil && !holdsBody(row):
		return violated("%s has META lead to %s, which names no body, and has no attribute that may be one", c.Actor,
			sk)
	case tagged && both && etag != of:
		return violated("META has the etag %s, and %s, to which it leads, %s", etag, sk, of)
	default:
		return ok()
	}
}

// who names the actor of a change.
func who(c *ddbfake.Change) string {
	switch {
	case c.Cause == ddbfake.CauseTTL:
		return "TTL"
	case c.Cause == ddbfake.CauseReplica && c.Actor == "":
		return "TTL of another region"
	case c.Actor == "":
		return "a client without a name"
	}
	return c.Actor
}

// bodies follows META to the bodies.
type bodies struct {
	log     *ledger
	there   map[string]string // bodies by their names
	stands  map[tag]string    // the body for which an etag stands
	history []history.Event   // the history, for its renderings: rows may hold their bodies
	// elsewhere says that the observed body store was never used: the bodies are in another place.
	elsewhere bool
	first     Finding
}

// tag is an etag of a key.
type tag struct {
	rowID
	etag string
}

func newBodies(ev Evidence, l *ledger) follower {
	if ev.Bodies == nil {
		return nil
	}
	return &bodies{
		log: l, there: make(map[string]string, len(ev.Bodies)), history: ev.History,
		elsewhere: len(ev.Bodies) == 0, first: ok(),
	}
}

func (all *bodies) violated(seq int, why string, args ...any) {
	all.first = all.first.and(Finding{Verdict: Violated, Why: fmt.Sprintf(why, args...), Changes: []int{seq}})
}

func (all *bodies) body(b *recorder.Body) {
	if !b.Gone {
		all.there[b.Name] = b.Body
		return
	}
	delete(all.there, b.Name)
	for p := range all.log.all { // a body belongs to one page
		if row, _ := p.generation(); p.visible(b.Time) && named(row) == b.Name {
			all.violated(p.shown, "%s deleted the body %s, to which META leads", b.Actor, b.Name)
		}
	}
}

func (all *bodies) step(s *step) {
	row, _ := s.generation()
	if !s.published || row == nil {
		return
	}
	if !leads(row) {
		all.tags(s, row, rendered(all.history).in(row))
		return
	}
	name := named(row)
	body, is := all.there[name]
	if all.elsewhere {
		all.first = all.first.and(unknown("change %d publishes the body %q, and no body was ever put into the "+
			"body store: the cache keeps its bodies in a place that is not observed", s.onMeta.Seq, name).change(
			s.onMeta.Seq,
		))
		return
	}
	if !is {
		all.violated(s.onMeta.Seq, "%s published the body %q, which was not there", s.onMeta.Actor, name)
		return
	}
	all.tags(s, row, body)
}

// tags judges the etags of a page that was published. The body is "" if it cannot be read.
func (all *bodies) tags(s *step, row attr.Item, body string) {
	for _, from := range []attr.Item{s.meta, row} {
		etag, has := from.Str("etag")
		if !has {
			continue
		}
		if body == "" {
			all.first =
				all.first.and(unknown("change %d publishes the etag %s with a row in which no body can be found "+
					"that was made", s.onMeta.Seq, etag).change(s.onMeta.Seq))
			return
		}
		of := tag{s.rowID, etag}
		before, known := all.stands[of]
		if known && before != body {
			all.violated(s.onMeta.Seq, "%s published %q under the etag %s, which stood for %q before",
				s.onMeta.Actor, body, etag, before)
		}
		if all.stands == nil {
			all.stands = map[tag]string{}
		}
		all.stands[of] = body
	}
}

func (*bodies) event(*history.Event) {}

func (all *bodies) found(ev Evidence) Finding {
	f := all.first
	if f.Verdict == Violated {
		f.Changes = Story(ev.Changes, f.Changes)
	}
	return f
}
