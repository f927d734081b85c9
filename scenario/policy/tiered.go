package policy

import "time"

// Tiered gives each class of data a lifetime of its own, such as a short absolute one for prices and a long sliding one
// for pictures. The workload says of which class a key is. A class without a lifetime has the last one.
type Tiered []Lifetime

// Stored implements Lifetime.
func (t Tiered) Stored(e *Entry, now time.Duration, r *Random) time.Duration {
	return t.of(e).Stored(e, now, r)
}

// Read implements Lifetime.
func (t Tiered) Read(e *Entry, now time.Duration) time.Duration { return t.of(e).Read(e, now) }

func (t Tiered) of(e *Entry) Lifetime { return t[min(e.Class, len(t)-1)] }
