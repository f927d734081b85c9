package invariant

import (
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// The invariants of idempotent calls are judged from the callers' requests and answers and the times of effects,
// whatever rows the layer keeps. The change log is used only for the times of a node's writes.
var ofCalls = ofTold(effectOnce, sameResult, samePayload, freeCall, callLiveness)

// OfCalls returns the invariants of idempotent calls in the order in which reports name them. Like the invariants of
// OfLocks, they are not among All.
func OfCalls() []Invariant { return slices.Clone(ofCalls) }

// call is a call and its fate. A call holds its key in the same way as a node holds a lock.
type call struct {
	hold
	payload       string
	begun, effect *history.Event // when its effect began, and when it took place; nil if it did not
	// If the call repeats its finished effect, or runs two at once: the times of the first effect, the second
	// beginning, and the second effect.
	once, again, twice *history.Event
}

// keyed are the calls of one key, in the order in which they were made.
type keyed struct {
	key string
	all []*call
}

// callsOf reads the history, once for all checks of one Judge.
func callsOf(ev Evidence) []*keyed {
	if ev.shared == nil {
		ev.shared = &shared{}
	}
	if ev.shared.calls == nil {
		ev.shared.calls = readCalls(ev)
	}
	return ev.shared.calls
}

func readCalls(ev Evidence) []*keyed {
	var all []*keyed
	byID, open := map[string]*call{}, map[string]*call{} // open is by node
	for i := range ev.History {
		e := &ev.History[i]
		if c := open[e.Actor]; e.Hold == nil && c != nil && e.Kind == history.Crashed {
			c.last, c.ended = e, e
		}
		if e.Hold == nil || e.Kind < mark.EventCallAsked {
			continue
		}
		c := byID[e.Hold.ID]
		if c == nil && e.Kind == mark.EventCallAsked {
			at := slices.IndexFunc(all, func(k *keyed) bool { return k.key == e.Key })
			if at < 0 {
				at, all = len(all), append(all, &keyed{key: e.Key})
			}
			c = &call{hold: hold{actor: e.Actor, asked: e}, payload: e.Inputs}
			all[at].all = append(all[at].all, c)
			byID[e.Hold.ID], open[e.Actor] = c, c
		}
		if c != nil {
			c.take(e)
		}
	}
	for _, k := range all {
		for _, c := range k.all {
			c.writes(ev.Changes)
		}
	}
	return all
}

func (c *call) take(e *history.Event) {
	c.last = e
	c.troubled = c.troubled || e.Hold.Troubled
	switch e.Kind {
	case mark.EventCallAnswered, mark.EventCallRefused, mark.EventCallOther:
		c.answer, c.closed = e, e
	case mark.EventEffectBegun:
		c.begun = e
		if c.again == nil && e.Hold.Done {
			c.once, c.again = c.effect, e
		}
	case mark.EventEffect:
		c.effect = e
		switch {
		case c.again == nil:
		case c.once == nil:
			c.once = e
		case c.twice == nil:
			c.twice = e
		}
	default:
	}
}

// answered reports whether the caller was told a result.
func (c *call) answered() bool { return c.answer != nil && c.answer.Kind == mark.EventCallAnswered }

// effects are the calls whose effects took place, in the order in which the effects began.
func (k *keyed) effects() []*call {
	some := slices.DeleteFunc(slices.Clone(k.all), func(c *call) bool { return c.effect == nil })
	slices.SortFunc(some, func(a, b *call) int { return a.begun.Seq - b.begun.Seq })
	return some
}

// of returns the call whose effect had the given result, or nil.
func (k *keyed) of(result string) *call {
	i := slices.IndexFunc(k.all, func(c *call) bool { return c.effect != nil && c.effect.Body == result })
	if i < 0 {
		return nil
	}
	return k.all[i]
}

// told is the first answer with the given result, or nil.
func (k *keyed) told(result string) (first *history.Event) {
	for _, c := range k.all {
		if c.answered() && c.answer.Body == result && (first == nil || c.answer.Seq < first.Seq) {
			first = c.answer
		}
	}
	return first
}

// forgotten is the time from which on the result of a call may be forgotten. The retention is counted from before the
// call was made, less a second because rows may hold whole seconds.
func (c *call) forgotten(ev Evidence) time.Time {
	return c.asked.Time.Add(promise.Sure(ev.Retention, ev.MaxClockSkew, promise.RetentionRounding))
}

// inProgress is the time until which a call certainly counts as in progress, whatever happened to its node.
func (c *call) inProgress(ev Evidence) time.Time {
	return c.asked.Time.Add(promise.Sure(ev.Held, ev.MaxClockSkew, promise.LeaseRounding))
}
