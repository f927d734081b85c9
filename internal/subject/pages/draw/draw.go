// Package draw draws the worlds of pages.
package draw

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Pages is the subject of caches. With the reference, at least a quarter of the worlds reach each mark of Reach. A
// cache that never reaches one of them has not been tested where its bugs would be.
var Pages = &worlds.Subject{
	Verb: "get", Fill: fill, Settle: settle, UnderTest: protocols.StoreUnderTest,
	Reach: []spec.Mark{
		mark.Published, mark.ServedFresh, mark.LockTakenOver, mark.LockRefused, mark.PublishRefused, mark.TTLDeletion,
		mark.NodePaused, mark.NodeCrashed, mark.ClockSet, worlds.ResponseLost,
	},
	Proof: []spec.Mark{mark.Published, mark.ServedFresh},
	Also:  worlds.Also{Verb: "rollback", Mark: mark.RolledBack},
	Program: worlds.Program{
		Flags: []string{"tenants", "max-age", "monotonic-across-nodes", "recipe"}, Hint: "it has pages if it can get",
	},
}

// Entries is the subject of the cache handlers of Next.js. They are judged by the pages that clients are served, and
// not by their rows. They have no locks, and compare times of two machines.
var Entries = &worlds.Subject{
	Verb: "get", Fill: fill, Settle: settle, UnderTest: protocols.StoreUnderTest,
	Reach: []spec.Mark{
		mark.ServedFresh, mark.PageInvalidated, mark.NodePaused, mark.NodeCrashed, worlds.ResponseLost,
	},
	Nothing: "no page was served as fresh",
	Program: Pages.Program,
}

// Verbs are the verbs that a cache may have besides get.
var Verbs = []spec.Verb{"invalidate", "regenerate", "rollback"}

// fill draws a world of a cache. The world keeps its promises: all clocks stay within max-clock-skew.
func fill(t *rapid.T, s *spec.Scenario, extra worlds.Extras) {
	s.Cache = drawCache(t)
	s.Lag = worlds.Lag(t)
	s.ReplicaLag = worlds.Pick(t, "replica lag", 0, 0, time.Second)
	s.Skew = worlds.Pick(t, "max clock skew", 0, time.Second, 500*time.Millisecond, s.Cache.Lease/2)
	if extra.Exact {
		s.Skew = 0
	}
	if s.Skew >= s.Cache.Revalidate { // such a skew would leave nothing of freshness
		s.Skew = s.Cache.Revalidate / 2
	}
	s.Faults = drawFaults(t)
	crashes := worlds.Pick(t, "who may crash", 0, 0, 1)
	keys := worlds.Pick(t, "keys", []string{"/home"}, []string{"/home", "/home", "/about"})
	tenants, keys := drawTenants(t, extra, keys)
	verbs := drawVerbs(t, extra)
	// a request, or an invalidation, is remembered for as long as a page is kept: no rendering may take longer
	if len(verbs) > 0 {
		d := spec.Defaults().Cache
		s.Cache.Retention, s.Cache.TTLBuffer = d.Retention, d.TTLBuffer
	}
	plain := worlds.Pick(t, "plain", false, false, true)
	if plain {
		drawPlain(t, s)
		crashes, keys = 0, keys[:1]
	}
	worlds.Actors(t, s, actors(s, keys, crashes, verbs, plain))
	if slices.Contains(verbs, "rollback") && worlds.Pick(t, "many versions", false, true) {
		s.Actors[0].Script = append(versions(s, keys[0]), s.Actors[0].Script...)
	}
	if !plain {
		switch worlds.Pick(t, "fails at each attempt", "", "", "an invalidation", "later", "later") {
		case "an invalidation":
			if slices.Contains(verbs, "invalidate") {
				failedInvalidation(s, keys[0])
			}
		case "later":
			ofPage(t, s, keys[0], verbs).Draw(t, s)
		}
	}
	if len(tenants) > 0 {
		for i := range s.Actors {
			s.Actors[i].Tenant = worlds.Pick(t, "tenant", tenants...)
		}
	}
	var silent []*spec.Actor // those that never ask for a page
	for i := range s.Actors {
		if a := &s.Actors[i]; !slices.ContainsFunc(a.Script, served) {
			silent = append(silent, a)
		}
	}
	// unless two machines ask for pages, nothing goes wrong between machines
	for _, a := range silent[:max(0, len(silent)+2-len(s.Actors))] {
		a.Script = append(a.Script, spec.Command{Verb: "get", Key: keys[0]})
	}
	worlds.Clocks(t, s, longest(s))
	// This fault strikes only batches. A page of a mapped cache may have more than two rows, so the schedule chooses
	// the row. A mapped cache may release a lock by a batch, so it gets the fault only in worlds where a lock may stay
	// behind anyway, or where pages are invalidated, which caches often do by batches. In all worlds with this fault,
	// and in some others, queries come in pages.
	mapped := extra.Rows.Translate != nil || len(extra.Rows.Rows) > 0
	key := worlds.Pick(t, "in part", "", inPages, isr.SortMeta, isr.SortLock)
	if key != "" && key != inPages && !plain && (!mapped || locksStay(s) || slices.Contains(verbs, "invalidate")) {
		f := spec.Fault{Fault: ddbfake.Fault{Kind: ddbfake.FaultUnprocessed, Key: key, Times: 3}, Maybe: true}
		if mapped {
			f.Key = ""
		}
		s.Faults = append(s.Faults, f)
	}
	if key != "" && !plain {
		s.Faults = append(s.Faults, worlds.ShortPages)
	}
}

