package policy

import (
	"math/rand/v2"
	"time"
)

// Random is a stream of random numbers, named by a seed and a number of its own.
type Random struct{ source rand.PCG }

// newRandom returns one of the streams of a seed.
func newRandom(seed, stream uint64) *Random {
	r := &Random{}
	r.source.Seed(seed, stream)
	return r
}

// Float64 draws a number from [0, 1).
func (r *Random) Float64() float64 { return float64(r.source.Uint64()>>11) * (1.0 / (1 << 53)) }

// below draws a whole number from [0, n).
func (r *Random) below(n int) int { return int(r.source.Uint64() % uint64(n)) }

// Exponential draws from the exponential distribution with mean 1. It compares whole numbers and calls no function of
// package math, whose results differ between machines in the last bit.
//
// Source: J. von Neumann, Various techniques used in connection with random digits, 1951: of independent uniform
// numbers, the length of the first run down is odd with probability exp(-first).
func (r *Random) Exponential() float64 {
	for whole := 0; ; whole++ {
		first := r.source.Uint64()
		last, odd := first, true
		for {
			next := r.source.Uint64()
			if next >= last {
				break
			}
			last, odd = next, !odd
		}
		if odd {
			return float64(whole) + float64(first>>11)*(1.0/(1<<53))
		}
	}
}

// after draws the time until the next event of a Poisson process with the given mean gap.
func (r *Random) after(gap float64) time.Duration { return time.Duration(r.Exponential() * gap) }
