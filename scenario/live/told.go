package live

import (
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	engine "github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// byHistory reports whether an invariant needs the history that clients tell.
func byHistory(inv invariant.Invariant) bool {
	return known(inv).Follow != nil || inv.Name == liveness.Name
}

// known returns the engine's invariant; it is empty for a caller's own.
func known(inv invariant.Invariant) engine.Invariant {
	of, _ := engine.Find(inv.Name)
	return of
}

// follower judges the changes and events of a request.
type follower interface {
	Request(changes []ddbfake.Change)
	Event(e *history.Event) engine.Finding
}

// told is the history reported by clients, and its judges.
type told struct {
	named  bool       // the caller has named the invariants
	judges []follower // one for each of Options.Invariants; nil for those that need no history
	judged []int      // how often each judge had something to judge
	events []*history.Event
	total  int // the number of events, including those before the last Restore
	text   int
	calls  calls
	doubts map[doubtOf]bool // the doubts that were shown
	since  settled
	full   bool // some events were refused because too many are kept
}

// doubtOf is a doubt about the events of a page, which is shown once.
type doubtOf struct{ invariant, tenant, key string }

// begin forgets the requests under way, and all events except the renderings up to now. The rendered pages may still be
// served.
func (t *told) begin(o Options) {
	past := t.events
	since := settled{open: t.since.undecided()}
	*t = told{named: t.named, judged: t.judged, total: t.total, full: t.full, calls: calls{},
		doubts: map[doubtOf]bool{}, since: since}
	if t.judged == nil {
		t.judged = make([]int, len(o.Invariants))
	}
	for _, inv := range o.Invariants {
		var judge follower
		if follow := known(inv).Follow; follow != nil {
			judge = follow(o.Promise)
		}
		t.judges = append(t.judges, judge)
	}
	if o.Clock == nil {
		return
	}
	now := o.Clock.Now()
	for _, e := range past {
		if e.Kind != history.Rendered || e.Time.After(now) || len(t.events) >= maxEvents/2 || t.text >= maxText/2 {
			continue
		}
		again := *e
		again.Change = 0
		t.text += textOf(&again)
		t.keep(&again)
		for _, judge := range t.judges {
			if judge != nil {
				judge.Event(&again)
			}
		}
	}
}

// keep keeps an event, and numbers it.
func (t *told) keep(e *history.Event) {
	e.Seq = len(t.events) + 1
	t.events = append(t.events, e)
}

// request tells the judges of the changes of a request.
func (t *told) request(changes []ddbfake.Change) {
	for _, judge := range t.judges {
		if judge != nil {
			judge.Request(changes)
		}
	}
}

// hear gives an event to the judges.
func (c *Checker) hear(e history.Event, now time.Time) {
	e.Time, e.Change = now, c.seen
	c.told.keep(&e)
	c.told.total++
	excepted := slices.Contains(c.options.Except, e.Actor) || c.clockIsOff(e.Actor)
	for i, judge := range c.told.judges {
		if judge == nil {
			continue
		}
		f := judge.Event(&e).Said()
		if f.Verdict == 0 || excepted {
			continue
		}
		if f.Verdict != invariant.Unknown {
			c.told.judged[i]++
		}
		if f.Verdict != invariant.OK {
			c.tellEvent(c.options.Invariants[i], f, &e)
		}
	}
	if e.Kind == history.Settled || !slices.Contains(c.options.Except, e.Actor) {
		c.told.since.hear(&e, c.options.Promise.Revalidate)
	}
}

// clockIsOff reports whether rows have shown that an actor's clock is hours off: see wrongClock.
func (c *Checker) clockIsOff(actor string) bool {
	//isrsim:unordered any of them decides
	for _, t := range c.tables {
		if right, known := t.clocks[actor]; known && !right {
			return true
		}
	}
	return false
}

// tellEvent makes a Broken from a finding about an event.
func (c *Checker) tellEvent(inv invariant.Invariant, f invariant.Finding, e *history.Event) {
	if of := (doubtOf{inv.Name, e.Tenant, e.Key}); f.Verdict == invariant.Unknown {
		if c.told.doubts[of] {
			c.found.Doubts++
			return
		}
		c.told.doubts[of] = true
	}
	b := Broken{Invariant: inv, Verdict: f.Verdict, Why: f.Why, Actor: e.Actor}
	for _, seq := range f.Events {
		b.Events = append(b.Events, *c.told.events[seq-1])
	}
	if len(f.Events) == 0 {
		b.Events = []history.Event{*e}
	}
	if len(f.Changes) > 0 {
		b.Changes = c.story(f.Changes, 0)
	}
	c.note(b)
}

// sumUp names the invariants that judged nothing.
func (c *Checker) sumUp(found *Found) {
	found.Events = c.told.total
	found.lacks = len(c.options.Invariants) == 0
	pages, rows := c.rows.mapping().HasPages(), false // rows reports whether some invariant reads the rows alone
	for i, inv := range c.options.Invariants {
		live, told := inv.Name == liveness.Name, byHistory(inv)
		rows = rows || !told && !isOwn(inv)
		judged := live && c.told.since.decided() || told && !live && c.told.judged[i] > 0 || !told && c.watched[i] > 0
		switch excused := c.excused(inv); {
		case judged && excused != "":
			found.Untold, found.lacks = append(found.Untold, inv.Name+": "+excused), true
		case judged:
		default:
			if told || c.told.named || found.Judged > 0 { // otherwise one sentence covers all that read rows
				found.Untold = append(found.Untold, fmt.Sprintf("%s: %s", inv.Name, c.lacks(inv)))
			}
			expected := byLock(inv) && pages || inv.Name == lockTheft && !pages
			found.lacks = found.lacks || c.told.named || expected ||
				live && (c.told.since.settled != nil || len(c.told.since.open) > 0)
		}
	}
	found.lacks = found.lacks || rows && found.Judged == 0
}

// excused returns the reason why an invariant could find nothing: clocks may differ by as much as the longest lease, or
// as the window. It returns "" if the invariant could find something.
func (c *Checker) excused(inv invariant.Invariant) string {
	promised := c.options.Promise
	record := invariant.Evidence{MaxClockSkew: promised.MaxClockSkew, Revalidate: promised.Revalidate}
	return (&engine.Invariant{Name: inv.Name}).Excused(engine.Evidence{Record: record, Held: c.lease})
}

// lacks returns the reason why an invariant was not judged.
func (c *Checker) lacks(inv invariant.Invariant) string {
	switch {
	case inv.Name == lockTheft:
		return "no lock was changed or given back"
	case inv.Name == danglingPointer:
		return "no page was written"
	case inv.Name == malformedTTL:
		return "no page and no lock was written"
	case byLock(inv):
		return "no page was published"
	case !byHistory(inv):
		return "nothing was written that it has judged"
	case c.told.total == 0:
		return "no history was posted"
	case inv.Name == liveness.Name:
		return c.told.since.lacks()
	case inv.Name == invariant.Named("freshness").Name:
		return "no page was served whose rendering and window are known"
	case inv.Name == invariant.Named("single-flight").Name:
		return "no page was rendered whose rows are known"
	case inv.Name == invariant.Named("no-lost-invalidation").Name:
		return "no page was asked for after it was invalidated, and then served as fresh"
	case inv.Name == invariant.Named("tenant-isolation").Name:
		return "no tenant was served a page"
	default:
		return "nothing that was posted concerns it"
	}
}
