package policy

import "time"

// RefreshAhead renders in the background, under the lock, for a reader who finds a fresh value of at least this age,
// such as 0.8 of the lifetime: keys that are read stay fresh, and keys that are not read expire. A reader who finds no
// fresh value does as under [Locked].
func RefreshAhead(age time.Duration) Refresh { return refreshAhead{after: age} }

type refreshAhead struct {
	after   time.Duration
	expired locked
}

// Read implements Refresh.
func (a refreshAhead) Read(e *Entry, rendering bool, now time.Duration, r *Random) Action {
	if !e.fresh(now) {
		return a.expired.Read(e, rendering, now, r)
	}
	if !rendering && now-e.Generated >= a.after {
		return Revalidate
	}
	return Serve
}

// Locked implements Refresh.
func (refreshAhead) Locked() bool { return true }
