package invariant

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// HasSubject reports whether a run has something for the invariant to judge, such as a publish, or an answer after an
// invalidation. If it has nothing of that kind, the verdict ok means nothing. For an invariant from outside this
// package, HasSubject is always true.
func (inv *Invariant) HasSubject(ev Evidence) bool {
	subject, known := subjects[inv.Name]
	return !known || subject(ev)
}

// subjects has a function for each invariant that reports whether a run has its subject.
var subjects = map[string]func(Evidence) bool{
	"stale-writer":    publishes,
	"expired-publish": publishes,
	"atomic-publish":  publishes,
	"lock-theft": func(ev Evidence) bool { // an existing lock is written or removed
		return slices.ContainsFunc(ev.Changes, func(c ddbfake.Change) bool {
			_, sk := role(c)
			return sk == sortLock && c.Before != nil && c.Cause == ddbfake.CauseClient
		})
	},
	"monotonic-publication": publishesAgain,
	"no-dangling-pointer": func(ev Evidence) bool {
		return slices.ContainsFunc(ev.Changes, func(c ddbfake.Change) bool {
			return Publishes(&c) && (leads(c.After) || c.After["etag"] != nil)
		})
	},
	"ttl-well-formed": func(ev Evidence) bool {
		return slices.ContainsFunc(ev.Changes,
			func(c ddbfake.Change) bool { return c.Cause == ddbfake.CauseClient && c.After["ttl"] != nil })
	},
	"freshness":     func(ev Evidence) bool { return has(ev.History, history.Served) },
	"single-flight": func(ev Evidence) bool { return has(ev.History, history.Rendered) },
	"no-lost-invalidation": func(ev Evidence) bool {
		return servedAfter(ev.History,
			func(before, _ *history.Event) bool { return before.Kind == history.Invalidated })
	},
	"idempotent-regeneration": func(ev Evidence) bool {
		return slices.ContainsFunc(ev.History,
			func(e history.Event) bool { return e.Kind == history.Rendered && e.Request != "" })
	},
	"tenant-isolation": severalTenants,
	"ttl-is-gc":        func(ev Evidence) bool { return len(ev.Lags) > 0 },
	"bounded-staleness": func(ev Evidence) bool { // a bound is promised
		return ev.MaxAge > 0 && has(ev.History, history.Served)
	},
	"read-your-writes": func(ev Evidence) bool {
		return servedAfter(ev.History, func(before, asked *history.Event) bool {
			return before.Kind == history.Served && before.Request != "" && before.Actor == asked.Actor &&
				asked.Request == ""
		})
	},
	"linearizable": func(ev Evidence) bool { return len(ev.Operations) > 0 },
	"monotonic-reads": func(ev Evidence) bool { // somebody is served a page for the second time
		return servedAfter(ev.History, func(before, asked *history.Event) bool {
			return before.Kind == history.Served && (ev.AcrossNodes || before.Actor == asked.Actor)
		})
	},
	"liveness": func(ev Evidence) bool { return afterFaults(ev, history.Asked) },

	"mutual-exclusion": func(ev Evidence) bool { return slices.ContainsFunc(locksOf(ev), (*lock).contended) },
	"guarded-write": func(ev Evidence) bool {
		return slices.ContainsFunc(locksOf(ev), func(l *lock) bool {
			return slices.ContainsFunc(l.writes, func(e *history.Event) bool {
				return l.byID[e.Hold.ID] != l.byID[l.writes[0].Hold.ID]
			})
		})
	},
	"kept-lease": func(ev Evidence) bool { // a holder is told whether it still has its lock, or need not ask
		terms := ev.Lock
		return terms != nil && (has(ev.History, mark.EventLockHeld) || has(ev.History, mark.EventLockExtended) ||
			has(ev.History, mark.EventLockLost) ||
			terms.Heartbeats && slices.ContainsFunc(locksOf(ev), (*lock).contended))
	},
	"free-lock": func(ev Evidence) bool {
		return ev.Lock != nil && (has(ev.History, mark.EventLockTaken) ||
			has(ev.History, mark.EventLockRefused))
	},
	"lock-liveness": func(ev Evidence) bool { return afterFaults(ev, mark.EventLockAsked) },

	"effect-once": func(ev Evidence) bool { // a key whose effect took place is called once more
		return slices.ContainsFunc(callsOf(ev), func(k *keyed) bool { return len(k.all) > 1 && len(k.effects()) > 0 })
	},
	"same-result": func(ev Evidence) bool { return has(ev.History, mark.EventCallAnswered) },
	"same-payload": func(ev Evidence) bool {
		promised := ev.Once != nil && ev.Once.Payload
		return has(ev.History, mark.EventCallOther) ||
			promised && slices.ContainsFunc(callsOf(ev), func(k *keyed) bool {
				return slices.ContainsFunc(k.all, func(c *call) bool { return c.payload != k.all[0].payload })
			})
	},
	"free-call": func(ev Evidence) bool {
		return ev.Once != nil && slices.ContainsFunc(callsOf(ev), func(k *keyed) bool {
			return slices.ContainsFunc(k.all, func(c *call) bool { return c.answer != nil })
		})
	},
	"call-liveness": func(ev Evidence) bool { return afterFaults(ev, mark.EventCallAsked) },
}

