package scenario

import (
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// deadlines is a sim.Source without steps: it stops time where the rows' own deadlines are (the end of a lease, of
// freshness, ttl), a second before and a second after, and at the ends of the windows of faults. An off-by-one is visible
// nowhere else.
type deadlines struct {
	at []int64 // epoch seconds, sorted, each once
	// fine are those of rows whose times are finer than seconds, in nanoseconds, in the same way.
	fine []int64
	// windows are the ends of those of faults, sorted, each once.
	windows []time.Time
}

// Name implements sim.Source.
func (*deadlines) Name() string { return "deadlines" }

// Steps implements sim.Source.
func (*deadlines) Steps() []uint64 { return nil }

// Accesses implements sim.Source.
func (*deadlines) Accesses(uint64) []sim.Access { return nil }

// Take implements sim.Source.
func (*deadlines) Take(uint64) string { return "" }

// Next implements sim.Source.
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
