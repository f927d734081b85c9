package policy

import (
	"math"
	"time"
)

// The formulas of this file hold for one key that is read at rate L and changes at rate W, both Poisson, per second,
// with times in seconds. Tests compare the formulas with the simulator, so each of the two checks the other.

// F is the mean over [0, 1] of exp(-x u). It is the share of a lifetime during which a value is current, if the data
// changes x times in a lifetime.
func freshShare(x float64) float64 {
	if x == 0 {
		return 1
	}
	return -math.Expm1(-x) / x
}

// absoluteHits is the share of reads that hit under an absolute lifetime T: each miss begins a lifetime, in which LT
// reads hit on average.
func absoluteHits(l, t float64) float64 { return l * t / (1 + l*t) }

// absoluteOutdated is the share of reads that see outdated data: hits come at uniform times of a lifetime.
func absoluteOutdated(l, w, t float64) float64 { return absoluteHits(l, t) * (1 - freshShare(w*t)) }

// outdatedAtExpiry is the chance that data has changed within a lifetime. It is often quoted as "the share of stale
// reads", which is much smaller.
func outdatedAtExpiry(w, t float64) float64 { return -math.Expm1(-w * t) }

// slidingHits is the share of reads that hit under a sliding lifetime: the gap since the last read was shorter than T.
func slidingHits(l, t float64) float64 { return -math.Expm1(-l * t) }

// slidingOutdated is the share of reads that see outdated data under a sliding lifetime. S(s) is the transform of the
// time since the miss, summed over the hits that follow it: a gap below T has the transform
// g(s) = L (1 - exp(-(s+L)T)) / (s+L), and the sum over chains of gaps is g/(1-g); the chance of a miss is exp(-LT).
func slidingOutdated(l, w, t float64) float64 {
	s := func(s float64) float64 { return -math.Expm1(-(s+l)*t) / (s + l*math.Exp(-(s+l)*t)) }
	return l * math.Exp(-l*t) * (s(0) - s(w))
}

// hybridHits is the share of reads that hit under a sliding lifetime T below a cap M: N is the mean number of hits that
// follow a miss, the integral over [0, M] of the density of renewals whose gaps are all below T.
func hybridHits(l, t, m float64) float64 {
	n := 0.0
	power := func(x float64, k int) float64 { return math.Pow(max(0, x), float64(k)) }
	for k := 0; float64(k)*t < m; k++ {
		term := l * math.Pow(-l, float64(k)) / math.Gamma(float64(k+2))
		n += term * (math.Exp(-float64(k)*l*t)*power(m-float64(k)*t, k+1) -
			math.Exp(-float64(k+1)*l*t)*power(m-float64(k+1)*t, k+1))
	}
	return n / (1 + n)
}

// periodicAge is the time for which data has been outdated when it is read at a random time, if it is refreshed every
// T.
func periodicAge(w, t float64) float64 {
	x := w * t
	return t * (0.5 - 1/x - math.Expm1(-x)/(x*x))
}

// periodicOver is the share of reads that see data which has been outdated for more than a time a: reads come at uniform
// times u of the interval T, and the data had changed before u - a.
func periodicOver(a, w, t float64) float64 { return (t - a) / t * (1 - freshShare(w*(t-a))) }

// swrRenders is the number of renders in a second under stale-while-revalidate: the first read after a lifetime begins
// the next render.
func swrRenders(l, t float64) float64 { return 1 / (t + 1/l) }

// swrStale is the share of reads that are served a value known to be stale: the read that begins the render, and those
// during it.
func swrStale(l, d, t float64) float64 { return (1 + l*d) / (1 + l*t) }

// swrOutdated is the share of reads that see outdated data under stale-while-revalidate, for renders of duration D < T.
// A cycle has LT + 1 reads: those from D to T of the new value's age, the one that ends the wait (after a time that is
// exponential with L), and those during the next render.
func swrOutdated(l, w, d, t float64) float64 {
	g := l / (l + w)
	fresh := l * ((t - d) - (math.Exp(-w*d)-math.Exp(-w*t))/w)
	first := 1 - g*math.Exp(-w*t)
	during := l * (d - g*math.Exp(-w*t)*(-math.Expm1(-w*d))/w)
	return (fresh + first + during) / (1 + l*t)
}

