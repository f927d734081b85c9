package policy

import "time"

// Jitter shortens the lifetime of each stored value by a random share of at most most (0 to 1), so that values that
// were stored together do not expire together.
func Jitter(of Lifetime, most float64) Lifetime { return jitter{of, most} }

type jitter struct {
	of   Lifetime
	most float64
}

// Stored implements Lifetime.
func (j jitter) Stored(e *Entry, now time.Duration, r *Random) time.Duration {
	until := j.of.Stored(e, now, r)
	return until - time.Duration(float64(until-now)*(j.most*r.Float64()))
}

// Read implements Lifetime: a read that extends nothing keeps the shortened time.
func (j jitter) Read(e *Entry, now time.Duration) time.Duration { return j.of.Read(e, now) }
