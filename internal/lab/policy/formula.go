package policy

import (
	"math"
	"time"
)

// The formulas of this file hold for one key that is read at rate L and changes at rate W, both Poisson, per second,
// with times in seconds. Tests compare them, and those of formula_test.go, with the simulator, so each of the two
// checks the other.

// freshShare is F, the mean over [0, 1] of exp(-x u): the share of a lifetime during which a value is current, if the
// data changes x times per lifetime.
func freshShare(x float64) float64 {
	if x == 0 {
		return 1
	}
	return -math.Expm1(-x) / x
}

// absoluteHits is the share of reads that hit under an absolute lifetime T: each miss starts a lifetime, in which LT
// reads hit on average.
func absoluteHits(l, t float64) float64 { return l * t / (1 + l*t) }

// absoluteOutdated is the share of reads that see outdated data: hits are uniform over the lifetime.
func absoluteOutdated(l, w, t float64) float64 { return absoluteHits(l, t) * (1 - freshShare(w*t)) }

// outdatedAtExpiry is the probability that data has changed within a lifetime. It is often quoted as "the share of
// stale reads", which is much smaller.
func outdatedAtExpiry(w, t float64) float64 { return -math.Expm1(-w * t) }

// optimum is the lifetime T with the least C/T + S (1 - F(WT)): the cost of renders and of outdated reads per second.
// With x = WT it solves exp(-x) (1+x) = 1 - CW/S. If CW/S >= 1 no refresh pays, and the optimum is infinite.
func optimum(c, s, w float64) float64 {
	target := 1 - c*w/s
	if target <= 0 {
		return math.Inf(1)
	}
	low, high := 0.0, 1.0
	for math.Exp(-high)*(1+high) > target {
		high *= 2
	}
	for range 200 {
		if x := (low + high) / 2; math.Exp(-x)*(1+x) > target {
			low = x
		} else {
			high = x
		}
	}
	return (low + high) / 2 / w
}

// firstOrderOptimum is the rule of thumb sqrt(2C/(WS)): the optimum if the data changes much less than once per
// lifetime.
func firstOrderOptimum(c, s, w float64) float64 { return math.Sqrt(2 * c / (w * s)) }

// Staleness returns two figures that are often confused, for data with changes per second (Poisson) and values kept for
// an absolute lifetime. atExpiry is the probability that the data has changed when the lifetime ends, 1 - exp(-WT); the
// rule of thumb for it is WT. overReads is the share of hits that see outdated data, 1 - (1 - exp(-WT))/(WT): reads
// come at all times of the lifetime, and early ones rarely see outdated data.
func Staleness(changes float64, lifetime time.Duration) (atExpiry, overReads float64) {
	t := lifetime.Seconds()
	return outdatedAtExpiry(changes, t), 1 - freshShare(changes*t)
}

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
