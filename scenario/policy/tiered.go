package policy

import "time"

// Tiered gives each class of data a lifetime of its own, such as a short absolute one for prices and a long sliding one
// for pictures. The workload says of which class a key is. A class without a lifetime has the last one.
func Tiered(byClass ...Lifetime) Lifetime { return tiered(byClass) }

type tiered []Lifetime

// Stored implements Lifetime.
func (t tiered) Stored(e *Entry, now time.Duration, r *Random) time.Duration {
	return t.of(e).Stored(e, now, r)
}

// Read implements Lifetime.
func (t tiered) Read(e *Entry, now time.Duration) time.Duration { return t.of(e).Read(e, now) }

func (t tiered) of(e *Entry) Lifetime { return t[min(e.Class, len(t)-1)] }
