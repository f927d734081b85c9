package policy

import (
	"math/bits"
	"time"
)

// histogram counts durations in buckets that are at most 1/32 of their value wide.
type histogram struct {
	counts []uint64
	n      uint64
	sum    float64 // seconds
	most   time.Duration
}

// Each power of two is divided into this many buckets.
const (
	subBits    = 5
	subBuckets = 1 << subBits
)

// add counts a duration.
func (h *histogram) add(d time.Duration) {
	i := bucketOf(d)
	if i >= len(h.counts) {
		h.counts = append(h.counts, make([]uint64, i+1-len(h.counts))...)
	}
	h.counts[i]++
	h.n++
	h.sum += d.Seconds()
	h.most = max(h.most, d)
}

// bucketOf returns the bucket of a duration: its leading bits.
func bucketOf(d time.Duration) int {
	v := uint64(max(0, d))
	shift := max(0, bits.Len64(v)-subBits-1)
	return shift<<subBits + int(v>>shift)
}

// middleOf returns the duration in the middle of a bucket.
func middleOf(i int) time.Duration {
	shift := max(0, i>>subBits-1)
	return time.Duration((uint64(i-shift<<subBits) << shift) + (1<<shift)/2)
}

// quantile returns the duration that a share of the counted ones does not exceed, 0 for none.
func (h *histogram) quantile(share float64) time.Duration {
	rank := uint64(share * float64(h.n))
	var below uint64
	for i, c := range h.counts {
		if below += c; below > rank {
			return min(middleOf(i), h.most)
		}
	}
	return h.most
}

// mean returns the mean in seconds, 0 for none.
func (h *histogram) mean() float64 { return ratio(h.sum, float64(h.n)) }

// ratio is a/b, and 0 where there is nothing to divide.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
