package schedules

import (
	"slices"

	"github.com/isr-sim/isr-sim/scenario"
)

// MarkSet counts in how many runs each mark was reached.
type MarkSet map[scenario.Mark]int

// Reached returns the marks in the set, in the order of Marks.
func (m MarkSet) Reached() []scenario.Mark {
	return slices.DeleteFunc(scenario.Marks(), func(mark scenario.Mark) bool { return m[mark] == 0 })
}

// Has says whether a mark is in the set.
func (m MarkSet) Has(mark scenario.Mark) bool { return m[mark] > 0 }

// Missing returns which of the wanted marks are not in the set.
func (m MarkSet) Missing(wanted []scenario.Mark) []scenario.Mark {
	return slices.DeleteFunc(slices.Clone(wanted), func(mark scenario.Mark) bool { return m[mark] > 0 })
}

// insteadOf is what also shows that there was something to be judged: of a page
// that may not be published, the publish must have been refused.
var insteadOf = map[scenario.Mark]scenario.Mark{scenario.Published: scenario.PublishRefused, scenario.ServedFresh: scenario.ServedStale}

// Missing returns which marks a campaign must still reach: those declared, and
// the basic ones.
func Missing(declared []scenario.Mark, reached func(scenario.Mark) bool) []scenario.Mark {
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

// Notable returns the marks that a table shows.
func Notable(marks []scenario.Mark) []scenario.Mark {
	return slices.DeleteFunc(slices.Clone(marks), func(m scenario.Mark) bool { return m.Basic() })
}

// FaultTexts prints faults as scenario files write them.
func FaultTexts(faults []scenario.Fault) []string {
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = f.String()
	}
	return texts
}
