package schedules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/trace/mark"
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

// insteadOf has the basic marks, without which a campaign has judged nothing, and for each the mark that will do in its
// place: of a page that may not be published, the publish must have been refused.
var insteadOf = map[scenario.Mark]scenario.Mark{mark.Published: mark.PublishRefused, mark.ServedFresh: mark.ServedStale}

// Missing returns which marks a campaign must still reach: those declared, and the basic ones.
func Missing(declared []scenario.Mark, reached func(scenario.Mark) bool) []scenario.Mark {
	var marks []scenario.Mark
	for _, m := range declared {
		if !reached(m) {
			marks = append(marks, m)
		}
	}
	if reached(mark.HoldTaken) || reached(mark.CallAnswered) {
		return marks // a scenario of locks, or of calls, which has no pages
	}
	for _, m := range scenario.Marks() {
		if Basic(m) && !reached(m) && !reached(insteadOf[m]) && !slices.Contains(marks, m) {
			marks = append(marks, m)
		}
	}
	return marks
}

// Basic says whether a mark is one of those without which a campaign has judged nothing.
func Basic(m scenario.Mark) bool { return insteadOf[m] != "" }

// FaultTexts prints faults as scenario files write them.
func FaultTexts(faults []scenario.Fault) []string {
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = f.String()
	}
	return texts
}

// Plural prints a count of things.
func Plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "ch"):
		return fmt.Sprintf("%d %ses", n, thing)
	default:
		return fmt.Sprintf("%d %ss", n, thing)
	}
}
