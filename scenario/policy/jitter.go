package policy

import "time"

// Jitter shortens the lifetime of each stored value by a random share of up to Share (0 to 1), so that values that were
// stored together do not expire together.
type Jitter struct {
	Of    Lifetime
	Share float64
}

// Stored implements Lifetime.
func (j Jitter) Stored(e *Entry, now time.Duration, r *Random) time.Duration {
	until := j.Of.Stored(e, now, r)
	return until - time.Duration(float64(until-now)*(j.Share*r.Float64()))
}

// Read implements Lifetime: a read that extends nothing keeps the shortened time.
func (j Jitter) Read(e *Entry, now time.Duration) time.Duration { return j.Of.Read(e, now) }
