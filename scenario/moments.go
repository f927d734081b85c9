package scenario

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// sweeper is a sim.Source. If the schedule decides TTL's lag, the deletion of each expired row is a step. Under one of
// the fake's own lags it offers no steps, since the fake deletes by itself, but time stops where the lag ends.
type sweeper struct {
	w *world
	// rows are the rows that may be deleted now, and steps are their numbers: the thing that a write of each accesses.
	rows  []ddbfake.Row
	steps []uint64
	// rows and steps were collected at this time, when the log had this number of changes.
	seen int
	at   time.Time
}

func (*sweeper) Name() string { return "ttl" }

func (s *sweeper) Steps() []uint64 {
	bound := s.w.scenario.Bounds.Sweeps
	if !s.w.scenario.Lag.Scheduler || bound > 0 && s.w.swept >= bound {
		return nil
	}
	now := s.w.clock.Now()
	if s.seen == s.w.seen && s.at.Equal(now) {
		return s.steps
	}
	s.seen, s.at, s.steps = s.w.seen, now, s.steps[:0]
	s.rows = s.w.db.Expired()
	for _, row := range s.rows {
		pk, _ := row.Key.Str("pk")
		sk, _ := row.Key.Str("sk")
		step := sim.ObjectNamed(rowObject, pk, sk)
		if s.w.rows != nil {
			step = sim.ObjectNamed(rowObject, row.Table+row.Key.String())
		}
		s.steps = append(s.steps, step)
	}
	return s.steps
}

func (*sweeper) Accesses(step uint64) []sim.Access { return []sim.Access{{Object: step, Write: true}} }

func (s *sweeper) Take(step uint64) string {
	for i, row := range s.rows {
		if s.steps[i] != step {
			continue
		}
		s.w.db.Sweep(row)
		s.w.swept++
		s.w.noteChanges()
		if s.w.rows != nil {
			return "deletes the expired " + s.w.rows.Key(row.Table, row.Key)
		}
		sk, _ := row.Key.Str("sk")
		return "deletes the expired " + sk
	}
	return ""
}

func (s *sweeper) Next(time.Time) (time.Time, bool) {
	if len(s.w.scenario.CompareLags) > 0 {
		return time.Time{}, false // see Run.underOtherLags
	}
	return inside.In(&s.w.db).NextDeletion()
}

// deadlines is a sim.Source without steps: it stops time where the rows' own deadlines are (the end of a lease, of
// freshness, ttl), a second before and a second after, and at the ends of the windows of faults. An off-by-one is visible
// nowhere else.
type deadlines struct {
	at []int64 // epoch seconds, sorted, each once
	// fine are the deadlines of rows whose times are finer than seconds, in nanoseconds, in the same way.
	fine []int64
	// windows are the ends of faults' windows, sorted, each once.
	windows []time.Time
}

func (*deadlines) Name() string { return "deadlines" }

func (*deadlines) Steps() []uint64 { return nil }

func (*deadlines) Accesses(uint64) []sim.Access { return nil }

func (*deadlines) Take(uint64) string { return "" }

func (d *deadlines) Next(now time.Time) (time.Time, bool) {
	next, ok := d.nextOfRows(now)
	for _, at := range d.windows {
		if at.After(now) && (!ok || at.Before(next)) {
			return at, true
		}
	}
	return next, ok
}

// nextOfRows is Next for the deadlines of rows.
func (d *deadlines) nextOfRows(now time.Time) (time.Time, bool) {
	second := now.Unix()
	for _, at := range d.fine {
		if at > now.UnixNano() {
			return time.Unix(0, at).UTC(), true // rows have one resolution, so there are no others
		}
	}
	for _, at := range d.at { // there are few
		if at > second {
			return time.Unix(at, 0).UTC(), true
		}
	}
	return time.Time{}, false
}

// note adds the deadlines of a row.
func (d *deadlines) note(row attr.Item) {
	if expires, ok := row.Int("lease_expires_at"); ok {
		d.add(expires)
	}
	generated, okG := row.Int("generated_at")
	if revalidate, ok := row.Int("revalidate_seconds"); ok && okG {
		d.add(generated + revalidate)
	}
	if ttl, ok := row.Int("ttl"); ok {
		d.add(ttl)
	}
}

// freshUntil is the end of the freshness of a META row.
func (w *world) freshUntil(row attr.Item) (time.Time, bool) {
	if until, has := rowmap.Instant(row, "fresh_until"); has {
		return until, true
	}
	generated, known := rowmap.Instant(row, "generated_at")
	if window, has := rowmap.Instant(row, "revalidate_seconds"); has {
		return generated.Add(window.Sub(time.Unix(0, 0))), known
	}
	return generated.Add(w.scenario.Cache.Revalidate), known
}

// latest is the last second that a deadline may name: the end of year 9999.
const latest = 253402300799

