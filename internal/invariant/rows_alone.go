package invariant

import (
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Watchers judge a growing log by several invariants that have a Watch, with one memory for all of them. They are not
// safe for concurrent use.
type Watchers struct {
	l    *ledger
	invs []Invariant
}

// WatchAll begins to judge a log. It leaves out invariants that need more than a log.
func WatchAll(p Promise, invs ...Invariant) *Watchers {
	w := &Watchers{l: newLedger(p)}
	for i := range invs {
		if invs[i].judge != nil {
			w.invs = append(w.invs, invs[i])
		}
	}
	return w
}

// Take judges the changes of one request, and passes on the findings that are not ok.
func (w *Watchers) Take(request []ddbfake.Change, found func(*Invariant, Finding)) {
	w.l.take(request, func(s *step) {
		for i := range w.invs {
			if f := w.invs[i].judge(s); f.Verdict != OK {
				found(&w.invs[i], f)
			}
		}
	})
	if p := w.l.last; len(p.took) > keptTurns {
		p.took = slices.Delete(p.took, 0, len(p.took)-keptTurns)
	}
}

// keptTurns is the number of turns at a lock that watchers remember. In a long log, each turn may have another holder.
const keptTurns = 16

// Forget drops the memory of the key of a change.
func (w *Watchers) Forget(c *ddbfake.Change) {
	id, _ := role(*c)
	w.l.forget(id)
}

// forget drops a partition.
func (l *ledger) forget(id rowID) {
	if l.partitions == nil && l.last != nil {
		l.partitions = map[rowID]*partition{l.first.rowID: &l.first}
	}
	delete(l.partitions, id)
	if l.last != nil && l.last.rowID == id {
		l.last = &partition{} // the row ID of no change
	}
}

// PageFacts are what a META row says of its page, for those who have only rows.
type PageFacts struct {
	Shown      bool      // the row shows a page
	Version    string    // the sort key of the version that it leads to, or ""
	Generated  time.Time // zero if the row does not say it
	FreshUntil time.Time // zero if the row does not say it
	Content    string    // the same for equal pages
}

// Page reads a META row, under the bounds of a promise.
func Page(p Promise, row attr.Item) (f PageFacts) {
	if row == nil {
		return f
	}
	f.Shown, f.Content = isPage(row), content(row)
	f.Version, _ = row.Str("current_sk")
	if at, known := p.generatedAt(row); known {
		f.Generated = at
	}
	if until, known := p.freshUntil(row); known {
		f.FreshUntil = until
	}
	return f
}

// LeaseFacts are what a LOCK row says of its lease.
type LeaseFacts struct {
	Token   string    // "" if nobody holds it
	Expires time.Time // zero if the row has no end
	Endless bool      // it is held until it is given back
}

// Lease reads a LOCK row.
func Lease(row attr.Item) LeaseFacts {
	l, _ := readLease(row)
	return LeaseFacts{l.token, l.expires, l.endless()}
}