// inPages is drawn for a world in which queries come in pages, but batches are complete.
const inPages = "pages"

// versions makes three versions of a page and rolls it back: with fewer, any older version would be the right one.
func versions(s *spec.Scenario, key string) []spec.Command {
	get := spec.Command{Verb: "get", Key: key}
	next := worlds.Sleep(s.Cache.Revalidate + 2*s.Skew + time.Second)
	return []spec.Command{get, next, get, next, get, {Verb: "rollback", Key: key}}
}

// failedInvalidation renders a page. Then a node's first request, which invalidates the page, fails as often as the SDK
// sends it. A cache that swallows the error keeps serving the page. A fault that the schedule may place would rarely
// strike all attempts of this request.
func failedInvalidation(s *spec.Scenario, key string) {
	get := spec.Command{Verb: "get", Key: key}
	second := []spec.Command{worlds.Sleep(s.Cache.Render + time.Second), {Verb: "invalidate", Key: key}, get}
	s.Actors[0].Script = append([]spec.Command{get}, s.Actors[0].Script...)
	s.Actors[1].Script = append(second, s.Actors[1].Script...)
	s.Faults = append(s.Faults, spec.Fault{
		Fault: ddbfake.Fault{Kind: ddbfake.FaultErrorBefore, Actor: worlds.ActorNames[1], Times: s.Cache.Attempts},
	})
}

func drawCache(t *rapid.T) spec.Cache {
	c := spec.Defaults().Cache
	c.Lease = worlds.Pick(t, "lease", 10*time.Second, 2*time.Second, 1500*time.Millisecond, 30*time.Second)
	c.Revalidate = worlds.Pick(t, "revalidate", time.Minute, 5*time.Second, time.Second)
	// A rendering that outlasts the lease is a mistake in the configuration, but no excuse for a stale publish.
	c.Render = worlds.Pick(t, "render", 0, time.Second, c.Lease-time.Second, c.Lease+time.Second)
	c.KeepAlive = worlds.Pick(t, "keep-alive", 0, c.Lease/2)
	c.Retention = worlds.Pick(t, "retention", 24*time.Hour, time.Second, time.Minute)
	c.TTLBuffer = worlds.Pick(t, "ttl buffer", time.Hour, time.Second)
	c.Contention = worlds.Pick(t, "contention", isr.ServeStale, isr.Wait)
	c.Poll = worlds.Pick(t, "poll", time.Second, c.Lease/2)
	c.Patience = worlds.Pick(t, "patience", 10, 2)
	c.Attempts = worlds.Pick(t, "attempts", 3, 1)
	return c
}