// unprotectedRenders is the number of readers that render at an expiry without protection: the first, and all that come
// during its render.
func unprotectedRenders(l, d float64) float64 { return 1 + l*d }

// xfetchChance is the chance that a read at g before the expiry refreshes under XFetch: the chance of an exponential
// draw above g/(beta D).
func xfetchChance(g, beta, d float64) float64 { return math.Exp(-g / (beta * d)) }

// xfetchRenders is the number of readers that render before an expiry under XFetch: the first one, and those who draw a
// refresh during its render. The draw's rate grows by the factor exp(1/beta) in a render's time.
func xfetchRenders(beta float64) float64 { return math.Exp(1 / beta) }

// xfetchEarly is the time from the first refresh to the expiry under XFetch, for renders of duration D.
func xfetchEarly(l, beta, d float64) float64 {
	const euler = 0.57721566490153286
	return beta * d * (math.Log(l*beta*d) + euler)
}

// gammaBelow is P(Gamma(k, L) <= t): the chance of at least k reads within t.
func gammaBelow(k int, l, t float64) float64 {
	if t <= 0 {
		return 0
	}
	term, sum := 1.0, 0.0
	for i := range k {
		if i > 0 {
			term *= l * t / float64(i)
		}
		sum += term
	}
	return 1 - math.Exp(-l*t)*sum
}

// secondTierHits is the share of the first tier's misses that hit in the second tier. The first keeps copies for T1,
// and the second keeps values for T2. The k-th miss after the miss that filled both comes k T1 and k gaps later.
func secondTierHits(l, t1, t2 float64) float64 {
	m := 0.0
	for k := 1; float64(k)*t1 <= t2; k++ {
		m += gammaBelow(k, l, t2-float64(k)*t1)
	}
	return m / (1 + m)
}

// optimum is the lifetime T with the least C/T + S (1 - F(WT)): the cost of renders and of outdated reads a second.
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

// firstOrderOptimum is the rule of thumb sqrt(2C/(WS)): the optimum where the data changes much less than once in a
// lifetime.
func firstOrderOptimum(c, s, w float64) float64 { return math.Sqrt(2 * c / (w * s)) }

// cheHits is the hit ratio of an LRU cache with room for size keys. Each read asks for a key with its probability,
// whatever was read before. In this model a key is in the cache if it was read within the characteristic time, which is
// the same for all keys.
//
// Source: H. Che, Y. Tung, Z. Wang, Hierarchical Web caching systems, 2002.
func cheHits(probabilities []float64, size int) float64 {
	kept := func(t float64) (n float64) {
		for _, p := range probabilities {
			n += -math.Expm1(-p * t)
		}
		return n
	}
	low, high := 0.0, 1.0
	for kept(high) < float64(size) {
		high *= 2
	}
	for range 100 {
		if t := (low + high) / 2; kept(t) < float64(size) {
			low = t
		} else {
			high = t
		}
	}
	hits := 0.0
	for _, p := range probabilities {
		hits += p * -math.Expm1(-p*high)
	}
	return hits
}

// Staleness returns two figures that are often confused, for data that changes at a rate a second (Poisson) and values
// that are kept for an absolute lifetime. atExpiry is the chance that the data has changed when the lifetime ends, 1 -
// exp(-WT); the rule of thumb for it is WT. overReads is the share of hits that see outdated data, 1 - (1 -
// exp(-WT))/(WT): reads come at all times of the lifetime, and early ones are rarely too late.
func Staleness(changes float64, lifetime time.Duration) (atExpiry, overReads float64) {
	t := lifetime.Seconds()
	return outdatedAtExpiry(changes, t), 1 - freshShare(changes*t)
}
