package invariant

import (
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// HasSubject reports whether a run has something that the named invariant judges, such as a publish, or an answer after
// an invalidation. If it has nothing of that kind, the verdict ok means nothing. For an invariant that is not one of
// All, HasSubject is always true.
func (*own) HasSubject(name string, ev Evidence) bool {
	subject, known := subjects[name]
	return !known || subject(ev)
}

// subjects has a function for each invariant, which says whether a run has its subject.
var subjects = map[string]func(Evidence) bool{
	"stale-writer":   publishes,
	"atomic-publish": publishes,
	"lock-theft": func(ev Evidence) bool { // a lock that was there is written or removed
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
		return slices.ContainsFunc(ev.Changes, func(c ddbfake.Change) bool { return c.Cause == ddbfake.CauseClient && c.After["ttl"] != nil })
	},
	"freshness":     func(ev Evidence) bool { return has(ev.History, history.Served) },
	"single-flight": func(ev Evidence) bool { return has(ev.History, history.Rendered) },
	"no-lost-invalidation": func(ev Evidence) bool {
		return servedAfter(ev.History, func(before, _ *history.Event) bool { return before.Kind == history.Invalidated })
	},
	"idempotent-regeneration": func(ev Evidence) bool {
		return slices.ContainsFunc(ev.History, func(e history.Event) bool { return e.Kind == history.Rendered && e.Request != "" })
	},
	"tenant-isolation": severalTenants,
	"ttl-is-gc":        func(ev Evidence) bool { return len(inside.In(&ev).Lags) > 0 },
	"bounded-staleness": func(ev Evidence) bool { // a bound is promised
		return ev.MaxAge > 0 && has(ev.History, history.Served)
	},
	"read-your-writes": func(ev Evidence) bool {
		return servedAfter(ev.History, func(before, asked *history.Event) bool {
			return before.Kind == history.Served && before.Request != "" && before.Actor == asked.Actor && asked.Request == ""
		})
	},
	"liveness": func(ev Evidence) bool {
		settled := slices.IndexFunc(ev.History, func(e history.Event) bool { return e.Kind == history.Settled })
		return settled >= 0 && has(ev.History[settled:], history.Asked)
	},
}

func publishes(ev Evidence) bool {
	return slices.ContainsFunc(ev.Changes, func(c ddbfake.Change) bool { return Publishes(&c) })
}

// publishesAgain says whether a page is published for the second time.
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

// severalTenants says whether pages of more than one tenant were made, and something was served.
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

// servedAfter says whether a client was served what it asked for after an event of some kind about the same page.
func servedAfter(events []history.Event, follows func(before, asked *history.Event) bool) bool {
	for i := range events {
		asked := &events[i]
		if asked.Kind != history.Asked {
			continue
		}
		for j := range events[:i] {
			before := &events[j]
			if before.Key == asked.Key && before.Tenant == asked.Tenant && follows(before, asked) && isServed(events[i:]) {
				return true
			}
		}
	}
	return false
}

// isServed says whether the first of the events is a request that is answered with a page.
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