// actors generates nodes with their scripts, clocks, pauses and crashes.
func actors(
	s *spec.Scenario, keys []string, crashes int, verbs []spec.Verb, plain bool,
) *rapid.Generator[spec.Actor] {
	c := s.Cache
	get := func(key string) spec.Command { return spec.Command{Verb: "get", Key: key} }
	commands := rapid.Custom(func(t *rapid.T) spec.Command {
		key := worlds.Pick(t, "key", keys...)
		if c, drawn := drawVerb(t, verbs, key); drawn {
			return c
		}
		all := []spec.Command{
			get(key),
			worlds.Sleep(c.Revalidate + time.Second),
			get(key),
			worlds.Sleep(c.Lease + time.Second),
			get(key),
			worlds.Sleep(time.Second),
			{Verb: "change", Key: key},
			worlds.Sleep(c.Revalidate + c.Retention + worlds.LagAfter + 2*time.Second), // until TTL deletes META
			get(key),
			worlds.Sleep(c.Revalidate),
		}
		if plain {
			all = all[:3]
		}
		if s.Promise.MaxAge > 0 {
			all = append(all, worlds.Sleep(s.Promise.MaxAge+time.Second))
		}
		return worlds.Pick(t, "command", all...)
	})
	return rapid.Custom(func(t *rapid.T) spec.Actor {
		most := 6
		switch {
		case plain && s.Promise.MaxAge > 0:
			most = 3 // a page, a wait until it is too old, and a request in which something fails
		case plain:
			most = 2
		}
		a := spec.Actor{Script: rapid.SliceOfN(commands, 1, most).Draw(t, "script")}
		if a.Pauses = worlds.Pick(t, "pauses", 0, 1, 2); a.Pauses > 0 {
			a.PauseFor = worlds.Pick(t, "pause for", c.Lease+time.Second, 2*c.Lease+time.Second, c.Lease-time.Second)
		}
		if a.Crashes = worlds.Pick(t, "crashes", 0, crashes); a.Crashes > 0 {
			a.Restarts = worlds.Pick(t, "restarts", 0, 1)
		}
		return a
	})
}

// pageCount is the number of pages that clients ask for.
func pageCount(s *spec.Scenario) int {
	all := map[subject.Key]bool{}
	for _, a := range s.Actors {
		for _, c := range a.Script {
			if asks(c.Verb) {
				all[subject.Key{Tenant: a.Tenant, Name: c.Key}] = true
			}
		}
	}
	return len(all)
}

// served says whether a command is answered with a page.
func served(c spec.Command) bool { return c.Verb == "get" || c.Verb == "regenerate" }

// asks reports whether a command with the verb may render a page, and wait for another node.
func asks(v spec.Verb) bool { return v != "sleep" && v != "change" }

// longest bounds how much time a run can take.
func longest(s *spec.Scenario) time.Duration {
	c := s.Cache
	// Time moves on its own only towards the end of a sleep or a pause.
	var moving time.Duration
	for _, a := range s.Actors {
		moving += time.Duration(a.Pauses) * a.PauseFor
		for _, command := range a.Script {
			moving += command.For
			if asks(command.Verb) {
				moving += c.Render + time.Duration(c.Patience)*c.Poll
			}
		}
		moving += time.Duration(a.Restarts) * (c.Render + time.Duration(c.Patience)*c.Poll + c.Revalidate +
			c.Retention + worlds.LagAfter)
	}
	// A tick moves time to the next deadline of a row at most.
	tick := max(c.Lease+c.TTLBuffer, c.Revalidate+c.Retention) + worlds.LagAfter
	return 2 * (moving + time.Duration(s.Bounds.Ticks)*tick + time.Minute)
}

