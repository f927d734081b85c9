package schedules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// MarkSet counts in how many runs each mark was reached.
type MarkSet map[kernel.Mark]int

// Reached returns the marks in the set, in the order of Marks.
func (m MarkSet) Reached() []kernel.Mark {
	return slices.DeleteFunc(kernel.Marks(), func(mark kernel.Mark) bool { return m[mark] == 0 })
}

// Has says whether a mark is in the set.
func (m MarkSet) Has(mark kernel.Mark) bool { return m[mark] > 0 }

// Missing returns which of the wanted marks are not in the set.
func (m MarkSet) Missing(wanted []kernel.Mark) []kernel.Mark {
	return slices.DeleteFunc(slices.Clone(wanted), func(mark kernel.Mark) bool { return m[mark] > 0 })
}

// insteadOf has the basic marks: a campaign that misses one of them has judged nothing. For each of them another mark
// counts, too: if no publish succeeded, one must have been refused.
var insteadOf = map[kernel.Mark]kernel.Mark{mark.Published: mark.PublishRefused, mark.ServedFresh: mark.ServedStale}

// Missing returns the marks that a campaign of the scenario must still reach, out of the declared marks and the basic
// ones.
func Missing(s *kernel.Scenario, reached func(kernel.Mark) bool) []kernel.Mark {
	var marks []kernel.Mark
	for _, m := range s.Reach {
		if !reached(m) {
			marks = append(marks, m)
		}
	}
	if reached(mark.HoldTaken) || reached(mark.CallAnswered) || len(kernel.About(s).Marks()) == 0 {
		return marks // a scenario of locks, or of calls, which has no pages, or of a subject whose runs have no marks
	}
	for _, m := range kernel.Marks() {
		if Basic(m) && !reached(m) && !reached(insteadOf[m]) && !slices.Contains(marks, m) {
			marks = append(marks, m)
		}
	}
	return marks
}

// Basic says whether a campaign that has not reached the mark has judged nothing.
func Basic(m kernel.Mark) bool { return insteadOf[m] != "" }

// FaultTexts prints faults as scenario files write them.
func FaultTexts(faults []kernel.Fault) []string {
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
	case strings.HasSuffix(thing, "ch"), strings.HasSuffix(thing, "sh"):
		return fmt.Sprintf("%d %ses", n, thing)
	default:
		return fmt.Sprintf("%d %ss", n, thing)
	}
}

// AddMetrics adds the metrics of one more store to a sum. Both are sorted as by ddbfake.DB.Metrics, and so is the
// result. Units are multiples of a half, which floating point adds up exactly: the order of the stores does not matter.
func AddMetrics(sum, more []ddbfake.Metrics) []ddbfake.Metrics {
	for i := range more {
		at, found := slices.BinarySearchFunc(sum, &more[i], compareDimensions)
		if !found {
			sum = slices.Insert(sum, at, more[i])
			continue
		}
		s, m := &sum[at], &more[i]
		s.ThrottledRequests += m.ThrottledRequests
		s.ReadThrottleEvents += m.ReadThrottleEvents
		s.WriteThrottleEvents += m.WriteThrottleEvents
		s.UserErrors += m.UserErrors
		s.SystemErrors += m.SystemErrors
		s.ConditionalCheckFailedRequests += m.ConditionalCheckFailedRequests
		s.TransactionConflict += m.TransactionConflict
		s.TimeToLiveDeletedItemCount += m.TimeToLiveDeletedItemCount
		s.ConsumedReadCapacityUnits += m.ConsumedReadCapacityUnits
		s.ConsumedWriteCapacityUnits += m.ConsumedWriteCapacityUnits
		s.SuccessfulRequests += m.SuccessfulRequests
		s.SuccessfulRequestLatency += m.SuccessfulRequestLatency
	}
	return sum
}

func compareDimensions(a ddbfake.Metrics, b *ddbfake.Metrics) int {
	return cmp.Or(cmp.Compare(a.Region, b.Region), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Index, b.Index),
		cmp.Compare(a.Operation, b.Operation))
}
