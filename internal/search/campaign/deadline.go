package campaign

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/hooks"
)

// Deadline is the end of a lease or of a freshness, as rows had it in a search. Before, At and After say whether a
// request to the row was sent in the second before the end, at the end, and after it, while the row still had that end.
type Deadline struct {
	Of                string // "the end of alice's lease"
	Lease             bool   // the end of a lease, and not of a page's freshness
	Before, At, After bool
}

// Reached says whether the search met the deadline in all three ways.
func (d Deadline) Reached() bool { return d.Before && d.At && d.After }

// String names the deadline, the sides on which the search met it, and those on which it did not.
func (d Deadline) String() string {
	var reached, not []string
	for _, at := range []struct {
		reached bool
		name    string
	}{{d.Before, "before"}, {d.At, "at"}, {d.After, "after"}} {
		if at.reached {
			reached = append(reached, at.name)
		} else {
			not = append(not, at.name)
		}
	}
	switch text := d.Of + ": " + strings.Join(reached, ", "); {
	case len(not) == 0:
		return text
	case len(reached) == 0:
		return text + "not reached"
	default:
		return text + "; not " + strings.Join(not, ", ")
	}
}

// deadlines lists the ends. The ends of leases come first.
func deadlines(ends hooks.Ends) (all []Deadline) {
	pages := map[string]bool{}
	//isrsim:unordered a set is made
	for end := range ends {
		pages[end.Page] = true
	}
	for _, end := range slices.SortedFunc(maps.Keys(ends), func(a, b hooks.End) int {
		return cmp.Or(-cmp.Compare(min(len(a.Actor), 1), min(len(b.Actor), 1)), cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Page, b.Page))
	}) {
		d := Deadline{Of: "the end of " + end.Page + "'s freshness", Lease: end.Actor != ""}
		if d.Lease {
			d.Of = "the end of " + end.Actor + "'s lease"
			if len(pages) > 1 {
				d.Of += " of " + end.Page
			}
		}
		met := ends[end]
		d.Before, d.At, d.After = met.Before, met.At, met.After
		all = append(all, d)
	}
	return all
}
