package policy

import (
	"math"
	"time"
)

// TierLifetime returns how long each node must keep copies of a key in its memory, so that the number of reads of the
// key per second that reach the store is at most the parameter most. rate is the number of reads of the key per second
// on all nodes together. The result is 0 if the nodes need no copies, and the largest duration if no time is long
// enough.
func TierLifetime(nodes int, rate, most float64) time.Duration {
	if rate <= most {
		return 0
	}
	// A node asks once per lifetime plus the gap until its next read: nodes / (T + nodes/rate) reads per second.
	lifetime := float64(nodes)/most - float64(nodes)/rate
	return fromSeconds(math.Ceil(lifetime*1000) / 1000)
}

// HottestShare returns the share of reads that the most popular key gets.
func HottestShare(keys Keys) float64 {
	weights := keys.weights()
	sum, most := 0.0, 0.0
	for _, w := range weights {
		sum += w
		most = max(most, w)
	}
	return most / sum
}