// settle returns the time, from the end of a world's faults, within which each page must be in the cache and fresh.
// Zero means that no cache can promise that: see hooks.NeverFresh.
//
// A lease ends by itself, even if its holder has crashed, so the time includes a lease and a rendering. If no node can
// crash and no fault can stop a release, no node may keep a lock that it does not need: half a lease is enough.
func settle(s *spec.Scenario, _ worlds.Extras) time.Duration {
	c := s.Cache
	const second = time.Second // rows hold whole seconds
	if hooks.NeverFresh(c.Lease, c.Revalidate, c.Render, c.Poll, s.ReplicaLag+2*s.Skew) {
		return 0
	}
	renderings := time.Duration(pageCount(s)) * c.Render // one after the other
	slack := 2*c.Poll + 2*s.Skew + 2*second
	if prompt := renderings + slack; !locksStay(s) && c.Lease/2 >= 2*second {
		return max(prompt, c.Lease/2)
	}
	return 2*(c.Lease+renderings+c.Revalidate) + slack
}

// locksStay reports whether a correct cache may leave a lock behind: its node has crashed, or a fault has hit the
// request that would have released the lock. The fault of failedInvalidation does not count: its node has taken no lock
// before.
func locksStay(s *spec.Scenario) bool {
	return slices.ContainsFunc(s.Actors, func(a spec.Actor) bool { return a.Crashes > 0 }) ||
		slices.ContainsFunc(s.Faults, func(f spec.Fault) bool {
			return (f.Maybe || f.From > 0) && f.Dependency == "" && f.Kind != ddbfake.FaultShortPage &&
				(f.Key != isr.SortMeta || f.Op == "" && shares(s.Rows))
		})
}

// drawFaults draws faults, each left to the schedule: of the store, of the body store and the origin, or of all three.
// Faults of the body store and the origin do not stop a release.
func drawFaults(t *rapid.T) []spec.Fault {
	ofStore := worlds.Pick(t, "faults", []bool{true}, []bool{false}, []bool{true, false})
	generator := rapid.Custom(func(t *rapid.T) spec.Fault {
		f := spec.Fault{Maybe: true}
		if worlds.Pick(t, "of the store", ofStore...) {
			f.Kind = worlds.Pick(t, "fault", ddbfake.FaultResponseLost, ddbfake.FaultErrorAfter,
				ddbfake.FaultRequestLost, ddbfake.FaultResponseLost, ddbfake.FaultThrottled, ddbfake.FaultErrorBefore,
				ddbfake.FaultConflict, ddbfake.FaultDuplicate)
			f.Key = worlds.Pick(t, "fault's key", "", "", isr.SortLock, isr.SortMeta)
		} else {
			f.Dependency = worlds.Pick(t, "trouble", mark.OriginFailed, mark.BodyPutFailed, mark.BodyGetFailed)
		}
		f.Times = worlds.Pick(t, "fault's times", 0, 2)
		return f
	})
	return rapid.SliceOfNDistinct(generator, 0, 3, spec.Fault.String).Draw(t, "faults")
}

// drawPlain makes a world of quick renderings in which at most one kind of fault strikes, more than once. Nodes do not
// crash, and no release of a lock fails, so a lock that is left behind shows before its lease ends.
func drawPlain(t *rapid.T, s *spec.Scenario) {
	c := spec.Defaults().Cache
	s.Cache.Lease, s.Cache.Poll, s.Cache.Render = c.Lease, c.Poll, c.Render
	// The last one is the shortest window in which a correct cache whose rows hold whole seconds has a fresh page.
	s.Cache.Revalidate = worlds.Pick(t, "plain window", c.Revalidate, c.Revalidate, 2*time.Second)
	s.Skew, s.ReplicaLag = 0, 0
	outages := [][]spec.Fault{
		nil,
		{{Dependency: mark.OriginFailed}},
		{{Dependency: mark.BodyPutFailed}},
	}
	// A fault of the page must not strike the request that releases the lock. If page and lock are one row, the fault
	// strikes updates only: an update shows which of the two it writes.
	op := ""
	if shares(s.Rows) {
		op = "UpdateItem"
	}
	if op == "" || s.Rows.Translate == nil {
		for _, kind := range []ddbfake.FaultKind{ddbfake.FaultErrorBefore, ddbfake.FaultThrottled} {
			outages = append(outages, []spec.Fault{{Fault: ddbfake.Fault{Kind: kind, Op: op, Key: isr.SortMeta}}})
		}
	}
	s.Faults = worlds.Pick(t, "outage", outages...)
	if len(s.Faults) > 0 && s.Faults[0].Dependency == "" {
		s.Cache.Attempts = 1 // a retry by the SDK would hide the fault
	}
	for i := range s.Faults {
		s.Faults[i].Maybe, s.Faults[i].Times = true, worlds.Pick(t, "outage's times", 2, 4)
	}
}

