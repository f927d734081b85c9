package campaign

import (
	"slices"

	"github.com/isr-sim/isr-sim/scenario"
)

// markSet counts in how many runs each mark was reached.
type markSet map[scenario.Mark]int

// reached returns the marks in the set, in the order of Marks.
func (m markSet) reached() []scenario.Mark {
	return slices.DeleteFunc(scenario.Marks(), func(mark scenario.Mark) bool { return m[mark] == 0 })
}

// has says whether a mark is in the set.
func (m markSet) has(mark scenario.Mark) bool { return m[mark] > 0 }

// missing returns which of the wanted marks are not in the set.
func (m markSet) missing(wanted []scenario.Mark) []scenario.Mark {
	return slices.DeleteFunc(slices.Clone(wanted), func(mark scenario.Mark) bool { return m[mark] > 0 })
}

// list returns how often each mark was reached, in the order of Marks.
func (m markSet) list() []Reached {
	var list []Reached
	for _, mark := range m.reached() {
		list = append(list, Reached{mark, m[mark]})
	}
	return list
}

// insteadOf is what also shows that there was something to be judged: of a page
// that may not be published, the publish must have been refused.
var insteadOf = map[scenario.Mark]scenario.Mark{scenario.Published: scenario.PublishRefused, scenario.ServedFresh: scenario.ServedStale}

// missing returns which marks a campaign must still reach: those declared, and
// the basic ones.
func missing(declared []scenario.Mark, reached func(scenario.Mark) bool) []scenario.Mark {
	var marks []scenario.Mark
	for _, m := range declared {
		if !reached(m) {
			marks = append(marks, m)
		}
	}
	for _, m := range scenario.Marks() {
		if m.Basic() && !reached(m) && !reached(insteadOf[m]) && !slices.Contains(marks, m) {
			marks = append(marks, m)
		}
	}
	return marks
}

// notable returns the marks that a table shows.
func notable(marks []scenario.Mark) []scenario.Mark {
	return slices.DeleteFunc(slices.Clone(marks), func(m scenario.Mark) bool { return m.Basic() })
}

// faultTexts prints faults as scenario files write them.
func faultTexts(faults []scenario.Fault) []string {
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = f.String()
	}
	return texts
}
