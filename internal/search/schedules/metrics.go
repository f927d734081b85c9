package schedules

import (
	"cmp"
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// addMetrics adds the metrics of one more store to a sum. Both are sorted as by ddbfake.DB.Metrics, and so is the
// result. Units are multiples of a half, which floating point adds up exactly: the order of the stores does not matter.
func addMetrics(sum, more []ddbfake.Metrics) []ddbfake.Metrics {
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