// drawVerbs draws the verbs of the clients' commands, from those that the store has. Some invariants do not judge a
// page that is rolled back, so fewer worlds have rollbacks.
func drawVerbs(t *rapid.T, e worlds.Extras) []spec.Verb {
	if len(e.Verbs) == 0 {
		return nil
	}
	forward := slices.DeleteFunc(slices.Clone(e.Verbs), func(v spec.Verb) bool { return v == "rollback" })
	return worlds.Pick(t, "asks for more than pages", nil, nil, forward, e.Verbs, e.Verbs[:1])
}

// drawVerb draws a command with one of the verbs, for half of the commands.
func drawVerb(t *rapid.T, verbs []spec.Verb, key string) (c spec.Command, drawn bool) {
	if len(verbs) == 0 || worlds.Pick(t, "asks for a page", true, false) {
		return c, false
	}
	return ask(t, key, verbs...), true
}

func ask(t *rapid.T, key string, verbs ...spec.Verb) spec.Command {
	c := spec.Command{Verb: worlds.Pick(t, "verb", verbs...), Key: key}
	if c.Verb == "regenerate" {
		c.Request = worlds.Pick(t, "request", "r1", "r2")
		c.Inputs = worlds.Pick(t, "inputs", "", "", "v2")
	}
	return c
}

// drawTenants draws the tenants of a world's nodes, and the keys of its pages.
func drawTenants(t *rapid.T, e worlds.Extras, keys []string) ([]string, []string) {
	if !e.Tenants {
		return nil, keys
	}
	tenants := worlds.Pick(t, "tenants", nil, []string{"t1", "t2"}, []string{"t1", "t11"})
	if len(tenants) > 0 && tenants[1] == "t11" {
		keys = []string{"/home", "1/home"} // for two pages, tenant and key, joined, are the same text
	}
	return tenants, keys
}

// shares reports whether a page and its lock may be in one row, so that a fault of one is a fault of the other.
func shares(s isr.Schema) bool {
	m, err := rowmap.New(s)
	return err == nil && m.Shares()
}

// ofPage draws an outage of a page's cache.
func ofPage(t *rapid.T, s *spec.Scenario, key string, verbs []spec.Verb) worlds.Outage {
	get := spec.Command{Verb: "get", Key: key}
	o := worlds.Outage{First: get, Takes: s.Cache.Render, Between: get, Lasts: s.Cache.Render, Then: get}
	if len(verbs) > 0 {
		o.Between = ask(t, key, append([]spec.Verb{"get"}, verbs...)...)
		o.Then = ask(t, key, append([]spec.Verb{"get", "get", "get"}, verbs...)...)
	}
	if slices.Contains(verbs, "invalidate") && worlds.Pick(t, "an invalidation in between", true, false) {
		o.Between = spec.Command{Verb: "invalidate", Key: key}
		s.Cache.Revalidate = spec.Defaults().Cache.Revalidate // the remembered page is still fresh
	}
	if o.Between.Verb == "get" {
		o.After = s.Cache.Revalidate + 2*s.Skew // until then the other node finds the page fresh
	}
	return o
}
