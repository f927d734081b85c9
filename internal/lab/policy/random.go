package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Random is a stream of random numbers, identified by a seed and its own number.
type Random struct{ source rand.PCG }

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
// Source: J. von Neumann, Various techniques used in connection with random digits, 1951: in a sequence of independent
// uniform numbers, the first run down has an odd length with probability exp(-first).
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

// Dist is a distribution of durations. The zero value is always 0.
type Dist struct {
	kind  distKind
	scale time.Duration // the value, the mean, the least value
	most  time.Duration
	alpha float64
}

type distKind int

const (
	fixed distKind = iota
	exponential
	uniform
	pareto
)

// Fixed is always d.
func Fixed(d time.Duration) Dist { return Dist{kind: fixed, scale: d} }

// ExponentialWith is the exponential distribution with a mean.
func ExponentialWith(mean time.Duration) Dist { return Dist{kind: exponential, scale: mean} }

// Between is the uniform distribution of durations from least to most.
func Between(least, most time.Duration) Dist {
	return Dist{kind: uniform, scale: least, most: max(least, most)}
}

// Pareto is Pareto's distribution: P(d > x) = (least/x)^alpha for x >= least. Its mean is infinite if alpha <= 1.
func Pareto(least time.Duration, alpha float64) Dist {
	return Dist{kind: pareto, scale: least, alpha: alpha}
}

// String gives the distribution as a reader would write it: "2s", "exponential, mean 2s".
func (d Dist) String() string {
	switch d.kind {
	case exponential:
		return fmt.Sprintf("exponential, mean %s", d.scale)
	case uniform:
		return fmt.Sprintf("uniform, %s to %s", d.scale, d.most)
	case pareto:
		return fmt.Sprintf("Pareto, least %s, exponent %g", d.scale, d.alpha)
	default:
		return d.scale.String()
	}
}

// Mean returns the mean: [Never] if it is infinite.
func (d Dist) Mean() time.Duration {
	switch {
	case d.kind == uniform:
		return d.scale + (d.most-d.scale)/2
	case d.kind == pareto && d.alpha <= 1:
		return never
	case d.kind == pareto:
		return time.Duration(math.Min(float64(d.scale)*d.alpha/(d.alpha-1), float64(never)))
	default:
		return d.scale
	}
}

func (d Dist) draw(r *Random) time.Duration {
	switch d.kind {
	case exponential:
		return r.after(float64(d.scale))
	case uniform:
		return d.scale + time.Duration(r.Float64()*float64(d.most-d.scale))
	case pareto:
		x := float64(d.scale) * math.Pow(1-r.Float64(), -1/d.alpha)
		if x > float64(never) {
			return never
		}
		return time.Duration(x).Truncate(time.Microsecond)
	default:
		return d.scale
	}
}
