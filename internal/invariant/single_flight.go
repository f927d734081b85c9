package invariant

import (
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// singleFlight holds that a page is made by only one node at a time, and only when it is needed.
//
// A flight is the turn of a node that renders. It begins when the node takes the lease, and ends when the node gives
// the lease back or crashes. Changes of LOCK by other nodes or by TTL do not end it: the node does not know of them.
// Two overlapping flights are a violation only if, when the second lease was taken, the first had time left by all
// clocks.
//
// A page is the same page in all regions, so the turns of nodes in different regions are judged together. A turn begins
// and ends in the region where the lease was taken: a LOCK row that arrives in another region begins and ends nothing.
// How fresh the page was is judged by its rows in the region where the lease was taken.
//
// A rendering without a lease harms nobody if nobody else has the lease: a cache may rather do without its lock than
// without its page. That is a rule of the recipe. Events at one instant have no order here, because exhaustive searches
// try only one order: a lease that is given back or taken at the instant of the rendering counts.
//
// A node may render if the page was stale, missing or without a body in some state since the node took the lease,
// because the node may have read that state. It may always render for a regeneration with an idempotency key
// (history.Event.Request).
func singleFlight() Invariant {
	return followed(Invariant{
		Name: "single-flight",
		Statement: "one node at a time renders a page. It holds the lease, and the page is not fresh or its " +
			"regeneration was requested. Tolerance: e",
		Follow: func(p Promise) teller { return &followedFlights{flights: *newFlightsMemory(p, nil)} },
		Memory: func(p Promise) memory { return newFlightsMemory(p, nil) },
		OnRows: true,
		beyond: newFlights,
	})
}

// newFlightsMemory returns the memory of singleFlight. The promise decides which lease had time left beside which.
func newFlightsMemory(p Promise, text words) *flights {
	return &flights{skew: p.MaxClockSkew, log: newLedger(p), text: text, recipe: p.Recipe}
}

// newFlights returns nil if no node rendered anything.
func newFlights(ev Evidence, l *ledger) follower {
	first := slices.IndexFunc(ev.History, func(e history.Event) bool { return e.Kind == history.Rendered })
	if first < 0 {
		return nil
	}
	placed := slices.ContainsFunc(ev.History, func(e history.Event) bool { return e.Change > 0 })
	all := &flights{
		skew: ev.MaxClockSkew, log: l, first: ok(), places: &places{ev: ev}, overlapping: ev.Overlapping,
		recipe: ev.Recipe,
	}
	last := ev.History[len(ev.History)-1]
	if all.blind = !placed && len(ev.Changes) > 0 && !last.Time.Before(ev.Changes[0].Time); all.blind {
		all.first = unknown("the history does not say how far the change log was when event %d happened",
			ev.History[first].Seq)
	}
	return all
}

// flights follows log and history.
type flights struct {
	skew   time.Duration
	log    *ledger
	places *places // nil if the log is not known to its end
	blind  bool    // the history does not say how long the log was at its events
	first  Finding
	pages  map[rowID][]*flight // the last flight of each actor that has not ended
	lost   fingerprint.Hash    // renderings that belong to no turn, as far as is known: see lose
	text   words
	// overlapping says that a node may begin a turn while an earlier turn of its own, whose lease is over, goes on.
	// Earlier turns that have not rendered yet are late.
	overlapping bool
	late        map[rowID][]*flight
	apart       bool // each region is judged by itself
	recipe      bool // as in evidence
	// free are the renderings without a lease at the latest instant, and ended the flights that ended at it.
	free  []freeRendering
	ended []endedFlight
}

// freeRendering is a rendering without a lease, of the page with a partition key.
type freeRendering struct {
	pk string
	e  *history.Event
}

// endedFlight is a flight whose lease was given back.
type endedFlight struct {
	*flight
	page rowID
	at   time.Time
}

// flight is a node's turn at the lease of a page.
type flight struct {
	actor    string
	region   string // where the lease was taken
	began    int    // the change
	token    string
	expires  time.Time
	rendered *history.Event
	crashed  bool // the node has crashed; its requests under way may still take effect
	// fresh is the time until which the page was fresh in every state since the flight began; zero if it was not fresh
	// in some state.
	fresh time.Time
	// unread says that one of these states cannot be read: the page may have been stale in it.
	unread bool
	murky  int       // the change that left its LOCK without a token or an end, or 0
	beside []*flight // flights that were under way when this one began
}

// step reads the changes of a request to a page.
func (all *flights) step(s *step) {
	if s.onLock != nil {
		all.lock(s)
	}
	until, known := s.pageFreshUntil()
	see := func(f *flight) {
		if f.region != s.region {
			return
		}
		f.unread = f.unread || !known
		if until.Before(f.fresh) {
			f.fresh = until
		}
	}
	page := all.page(s.partition)
	for _, f := range all.pages[page] {
		see(f)
	}
	for _, f := range all.late[page] {
		see(f)
	}
}

// page is the name of a partition's page, which is the same in all regions.
func (*flights) page(p *partition) rowID {
	id := p.rowID
	id.region = ""
	return id
}

func (*flights) body(*recorder.Body) {}

func (all *flights) found(ev Evidence) Finding {
	f := all.first
	if f.Changes != nil {
		f.Changes = Story(ev.Changes, f.Changes)
	}
	return f
}

// lock reads a change of the LOCK row.
func (all *flights) lock(s *step) {
	c := s.onLock
	if c.Cause == ddbfake.CauseReplica {
		return
	}
	under := all.pages[all.page(s.partition)]
	if now := s.lock; now.token != "" && now.token == s.was.lock.token {
		for _, f := range under {
			if f.token == now.token {
				f.expires = now.expires
			}
		}
		all.besideFree(s.partition, c.Time)
		return
	}
	takes := s.lock.token != "" || s.murky != 0 // and the row is not nobody's
	if takes && all.overlapping {
		all.overtake(all.page(s.partition), under, c.Actor)
	}
	if c.Cause != ddbfake.CauseTTL && s.was.lock.holder == c.Actor {
		all.end(all.page(s.partition), under, c)
		under = slices.DeleteFunc(under, func(f *flight) bool { return f.actor == c.Actor })
	}
	if takes {
		fresh, known := s.pageFreshUntil()
		begun := &flight{actor: c.Actor, region: s.region, began: c.Seq, token: s.lock.token, expires: s.lock.expires,
			fresh: fresh, unread: !known, murky: max(s.murky, s.lock.open)}
		under = slices.DeleteFunc(under, func(f *flight) bool { return f.actor == c.Actor })
		for _, f := range under {
			if f.expires.After(c.Time.Add(all.skew)) {
				begun.beside = append(begun.beside, f)
			}
		}
		under = append(under, begun)
	}
	if all.pages == nil {
		all.pages = map[rowID][]*flight{}
	}
	all.pages[all.page(s.partition)] = under
	all.besideFree(s.partition, c.Time)
}

// end remembers, for the present instant, the flights of an actor that gives its lease back.
func (all *flights) end(page rowID, under []*flight, c *ddbfake.Change) {
	all.ended = slices.DeleteFunc(all.ended, func(f endedFlight) bool { return f.at.Before(c.Time) })
	for _, f := range under {
		if !all.recipe && f.actor == c.Actor && f.expires.After(c.Time.Add(all.skew)) {
			all.ended = append(all.ended, endedFlight{f, page, c.Time})
		}
	}
}

// besideFree judges the renderings without a lease at an instant by the leases of that instant.
func (all *flights) besideFree(p *partition, now time.Time) {
	all.free = slices.DeleteFunc(all.free, func(r freeRendering) bool { return r.e.Time.Before(now) })
	for _, r := range all.free {
		if r.pk == p.pk {
			all.first = all.first.and(all.withoutLease(p, r.e))
		}
	}
}

// withoutLease judges a rendering by a node that has not taken the lease.
func (all *flights) withoutLease(p *partition, e *history.Event) Finding {
	f := Finding{
		Verdict: Violated,
		Why:     fmt.Sprintf("%s made %s without having taken its lease", e.Actor, e.Key), Events: []int{e.Seq},
	}
	if p == nil {
		return f.asRule("nobody else had the lease")
	}
	under := all.pages[all.page(p)]
	for _, other := range all.ended {
		if other.page == all.page(p) && !other.at.Before(e.Time) {
			under = append(slices.Clip(under), other.flight)
		}
	}
	for _, other := range under {
		if other.actor != e.Actor && other.expires.After(e.Time.Add(all.skew)) &&
			!(all.apart && other.region != p.region) {
			f.Why += ", which " + other.actor + " had"
			return f.done(other.rendered != nil)
		}
	}
	return f.asRule("nobody else had the lease")
}

// overtake notes that an actor takes a lease while an earlier turn of its own may go on.
func (all *flights) overtake(page rowID, under []*flight, actor string) {
	for _, f := range under {
		if f.actor == actor && f.rendered == nil {
			if all.late == nil {
				all.late = map[rowID][]*flight{}
			}
			all.late[page] = append(all.late[page], f)
		}
	}
}

// pageFreshUntil is the end of freshness of the page that META shows. It is zero if META shows no page, or if the page
// may be invalidated: the invalidation looks older than the page, but clocks may be that wrong. It returns false if
// META does not say.
func (s *step) pageFreshUntil() (time.Time, bool) {
	row, _ := s.generation()
	if row == nil || !isPage(s.meta) {
		return time.Time{}, true
	}
	until, known := s.freshUntil(s.meta)
	if at, marked := rowmap.Instant(s.meta, rowmap.MarkedAt); marked && s.MaxClockSkew > 0 {
		if generated, known := s.generatedAt(s.meta); known && !generated.After(at.Add(2*s.MaxClockSkew)) {
			return time.Time{}, true
		}
	}
	ttl, has := s.meta.Int("ttl")
	if end := time.Unix(ttl, 0); has && end.Before(until) {
		until = end
	}
	return until, known
}

// event takes in the next event.
func (all *flights) event(e *history.Event) {
	switch e.Kind {
	case history.Rendered:
		if !all.blind {
			all.first = all.first.and(all.render(e))
		}
	case history.Crashed:
		//isrsim:unordered each page by itself
		for _, under := range all.pages {
			for _, f := range under {
				f.crashed = f.crashed || f.actor == e.Actor
			}
		}
	}
}

// render judges a rendering.
func (all *flights) render(e *history.Event) Finding {
	pk := all.places.of(all.log, e)
	if pk == "" {
		all.lose(e)
		return unknown("event %d: %s made %s, and nothing tells which rows are that page's: no META or LOCK row of "+
			"one page alone was named since it was asked for, and no META row leads to the body", e.Seq,
			e.Actor, e.Key).event(e.Seq)
	}
	return all.renderIn(all.log.find(pk), e)
}

// lose remembers a rendering that belongs to no turn, even if no row of the page is known yet: at one instant another
// node may write the first row before or after the rendering.
func (all *flights) lose(e *history.Event) {
	all.lost += fingerprint.Hash(0).Text(all.text.of(e.Actor)).Text(e.Tenant).Text(e.Key).Text(all.text.of(e.Body))
}

// renderIn judges a rendering of the page with the rows p; p is nil if the page has no rows.
func (all *flights) renderIn(p *partition, e *history.Event) Finding {
	var under []*flight
	if p != nil {
		under = all.pages[all.page(p)]
	}
	i := slices.IndexFunc(under, func(f *flight) bool { return f.actor == e.Actor })
	if i < 0 {
		all.lose(e)
		if all.belated(p, e) {
			return ok()
		}
		f := all.withoutLease(p, e)
		if f.Rule && !all.recipe {
			all.free = slices.DeleteFunc(all.free, func(r freeRendering) bool { return r.e.Time.Before(e.Time) })
			all.free = append(all.free, freeRendering{all.places.of(all.log, e), e})
			return ok()
		}
		return f
	}
	own := under[i]
	if own.crashed {
		return ok()
	}
	if own.murky != 0 {
		return unknown("change %d leaves a LOCK row without lease_token (S) and lease_expires_at (N), and %s makes "+
			"%s under it",
			own.murky, e.Actor, e.Key).change(own.murky).event(e.Seq)
	}
	own.rendered = e
	doubt := ok()
	for _, f := range append(slices.Clip(under), own.beside...) {
		if f.rendered == nil || f.crashed || !slices.Contains(f.beside, own) && !slices.Contains(own.beside, f) {
			continue
		}
		if !all.apart || f.region == own.region {
			return together(f, own)
		}
		doubt = unknown("event %d: %s made %s while %s was making it in another region, and no write has shown that "+
			"the tables are replicas",
			e.Seq, e.Actor, e.Key, f.actor).event(e.Seq)
	}
	if e.Request == "" && own.unread {
		return unknown("event %d: %s made %s, and META does not say whether it was fresh: it lacks generated_at (N) "+
			"or revalidate_seconds (N)",
			e.Seq, e.Actor, e.Key).event(e.Seq)
	}
	if e.Request == "" && own.fresh.After(e.Time.Add(all.skew)) && !all.belated(p, e) {
		return Finding{
			Verdict: Violated,
			Why: fmt.Sprintf("%s made %s, which had been fresh since it took the lease and was so for another %s",
				e.Actor, e.Key, span(e.Time, own.fresh)),
			Changes: []int{own.began}, Events: []int{e.Seq},
		}
	}
	return doubt
}

// belated reports whether a rendering may belong to a late turn of its actor, and ends that turn. A rendering does not
// show to which turn it belongs.
func (all *flights) belated(p *partition, e *history.Event) bool {
	if p == nil {
		return false
	}
	page := all.page(p)
	i := slices.IndexFunc(all.late[page], func(f *flight) bool {
		return f.actor == e.Actor && (e.Request != "" || !f.unread && !f.fresh.After(e.Time.Add(all.skew)))
	})
	if i < 0 {
		return false
	}
	all.late[page] = slices.Delete(all.late[page], i, i+1)
	return true
}

func together(first, second *flight) Finding {
	e := second.rendered
	return Finding{
		Verdict: Violated,
		Why: fmt.Sprintf("%s made %s while %s was making it, both under a lease that was not over", e.Actor, e.Key,
			first.actor),
		Changes: began(first, second),
		Events:  []int{first.rendered.Seq, e.Seq},
	}.done(true)
}

// began returns the changes that show that both flights have the lease. The last of them is the later one; a finding
// also shows the earlier changes of its key. If the two are in different regions, began returns both.
func began(first, second *flight) []int {
	from, to := min(first.began, second.began), max(first.began, second.began)
	if first.region == second.region {
		return []int{to}
	}
	return []int{from, to}
}
