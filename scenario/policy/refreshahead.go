package policy

import "time"

// RefreshAhead renders in the background, under the lock, for a reader who finds a fresh value of at least the age After,
// such as 0.8 of the lifetime: keys that are read stay fresh, and keys that are not read expire. A reader who finds no
// fresh value does as in Expired.
type RefreshAhead struct {
	After   time.Duration
	Expired Locked
}

// Read implements Refresh.
func (a RefreshAhead) Read(e *Entry, rendering bool, now time.Duration, r *Random) Action {
	if !e.fresh(now) {
		return a.Expired.Read(e, rendering, now, r)
	}
	if !rendering && now-e.Generated >= a.After {
		return Revalidate
	}
	return Serve
}

// Locked implements Refresh.
func (RefreshAhead) Locked() bool { return true }
