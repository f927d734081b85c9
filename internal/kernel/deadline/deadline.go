// Package deadline computes the instants at which time stops in a run: deadlines in rows, and a little before and after
// them. An error of one second shows only there.
package deadline

import (
	"math"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/sim"
)

// Stops is a sim.Source without steps. It stops time at the deadlines in rows (the end of a lease, the end of
// freshness, ttl), a second before and a second after each of them, and at the ends of the windows of faults.
type Stops struct {
	At []int64 // epoch seconds, sorted, each once
	// All says that time stops at all deadlines. Otherwise stops finer than a second (Fine) come before all whole
	// seconds (At).
	All bool
	// Skew is the promised clock skew if time stops on both sides of the invariants' tolerance; else 0.
	Skew time.Duration
	// Fine is like At, but in nanoseconds, for rows whose times are finer than seconds.
	Fine []int64
	// Windows are the ends of faults' windows, sorted, each once.
	Windows []time.Time
	// Unread is like At, for the ttl of LOCK rows that no code reads.
	Unread []int64
	// Parts are the promises of locks and calls that end at a fraction of a second.
	Parts []Part
}

// Part is a promise to an actor that ends at a fraction of a second.
type Part struct {
	Actor string
	End   time.Time
}

// Name implements sim.Source.
func (*Stops) Name() string { return "deadlines" }

// Steps implements sim.Source.
func (*Stops) Steps() []uint64 { return nil }

// Accesses implements sim.Source.
func (*Stops) Accesses(uint64) []sim.Access { return nil }

// Take implements sim.Source.
func (*Stops) Take(uint64) string { return "" }

// Next implements sim.Source.
func (d *Stops) Next(now time.Time) (time.Time, bool) {
	next, ok := d.nextOfRows(now)
	for _, at := range d.Windows {
		if at.After(now) && (!ok || at.Before(next)) {
			return at, true
		}
	}
	return next, ok
}

// nextOfRows does the same as Next, but only for the deadlines of rows.
func (d *Stops) nextOfRows(now time.Time) (time.Time, bool) {
	second := now.Unix()
	var fine time.Time
	for _, at := range d.Fine {
		if at > now.UnixNano() {
			fine = time.Unix(0, at).UTC()
			break
		}
	}
	if !fine.IsZero() && !d.All {
		return fine, true
	}
	var next int64
	for _, stops := range [][]int64{d.At, d.Unread} {
		if i, _ := slices.BinarySearch(stops, second+1); i < len(stops) && (next == 0 || stops[i] < next) {
			next = stops[i]
		}
	}
	if at := time.Unix(next, 0).UTC(); next > 0 && (fine.IsZero() || at.Before(fine)) {
		return at, true
	}
	return fine, !fine.IsZero()
}

// Note adds the deadlines of a row, except its ttl.
func (d *Stops) Note(row attr.Item) {
	if expires, ok := row.Int("lease_expires_at"); ok {
		d.Add(expires)
	}
	generated, okG := row.Int("generated_at")
	if revalidate, ok := row.Int("revalidate_seconds"); ok && okG {
		d.Add(generated + revalidate)
	}
}

// Latest is the last second that a deadline may name: the end of year 9999.
const Latest = 253402300799

// Add adds the deadline at a second.
func (d *Stops) Add(second int64) {
	d.At = insertStops(d.At, second-1, second+1)
	if d.Skew > 0 {
		once, twice := seconds(d.Skew), seconds(2*d.Skew)
		d.At = insertStops(d.At, second-once-1, second-once-1)
		d.At = insertStops(d.At, second+once, second+once)
		d.At = insertStops(d.At, second+twice+1, second+twice+1)
	}
}

// seconds returns d in whole seconds, rounded up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// insertStops adds all seconds from first to last to sorted stops.
func insertStops(stops []int64, first, last int64) []int64 {
	if first < 0 || last > Latest+1 {
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

// AddFine adds a deadline of rows whose times are finer than seconds: a second before it, the smallest step before it,
// the deadline, and a second after it. With All, time also stops on both sides of the invariants' tolerance: a page may
// still be fresh at the very end.
func (d *Stops) AddFine(t time.Time, step time.Duration) {
	d.AddStops(t.Add(-time.Second), t.Add(-step), t, t.Add(time.Second))
	if d.All {
		d.AddStops(t.Add(-d.Skew-step), t.Add(d.Skew), t.Add(2*d.Skew+step))
	}
}

// never is the last instant whose nanoseconds fit in an int64. No run reaches it, but times in rows may be later.
var never = time.Unix(0, math.MaxInt64)

// AddStops makes time stop at instants that need not be whole seconds.
func (d *Stops) AddStops(instants ...time.Time) {
	for _, stop := range instants {
		if stop.After(never) {
			continue
		}
		at := stop.UnixNano()
		if i, exists := slices.BinarySearch(d.Fine, at); !exists {
			d.Fine = slices.Insert(d.Fine, i, at)
		}
	}
}

// Near says whether time stops within a second of an instant.
func (d *Stops) Near(at time.Time) bool {
	second := func(stop int64) bool { return stop-1 <= at.Unix() && at.Unix() <= stop+1 }
	return slices.ContainsFunc(d.At, second) || slices.ContainsFunc(d.Unread, second) ||
		slices.ContainsFunc(d.Fine, func(nanos int64) bool { return time.Unix(0, nanos).Sub(at).Abs() <= time.Second })
}

// Idle implements sim.Idle. The last stop of all is not idle: code may compare the clock with an instant that it
// computed, such as some time after the end of a lease, and at the last stop that instant has passed.
func (d *Stops) Idle(t time.Time) bool {
	_, unread := slices.BinarySearch(d.Unread, t.Unix())
	_, read := slices.BinarySearch(d.At, t.Unix())
	return unread && !read && !slices.Contains(d.Fine, t.UnixNano()) && t.Nanosecond() == 0 && t.Unix() != d.Last() &&
		!slices.ContainsFunc(d.Windows, t.Equal)
}

// Last returns the last second at which time stops if its only reason is a hidden deadline; else 0.
func (d *Stops) Last() int64 {
	n, unread := len(d.At), len(d.Unread)
	if unread == 0 || n > 0 && d.At[n-1] >= d.Unread[unread-1] {
		return 0
	}
	return d.Unread[unread-1]
}

// AddUnread adds the ttl of a LOCK row, which no code reads. If the schedule may delete the row, which it may from the
// second after its ttl on, time stops at that second.
func (d *Stops) AddUnread(ttl int64, deletes bool) {
	d.Unread = insertStops(d.Unread, ttl-1, ttl+1)
	if deletes {
		d.At = insertStops(d.At, ttl+1, ttl+1)
	}
}

// Reset drops all stops, and keeps their memory.
func (d *Stops) Reset() {
	*d = Stops{At: d.At[:0], All: d.All, Skew: d.Skew, Fine: d.Fine[:0], Windows: d.Windows[:0], Unread: d.Unread[:0],
		Parts: d.Parts[:0]}
}

// Clone returns a copy.
func (d *Stops) Clone() Stops {
	return Stops{slices.Clone(d.At), d.All, d.Skew, slices.Clone(d.Fine),
		slices.Clone(d.Windows), slices.Clone(d.Unread), slices.Clone(d.Parts)}
}
