package kernel

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/deadline"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/trace/request"
)

// sweeper is a sim.Source. If the schedule decides TTL's lag, the deletion of each expired row is a step. With a lag of
// the fake itself, it offers no steps, because the fake deletes the rows. But time stops at the end of the lag.
type sweeper struct {
	w *world
	// rows are the rows that may be deleted now, and steps are their numbers. Each row has a number, even where
	// accesses treat several rows as one.
	rows    []ddbfake.Row
	steps   []uint64
	touches [][]sim.Access // of each row
	// at is the time at which rows and steps were collected; seen is how many changes the log had then.
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
	s.seen, s.at, s.steps, s.touches = s.w.seen, now, s.steps[:0], s.touches[:0]
	s.rows = s.w.db.Expired()
	for _, row := range s.rows {
		parts := s.w.rowParts(row.Table, row.Key)
		touches := []sim.Access{rowAccess(true, parts)}
		if s.w.replicator != nil { // a deletion by TTL also goes to the other regions
			touches = s.w.touch(row.Region, true, parts...)
		}
		touches = s.w.withOrder(withPages(touches, s.w.rowPages(row.Table, row.Key), s.w.reached(row.Region)...))
		number := sim.ObjectNamed(rowObject, row.Region, row.Table, row.Key.String())
		s.steps, s.touches = append(s.steps, number), append(s.touches, touches)
	}
	return s.steps
}

func (s *sweeper) Accesses(step uint64) []sim.Access {
	if i := slices.Index(s.steps, step); i >= 0 {
		return s.touches[i]
	}
	return nil
}

func (s *sweeper) Take(step uint64) string {
	for i, row := range s.rows {
		if s.steps[i] != step {
			continue
		}
		s.w.db.Sweep(row)
		s.w.stored = s.w.changed()
		s.w.swept++
		s.w.noteChanges()
		where := ""
		if s.w.replicator != nil {
			where = " in " + row.Region
		}
		if s.w.rows != nil {
			return "deletes the expired " + s.w.rows.Key(row.Table, row.Key) + where
		}
		sk, _ := row.Key.Str("sk")
		return "deletes the expired " + sk + where
	}
	return ""
}

