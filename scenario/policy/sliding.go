package policy

import "time"

// Sliding keeps a value fresh for a time since its last read. Under steady reads it is never rendered again, and its
// staleness has no bound.
func Sliding(lifetime time.Duration) Lifetime { return sliding(lifetime) }

type sliding time.Duration

// Stored implements Lifetime.
func (s sliding) Stored(_ *Entry, now time.Duration, _ *Random) time.Duration {
	return now + time.Duration(s)
}

// Read implements Lifetime: the time begins anew.
func (s sliding) Read(_ *Entry, now time.Duration) time.Duration { return now + time.Duration(s) }