func (d *deadlines) add(second int64) {
	if second < 1 || second > latest {
		return
	}
	if d.at == nil {
		d.at = make([]int64, 0, 12) // twice the deadlines of a lease and a page
	}
	for s := second - 1; s <= second+1; s++ {
		if i, exists := slices.BinarySearch(d.at, s); !exists {
			d.at = slices.Insert(d.at, i, s)
		}
	}
}

// noteDeadlines makes time stop at the deadlines of a translated row.
func (w *world) noteDeadlines(row attr.Item) {
	step := w.rows.Resolution()
	add := func(t time.Time, known bool) {
		switch {
		case !known || t.Unix() < 1 || t.Unix() > latest:
		case step >= time.Second:
			w.deadlines.add(t.Unix())
		default:
			w.deadlines.addFine(t, step)
		}
	}
	add(rowmap.Instant(row, "lease_expires_at"))
	add(rowmap.Instant(row, "ttl"))
	add(w.freshUntil(row))
}

// addFine adds a deadline of rows whose times are finer than seconds: a second before it, the smallest step before it,
// the deadline, and a second after it.
func (d *deadlines) addFine(t time.Time, step time.Duration) {
	for _, stop := range []time.Time{t.Add(-time.Second), t.Add(-step), t, t.Add(time.Second)} {
		at := stop.UnixNano()
		if i, exists := slices.BinarySearch(d.fine, at); !exists {
			d.fine = slices.Insert(d.fine, i, at)
		}
	}
}

// ends follows the ends of leases and of freshness that the rows hold, for a search that reports the ends that it met.
type ends struct {
	met      hooks.Ends // nil is nobody asks
	standing map[endOf]standing
}

// endOf names an end by the partition of its row.
type endOf struct {
	pk   string
	lock bool // or the page
}

// standing is the end that a row holds now.
type standing struct {
	of hooks.End
	at time.Time
}

// noteEnd notes the end of a lease or of freshness that a change of LOCK or META sets.
func (w *world) noteEnd(c *ddbfake.Change) {
	if w.ends.met == nil {
		return
	}
	pk, _ := c.Key.Str("pk")
	sk, _ := c.Key.Str("sk")
	if sk != isr.SortLock && sk != isr.SortMeta {
		return
	}
	of := endOf{pk, sk == isr.SortLock}
	was := w.ends.standing[of]
	delete(w.ends.standing, of)
	now := standing{of: hooks.End{Page: w.pageOf(pk)}}
	known := false
	if of.lock {
		now.at, known = rowmap.Instant(c.After, "lease_expires_at")
		now.of.Actor = w.actorOf(c.Actor)
		token, _ := c.After.Str("lease_token")
		if before, _ := c.Before.Str("lease_token"); before == token && was.of.Actor != "" {
			now.of.Actor = was.of.Actor
		}
	} else {
		now.at, known = w.freshUntil(c.After)
	}
	if known && !w.quiet {
		w.ends.standing[of] = now
		w.ends.met.Note(now.of)
	}
}

// meetEnds notes, before the changes of a served request, the ends that the request met.
func (w *world) meetEnds(r *storeRequest) {
	if w.ends.met == nil || w.quiet || w.struck != 0 && !takesEffect(w.struck) {
		return
	}
	meet := func(of endOf) {
		if s, stands := w.ends.standing[of]; stands {
			w.ends.met.Meet(s.of, s.at, r.call.Sent)
		}
	}
	eachRow(r.call.Input, func(table *string, key map[string]types.AttributeValue, _ bool) {
		if w.rows == nil {
			pk, _ := key["pk"].(*types.AttributeValueMemberS)
			sk, _ := key["sk"].(*types.AttributeValueMemberS)
			if pk != nil && sk != nil && (sk.Value == isr.SortLock || sk.Value == isr.SortMeta) {
				meet(endOf{pk.Value, sk.Value == isr.SortLock})
			}
			return
		}
		pk, roles := w.rows.place(table, key)
		if roles.Has(rowmap.Lock) {
			meet(endOf{pk, true})
		}
		if roles.Has(rowmap.Page) {
			meet(endOf{pk, false})
		}
	})
}

// noteSubjects adds the invariants that have something to judge in the run.
func (w *world) noteSubjects(judged map[string]bool, ev invariant.Evidence) {
	if judged == nil {
		return
	}
	ev.Changes, ev.Schema = w.changes(), isr.Schema{}
	for _, inv := range invariant.All() {
		if !judged[inv.Name] && inside.In(&inv).HasSubject(inv.Name, ev) {
			judged[inv.Name] = true
		}
	}
}

// pageOf names the page of a partition. If there is only one page, the row belongs to it, whatever key the cache gives
// it.
func (w *world) pageOf(pk string) string {
	if name, known := w.pages.NameOf(pk); known {
		return name
	}
	if all := w.pages.all(); len(all) == 1 {
		return all[0].String()
	}
	return pk
}

// actorOf is the actor behind a client, without the incarnation: alice, for alice.2.
func (w *world) actorOf(client string) string {
	for i := range w.scenario.Actors {
		if name := w.scenario.Actors[i].Name; client == name || strings.HasPrefix(client, name+".") {
			return name
		}
	}
	return client
}
