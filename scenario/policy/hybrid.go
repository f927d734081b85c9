package policy

import "time"

// Hybrid keeps a value fresh for the time Idle since its last read, and no longer than the time Most since the beginning
// of the render that made it.
type Hybrid struct{ Idle, Most time.Duration }

// Stored implements Lifetime.
func (h Hybrid) Stored(e *Entry, now time.Duration, _ *Random) time.Duration { return h.Read(e, now) }

// Read implements Lifetime: the idle time begins anew, up to the cap.
func (h Hybrid) Read(e *Entry, now time.Duration) time.Duration {
	return min(now+h.Idle, e.Generated+h.Most)
}
