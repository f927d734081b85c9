package policy

import (
	"fmt"
	"math"
	"time"
)

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

// Between is every duration from least to most, equally often.
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

// draw draws a duration.
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
