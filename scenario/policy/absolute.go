package policy

import "time"

// Absolute keeps each value fresh for a time, counted from the beginning of the render that made it, however often it
// is read: fresh_until = generated_at + revalidate_seconds. For buckets of time series, this is the uniform TTL.
func Absolute(lifetime time.Duration) Lifetime { return absolute(lifetime) }

type absolute time.Duration

// Stored implements Lifetime.
func (a absolute) Stored(e *Entry, _ time.Duration, _ *Random) time.Duration {
	return e.Generated + time.Duration(a)
}

// Read implements Lifetime: a read changes nothing.
func (a absolute) Read(e *Entry, _ time.Duration) time.Duration { return e.FreshUntil }
