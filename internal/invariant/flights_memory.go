package invariant

import (
	"slices"
	"strconv"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/scenario/history"
)

func (all *flights) Change(c ddbfake.Change) { all.log.take([]ddbfake.Change{c}, all.step) }

func (all *flights) Event(e history.Event) { all.event(&e) }

func (*flights) Heeds(e *history.Event) bool {
	return e == nil || e.Kind == history.Rendered || e.Kind == history.Crashed
}

// Clone returns a copy of the memory. The copy has no places.
func (all *flights) Clone() memory {
	c := &flights{skew: all.skew, log: &ledger{}, first: all.first, blind: all.blind, lost: all.lost, text: all.text,
		recipe: all.recipe, free: slices.Clone(all.free), ended: slices.Clone(all.ended)}
	all.log.copyTo(c.log)
	if all.pages == nil {
		return c
	}
	copies := map[*flight]*flight{}
	for i := range c.ended {
		c.ended[i].flight = copyAll([]*flight{c.ended[i].flight}, copies)[0]
	}
	c.pages = make(map[rowID][]*flight, len(all.pages))
	//isrsim:unordered each by itself
	for page, under := range all.pages {
		c.pages[page] = copyAll(under, copies)
	}
	return c
}

// copyAll copies the flights, each only once. The recursion ends: flights in beside began before the flight that has
// it.
func copyAll(all []*flight, copies map[*flight]*flight) []*flight {
	own := make([]*flight, len(all))
	for i, f := range all {
		c := copies[f]
		if c == nil {
			same := *f
			c = &same
			copies[f] = c
			c.beside = copyAll(f.beside, copies)
		}
		own[i] = c
	}
	return own
}

func (all *flights) Fingerprint(now time.Time) uint64 {
	sum := all.lost
	for _, r := range all.free {
		if r.e.Time.Equal(now) {
			sum += fingerprint.Hash(0).Text("free").Text(all.text.of(r.e.Actor)).Text(r.pk)
		}
	}
	for _, f := range all.ended {
		if f.at.Equal(now) {
			sum += f.print(now, all.text).Text("ended").Text(f.page.pk)
		}
	}
	//isrsim:unordered a sum has no order
	for page, under := range all.pages {
		for _, f := range under {
			h := f.print(now, all.text).Text(page.pk)
			for _, other := range f.beside {
				if !other.crashed && (f.rendered == nil || slices.Contains(under, other)) {
					sum += h.Number(uint64(other.print(now, all.text)))
				}
			}
			sum += h
		}
	}
	return uint64(sum)
}

// print is the fingerprint of the part of a flight that may still matter.
func (f *flight) print(now time.Time, text words) fingerprint.Hash {
	h := fingerprint.Hash(0).Text(text.of(f.actor)).Text(f.region)
	if f.crashed {
		return h.Text("crashed")
	}
	if f.rendered != nil {
		h = h.Text("rendered")
	}
	h = h.Text(strconv.FormatBool(f.unread)).Number(uint64(min(f.murky, 1)))
	for _, t := range [...]time.Time{f.expires, f.fresh} {
		if !t.After(now) {
			t = time.Time{} // past times count as equal
		}
		h = h.Number(uint64(t.Unix())).Number(uint64(t.Nanosecond()))
	}
	return h
}
