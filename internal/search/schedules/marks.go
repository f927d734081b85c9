package schedules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/subject/list"
)

// MarkSet counts in how many runs each mark was reached.
type MarkSet map[spec.Mark]int

// Reached returns the marks in the set, in the order of Marks.
func (m MarkSet) Reached() []spec.Mark {
	return slices.DeleteFunc(spec.Marks(), func(mark spec.Mark) bool { return m[mark] == 0 })
}

// Has says whether a mark is in the set.
func (m MarkSet) Has(mark spec.Mark) bool { return m[mark] > 0 }

// Missing returns which of the wanted marks are not in the set.
func (m MarkSet) Missing(wanted []spec.Mark) []spec.Mark {
	return slices.DeleteFunc(slices.Clone(wanted), func(mark spec.Mark) bool { return m[mark] > 0 })
}

// Missing returns which of the declared marks and of the subject's basic marks a campaign must still reach. If no
// publish succeeded, one must have been refused.
func Missing(of *list.About, declared []spec.Mark, reached func(spec.Mark) bool) []spec.Mark {
	marks := slices.DeleteFunc(slices.Clone(declared), reached)
	for _, some := range of.Basic() {
		first := spec.Mark(some[0])
		any := slices.ContainsFunc(some, func(m string) bool { return reached(spec.Mark(m)) })
		if !any && !slices.Contains(marks, first) {
			marks = append(marks, first)
		}
	}
	return marks
}

// FaultTexts prints faults as scenario files write them.
func FaultTexts(faults []spec.Fault) []string {
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