// Excuses names the invariants that are void under the evidence's promises, with the reasons.
func Excuses(all []Invariant, ev Evidence) (names []string, why string) {
	var whys []string
	for i := range all {
		if excused := all[i].Excused(ev); excused != "" {
			names, whys = append(names, all[i].Name), append(whys, excused)
		}
	}
	return names, strings.Join(slices.Compact(whys), ", and ")
}

// Excused returns the reason why the invariant is void under the evidence's promises: clock skew exceeds the time that
// it judges. Otherwise it returns "".
func (inv *Invariant) Excused(ev Evidence) string {
	if ev.MaxClockSkew == 0 { // nearly every run is like this, and it must cost nothing
		return ""
	}
	return excused(inv.Name, ev)
}

func excused(name string, ev Evidence) string {
	e, of, what := ev.MaxClockSkew, ev.Held, "lease"
	left := time.Duration(1)
	switch name {
	case "lock-theft", "expired-publish", "single-flight":
		left = of - e // the row says when the lease ends, so only one clock counts
	case "mutual-exclusion", "guarded-write", "kept-lease":
		left = promise.Sure(of, e, promise.LeaseRounding)
	case "effect-once":
		left = max(promise.Sure(of, e, promise.LeaseRounding),
			promise.Sure(ev.Retention, e, promise.RetentionRounding))
	case "freshness":
		of, what = ev.Revalidate, "window"
		left = of - e
	case "bounded-staleness":
		of, what = ev.MaxAge, "max-age"
		left = of - e
	}
	if left > 0 || of == 0 { // of is 0 if it is not known
		return ""
	}
	return fmt.Sprintf("max-clock-skew of %v leaves nothing of a %s of %v", e, what, of)
}

// contended reports whether another node, too, asked for a lock that was taken.
func (l *lock) contended() bool {
	return len(l.holds) > 0 && slices.ContainsFunc(l.all, func(h *hold) bool { return h.actor != l.holds[0].actor })
}

// afterFaults reports whether there was an event of the kind once faults had stopped.
func afterFaults(ev Evidence, kind history.Kind) bool {
	settled := slices.IndexFunc(ev.History, func(e history.Event) bool { return e.Kind == history.Settled })
	return settled >= 0 && has(ev.History[settled:], kind)
}

func publishes(ev Evidence) bool {
	return slices.ContainsFunc(ev.Changes, func(c ddbfake.Change) bool { return Publishes(&c) })
}

// publishesAgain reports whether a page is published for the second time.
func publishesAgain(ev Evidence) bool {
	before := map[rowID]bool{}
	for i := range ev.Changes {
		if c := &ev.Changes[i]; Publishes(c) {
			id, _ := role(*c)
			if before[id] {
				return true
			}
			before[id] = true
		}
	}
	return false
}

func has(events []history.Event, kind history.Kind) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == kind })
}

// severalTenants reports whether pages of more than one tenant were made, and something was served.
func severalTenants(ev Evidence) bool {
	tenants := map[string]bool{}
	for i := range ev.History {
		switch e := &ev.History[i]; e.Kind {
		case history.Rendered:
			tenants[e.Tenant] = true
		case history.Served:
			if len(tenants) > 1 {
				return true
			}
		}
	}
	return false
}

// servedAfter reports whether, after an event that follows accepts, a client asked for that page and was served it.
func servedAfter(events []history.Event, follows func(before, asked *history.Event) bool) bool {
	for i := range events {
		asked := &events[i]
		if asked.Kind != history.Asked {
			continue
		}
		for j := range events[:i] {
			before := &events[j]
			if before.Key == asked.Key && before.Tenant == asked.Tenant && follows(before, asked) &&
				isServed(events[i:]) {
				return true
			}
		}
	}
	return false
}

// isServed reports whether the first of the events is a request that is answered with a page.
func isServed(events []history.Event) bool {
	for i := range events[1:] {
		if e := &events[1+i]; e.Actor == events[0].Actor {
			if e.Kind == history.Served {
				return true
			}
			if e.Kind == history.Asked || e.Kind == history.Failed || e.Kind == history.Crashed {
				return false
			}
		}
	}
	return false
}