func (s *sweeper) Next(after time.Time) (time.Time, bool) {
	if s.w.comparesLags() {
		return time.Time{}, false // see Run.underOtherLags
	}
	return s.w.db.NextDeletion(after)
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

// noteDeadlines makes time stop at the deadlines of a translated row.
func (w *world) noteDeadlines(row attr.Item) {
	add := func(t time.Time, known bool) {
		if known {
			w.addDeadline(t)
		}
	}
	add(rowmap.Instant(row, "lease_expires_at"))
	add(rowmap.Instant(row, "ttl"))
	add(w.freshUntil(row))
}

// addDeadline makes time stop at a deadline of a row with the cache's own names.
func (w *world) addDeadline(t time.Time) {
	step := w.rows.mapping().Resolution()
	switch {
	case t.Unix() < 1 || t.Unix() > deadline.Latest:
	case step >= time.Second:
		w.deadlines.Add(t.Unix())
	default:
		w.deadlines.AddFine(t, step)
	}
}

// replicator is a sim.Source of the writes that are under way to other regions. If the schedule decides when they
// arrive, each arrival is a step, and writes of the same row may overtake each other. With a lag of the fake itself
// they arrive by themselves, and time stops at their arrivals.
type replicator struct {
	w     *world
	steps []uint64
	under []ddbfake.Change // the writes, in the order of steps
}

func (*replicator) Name() string { return "replication" }

// Apart implements sim.Apart: no bound of the scenario limits the number of arrivals.
func (*replicator) Apart() {}

var _ sim.Apart = (*replicator)(nil)

func (r *replicator) Steps() []uint64 {
	all := r.w.db.UnderWay()
	r.w.noteChanges() // the changes that have arrived by themselves
	r.steps, r.under = r.steps[:0], all
	if !r.w.scenario.RegionLag.Scheduler {
		return nil
	}
	nth := 0
	for i := range all {
		if nth++; i == 0 || !sameRow(&all[i], &all[i-1]) {
			nth = 0
		}
		r.steps = append(r.steps, sim.ObjectNamed(r.row(&all[i]), strconv.Itoa(nth)))
	}
	return r.steps
}

// sameRow reports whether two writes are under way to the same row.
func sameRow(a, b *ddbfake.Change) bool {
	return a.Region == b.Region && a.Table == b.Table && a.Key.Equal(b.Key)
}

// row names the row to which a write is under way.
func (r *replicator) row(c *ddbfake.Change) string { return c.Region + " " + c.Table + c.Key.String() }

func (r *replicator) Accesses(step uint64) []sim.Access {
	i := slices.Index(r.steps, step)
	if i < 0 || r.under[i].Key == nil {
		return nil
	}
	c := &r.under[i]
	return r.w.withOrder(withPages(arrivalIn(c.Region, r.w.rowParts(c.Table, c.Key)...),
		r.w.rowPages(c.Table, c.Key), c.Region))
}

func (r *replicator) Take(step uint64) string {
	i := slices.Index(r.steps, step)
	if i < 0 {
		return ""
	}
	c := r.under[i]
	r.w.db.Deliver(c)
	r.w.stored = r.w.changed()
	r.w.noteChanges()
	return r.w.words().Key(c) + " arrives in " + c.Region
}

func (r *replicator) Next(after time.Time) (next time.Time, ok bool) {
	for i := range r.under {
		if at := r.under[i].Time; at.After(after) && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok
}

// fingerprint is the fingerprint of the writes under way: for each row of each region, the writes to the row in their
// order. The order of writes to different rows does not matter.
func (r *replicator) fingerprint() (sum fingerprint.Hash) {
	all := r.w.db.UnderWay()
	for i := 0; i < len(all); {
		h := fingerprint.Hash(0).Text(r.row(&all[i]))
		j := i
		for ; j < len(all) && sameRow(&all[i], &all[j]); j++ {
			c := &all[j]
			h = h.Text(c.Actor).Number(uint64(request.ItemFingerprint(c.After, request.AsItIs)))
			if c.After == nil {
				h = h.Number(1)
			}
			if !c.Time.IsZero() {
				h = h.Number(uint64(c.Time.UnixNano()))
			}
		}
		sum, i = sum+h, j
	}
	if !r.w.scenario.RegionLag.Scheduler { // the next lag may depend on the number of the write
		sum = sum.Number(uint64(r.w.db.Sent()))
	}
	return sum
}

// rowParts is partsOf for a row of the store. Faults of a row must use the same name as requests.
func (w *world) rowParts(table string, key attr.Item) []string { return w.partsOf(&table, key.ToSDK()) }

// rowPages returns the pages to which a row belongs.
func (w *world) rowPages(table string, key attr.Item) []string {
	return w.rows.mapping().PagesOf(table, key.ToSDK())
}

// reached returns the regions that a write in the given region may reach at once; that region comes first.
func (w *world) reached(region string) []string {
	if w.replicator == nil {
		return []string{""}
	}
	all := []string{region}
	if w.scenario.RegionLag.Scheduler {
		return all
	}
	for _, other := range w.scenario.Regions() {
		if other != region {
			all = append(all, other)
		}
	}
	return all
}

// accessIn returns the accesses of a request to a row in one of several regions. The later of two writes of a row wins,
// even across regions. So a write also accesses the order of the row's writes.
func accessIn(region string, write bool, row ...string) []sim.Access {
	in := sim.Access{Object: sim.ObjectNamed(append([]string{rowObject, region}, row...)...), Write: write}
	if !write {
		return []sim.Access{in}
	}
	return []sim.Access{in, {Object: sim.ObjectNamed(append([]string{orderObject}, row...)...), Write: true}}
}

// touch does the same as accessIn, and considers the scenario's lag between regions. With a lag of the fake itself, a
// write may arrive at once in the other regions, and its lag may depend on its number among all writes.
func (w *world) touch(region string, write bool, row ...string) []sim.Access {
	all := accessIn(region, write, row...)
	if !write || w.scenario.RegionLag.Scheduler {
		return all
	}
	for _, other := range w.scenario.Regions() {
		if other != region {
			all = append(all, arrivalIn(other, row...)...)
		}
	}
	return append(all, sim.Access{Object: sim.ObjectNamed(orderObject), Write: true})
}

// arrivalIn is the access of a write that arrives in a region. It does not depend on a write made in another region
// meanwhile: that write is younger, whichever of the two comes first.
func arrivalIn(region string, row ...string) []sim.Access {
	return accessIn(region, true, row...)[:1]
}

// With sim.UnreadDeadlines a search assumes that nothing reads the ttl of LOCK rows: no code of a node, no expression
// in a request, and no invariant. deadline.Stops says where time then need not stop. The functions below find code and
// expressions that do read it.

// noteTTL makes time stop at the ttl of a row. If no code reads the ttl, time need only stop a second later, when the
// row may first be deleted by the schedule, or by a lag whose end stops no time (see sweeper.Next).
func (w *world) noteTTL(key, row attr.Item) {
	if at, has := row.Int(defaultTTL); has && w.ttl != defaultTTL {
		w.deadlines.Add(at)
	}
	ttl, has := row.Int(w.ttl)
	if !has {
		return
	}
	if sk, _ := key.Str("sk"); rowmap.RoleOf(sk) != rowmap.Lock || !w.unread {
		w.deadlines.Add(ttl)
		return
	}
	w.deadlines.AddUnread(ttl, w.scenario.Lag.Scheduler || len(w.scenario.CompareLags) > 0)
}

// notePassed notes, for a search, the times in a row at which time does not stop: its ttl if TTL never deletes, and
// times in other attributes.
func (w *world) notePassed(row attr.Item) {
	now := w.clock.Now().Add(w.scenario.Skew)
	//isrsim:unordered each by itself
	for name, value := range row {
		at, is := instantOf(value)
		switch {
		case !is || !at.After(now) || at.After(now.AddDate(10, 0, 0)):
		case name == w.ttl:
			if _, number := value.(attr.N); number && w.scenario.Lag == (spec.Lag{Fixed: ddbfake.LagNever}) {
				w.subjects[hooks.NeverDeleted] = true
			}
		case !w.deadlines.Near(at):
			w.subjects[hooks.Passed+name] = true
		}
	}
}

// instantOf reads a value that looks like a time of these years, in any unit.
func instantOf(value attr.Value) (at time.Time, is bool) {
	text := ""
	switch v := value.(type) {
	case attr.S:
		text = string(v)
	case attr.N:
		text = v.String()
	}
	for _, unit := range []string{"s", "ms", "us", "ns", "iso8601"} {
		if len(text) < 10 { // since 2001, times have at least ten digits
			break
		}
		if at, is = rowmap.Parse(text, unit); is && at.Year() < 9999 {
			return at, true
		}
	}
	return time.Time{}, false
}

// Hidden implements sim.Hidden: it returns other values for the ttl of LOCK rows. For the skipped instants, these are a
// second from now, now, and a second ago, by true time and by the node's clock. For code that reads the ttl in another
// way, they are a time long ago, and a value that is not a number.
func (r *storeRequest) Hidden(answer any, now, local time.Time) (veiled []any) {
	a, is := answer.(storeAnswer)
	if !is || !r.node.world.unread {
		return nil
	}
	values := []types.AttributeValue{&types.AttributeValueMemberN{Value: "1"},
		&types.AttributeValueMemberS{Value: "veiled"}}
	around := func(at time.Time) {
		for _, d := range []int64{1, 0, -1} {
			values = append(values, &types.AttributeValueMemberN{Value: strconv.FormatInt(at.Unix()+d, 10)})
		}
	}
	if around(now); r.node.world.skewed {
		around(local)
	}
	for _, ttl := range values {
		out, found, err := request.WithLockTTL(a.out, a.err, ttl)
		if !found {
			return nil
		}
		print, _ := request.AnswerFingerprint(out, err, request.AsItIs)
		veiled = append(veiled, storeAnswer{out, err, print})
	}
	return veiled
}

// ends tracks when leases and freshness in rows end, for a search that reports which of these times it tried.
type ends struct {
	tried    hooks.Ends // nil if nobody needs them
	standing []standing // copied on write: moments that are kept share it
}

// endOf names an end by the region and the partition of its row.
type endOf struct {
	region, pk string
	lock       bool // false for the page
}

// standing is the end that a row holds now.
type standing struct {
	row       endOf
	of        hooks.End
	at, exact time.Time // as the row says, and counted from the write without rounding
}

// find returns the deadline in a row, or the zero end.
func (e *ends) find(row endOf) standing {
	for _, s := range e.standing {
		if s.row == row {
			return s
		}
	}
	return standing{}
}

// noteEnd notes the end of a lease or of freshness that a change of a row sets.
func (w *world) noteEnd(c *ddbfake.Change) {
	if w.ends.tried == nil {
		return
	}
	pk, _ := c.Key.Str("pk")
	sk, _ := c.Key.Str("sk")
	role := rowmap.RoleOf(sk)
	if role&(rowmap.Page|rowmap.Lock) == 0 {
		return
	}
	row := endOf{c.Region, pk, role == rowmap.Lock}
	was := w.ends.find(row)
	w.ends.standing = slices.DeleteFunc(slices.Clone(w.ends.standing), func(s standing) bool { return s.row == row })
	now := standing{row: row, of: hooks.End{Page: w.pageOf(pk)}, exact: c.Time.Add(w.scenario.Cache.Revalidate)}
	known := false
	if row.lock {
		now.exact = c.Time.Add(w.scenario.Cache.Lease)
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
		w.ends.standing = append(w.ends.standing, now)
		w.ends.tried.Note(now.of)
	}
}

// meetsPart notes that a request showed a rounding to seconds, if no row has a time finer than a second: then a sleep
// chose the fraction.
func (w *world) meetsPart() {
	if len(w.deadlines.Fine) == 0 {
		w.subjects[hooks.SomeParts] = true
	}
}

// tryEnds notes the ends that a request tried. It looks at the rows before the changes of the request.
func (w *world) tryEnds(r *storeRequest) {
	if w.ends.tried == nil || w.quiet || w.struck != 0 && !takesEffect(w.struck) {
		return
	}
	for _, p := range w.deadlines.Parts {
		if p.Actor != r.call.Actor && hooks.Rounds(p.End, r.call.Sent, true) {
			w.subjects[hooks.MeetsParts] = true
			w.meetsPart()
		}
	}
	region := cmp.Or(r.call.Region, ddbfake.DefaultRegion)
	meet := func(row endOf) {
		if s := w.ends.find(row); s.row == row {
			w.ends.tried.Try(s.of, s.at, s.exact, r.call.Sent)
			if hooks.Rounds(s.exact, r.call.Sent, row.lock) {
				w.meetsPart()
			}
		}
	}
	w.db.Rows(r.call, func(table string, key map[string]types.AttributeValue) {
		pk, roles := w.rows.place(&table, key)
		if roles.Has(rowmap.Lock) {
			meet(endOf{region, pk, true})
		}
		if roles.Has(rowmap.Page) {
			meet(endOf{region, pk, false})
		}
	})
}
