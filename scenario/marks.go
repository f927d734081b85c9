package scenario

import "slices"

// markSet counts in how many runs each mark was reached.
type markSet map[Mark]int

// reached returns the marks in the set, in the order of Marks.
func (m markSet) reached() []Mark {
	return slices.DeleteFunc(Marks(), func(mark Mark) bool { return m[mark] == 0 })
}

// has says whether a mark is in the set.
func (m markSet) has(mark Mark) bool { return m[mark] > 0 }

// missing returns which of the wanted marks are not in the set.
func (m markSet) missing(wanted []Mark) []Mark {
	return slices.DeleteFunc(slices.Clone(wanted), func(mark Mark) bool { return m[mark] > 0 })
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
var insteadOf = map[Mark]Mark{Published: PublishRefused, ServedFresh: ServedStale}

// missing returns which marks a campaign must still reach: those declared, and
// the basic ones.
func missing(declared []Mark, reached func(Mark) bool) []Mark {
	var marks []Mark
	for _, m := range declared {
		if !reached(m) {
			marks = append(marks, m)
		}
	}
	for _, m := range Marks() {
		if m.Basic() && !reached(m) && !reached(insteadOf[m]) && !slices.Contains(marks, m) {
			marks = append(marks, m)
		}
	}
	return marks
}

// notable returns the marks that a table shows.
func notable(marks []Mark) []Mark {
	return slices.DeleteFunc(slices.Clone(marks), func(m Mark) bool { return m.Basic() })
}

// faultTexts prints faults as scenario files write them.
func faultTexts(faults []Fault) []string {
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = f.String()
	}
	return texts
}
