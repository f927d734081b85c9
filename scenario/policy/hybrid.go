package policy

import "time"

// Hybrid keeps a value fresh for the time idle since its last read, and no longer than the time most since the
// beginning of the render that made it.
func Hybrid(idle, most time.Duration) Lifetime { return hybrid{idle, most} }

type hybrid struct{ idle, most time.Duration }

// Stored implements Lifetime.
func (h hybrid) Stored(e *Entry, now time.Duration, _ *Random) time.Duration { return h.Read(e, now) }

// Read implements Lifetime: the idle time begins anew, up to the cap.
func (h hybrid) Read(e *Entry, now time.Duration) time.Duration {
	return min(now+h.idle, e.Generated+h.most)
}
