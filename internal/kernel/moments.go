package kernel

import (
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/trace/request"
)

// sweeper is a sim.Source. If the schedule decides TTL's lag, the deletion of each expired row is a step. With a lag of
// the fake itself, it offers no steps, because the fake deletes the rows. But time stops at the end of the lag.
type sweeper struct {
	w *world
	// rows are the rows that may be deleted now, and steps are their numbers: each row has its own, even where several
	// rows count as one in accesses.
	rows    []ddbfake.Row
	steps   []uint64
	touches [][]sim.Access // of each
	// rows and steps were collected at the time at, when the log had the number seen of changes.
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

// deadlines is a sim.Source without steps. It stops time at the deadlines in rows (the end of a lease, the end of
// freshness, ttl), a second before and a second after each of them, and at the ends of the windows of faults. Only
// there can an error by one second be seen.
type deadlines struct {
	at []int64 // epoch seconds, sorted, each once
	// all says that time stops at all of these. Otherwise time points finer than a second (fine) come before whole
	// seconds (at).
	all bool
	// skew is the promised clock skew if time stops on both sides of the invariants' tolerance; else 0.
	skew time.Duration
	// fine are the same for rows whose times are finer than seconds, in nanoseconds.
	fine []int64
	// windows are the ends of faults' windows, sorted, each once.
	windows []time.Time
	// unread are stops as in at, for the ttl of LOCK rows, if no code looks at it: see world.unread.
	unread []int64
	// parts are the promises of locks and calls that end at a part of a second.
	parts []parting
}

// parting is a promise to an actor that ends at a part of a second.
type parting struct {
	actor string
	end   time.Time
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

// nextOfRows does the same as Next, but only for the deadlines of rows.
func (d *deadlines) nextOfRows(now time.Time) (time.Time, bool) {
	second := now.Unix()
	var fine time.Time
	for _, at := range d.fine {
		if at > now.UnixNano() {
			fine = time.Unix(0, at).UTC()
			break
		}
	}
	if !fine.IsZero() && !d.all {
		return fine, true
	}
	var next int64
	for _, stops := range [][]int64{d.at, d.unread} {
		if i, _ := slices.BinarySearch(stops, second+1); i < len(stops) && (next == 0 || stops[i] < next) {
			next = stops[i]
		}
	}
	if at := time.Unix(next, 0).UTC(); next > 0 && (fine.IsZero() || at.Before(fine)) {
		return at, true
	}
	return fine, !fine.IsZero()
}

// note adds the deadlines of a row but for its ttl.
func (d *deadlines) note(row attr.Item) {
	if expires, ok := row.Int("lease_expires_at"); ok {
		d.add(expires)
	}
	generated, okG := row.Int("generated_at")
	if revalidate, ok := row.Int("revalidate_seconds"); ok && okG {
		d.add(generated + revalidate)
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
	d.at = insertStops(d.at, second-1, second+1)
	if d.skew > 0 {
		once, twice := seconds(d.skew), seconds(2*d.skew)
		d.at = insertStops(d.at, second-once-1, second-once-1)
		d.at = insertStops(d.at, second+once, second+once)
		d.at = insertStops(d.at, second+twice+1, second+twice+1)
	}
}

// seconds rounds up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// insertStops adds all seconds from first to last to sorted stops.
func insertStops(stops []int64, first, last int64) []int64 {
	if first < 0 || last > latest+1 {
		return stops
	}
	if stops == nil {
		stops = make([]int64, 0, 12) // enough for the deadlines of a lease and a page, twice
	}
	for s := first; s <= last; s++ {
		if i, exists := slices.BinarySearch(stops, s); !exists {
			stops = slices.Insert(stops, i, s)
		}
	}
	return stops
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

// addDeadline makes time stop at a deadline of a row that has names of its own.
func (w *world) addDeadline(t time.Time) {
	step := w.rows.mapping().Resolution()
	switch {
	case t.Unix() < 1 || t.Unix() > latest:
	case step >= time.Second:
		w.deadlines.add(t.Unix())
	default:
		w.deadlines.addFine(t, step)
	}
}

// addFine adds a deadline of rows whose times are finer than seconds: a second before it, the smallest step before it,
// the deadline, and a second after it. With all, time also stops on both sides of the invariants' tolerance: a page may
// still be fresh at the very end.
func (d *deadlines) addFine(t time.Time, step time.Duration) {
	d.addStops(t.Add(-time.Second), t.Add(-step), t, t.Add(time.Second))
	if d.all {
		d.addStops(t.Add(-d.skew-step), t.Add(d.skew), t.Add(2*d.skew+step))
	}
}

// addStops makes time stop at instants that need not be whole seconds.
func (d *deadlines) addStops(instants ...time.Time) {
	for _, stop := range instants {
		at := stop.UnixNano()
		if i, exists := slices.BinarySearch(d.fine, at); !exists {
			d.fine = slices.Insert(d.fine, i, at)
		}
	}
}

// regions returns the regions that have a replica of the table: first the default region, then the others in the order
// of the actors. It returns nil if there is only the default region.
func (s *Scenario) regions() []string {
	all := []string{ddbfake.DefaultRegion}
	for i := range s.Actors {
		if r := s.Actors[i].Region; r != "" && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	if len(all) == 1 {
		return nil
	}
	return all
}

// replicator is a sim.Source of the writes that are under way to other regions. If the schedule decides when they
// arrive, each arrival is a step, and writes of the same row may overtake each other. With a lag of the fake itself
// they arrive by themselves, and time stops at their arrivals.
type replicator struct {
	w     *world
	steps []uint64
	under []ddbfake.Change // the writes, in the order of steps
}

func (*replicator) Name() string { return replication }

// Apart implements sim.Apart: no bound of the scenario limits the number of arrivals.
func (*replicator) Apart() {}

var _ sim.Apart = (*replicator)(nil)

// replication is the name of the source in a trace.
const replication = "replication"

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

// reached are the regions that a write in one of them may reach at once: that region first.
func (w *world) reached(region string) []string {
	if w.replicator == nil {
		return []string{""}
	}
	all := []string{region}
	if w.scenario.RegionLag.Scheduler {
		return all
	}
	for _, other := range w.scenario.regions() {
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
	for _, other := range w.scenario.regions() {
		if other != region {
			all = append(all, arrivalIn(other, row...)...)
		}
	}
	return append(all, sim.Access{Object: sim.ObjectNamed(orderObject), Write: true})
}

// arrivalIn is the access of a write that arrives in a region. It does not depend on a write that is made in another
// region meanwhile: that write is younger, whichever of the two comes first.
func arrivalIn(region string, row ...string) []sim.Access {
	return accessIn(region, true, row...)[:1]
}

// regionOf is the region to which a call of a node goes: the node's region, unless the options of the call name another
// one, as a real client's may do.
func (n *node) regionOf(options []func(*dynamodb.Options)) string {
	if n.world.replicator == nil {
		return ""
	}
	o := dynamodb.Options{Region: n.region}
	for _, set := range options {
		set(&o)
	}
	return o.Region
}
