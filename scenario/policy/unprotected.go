package policy

import "time"

// Unprotected is a cache without a lock: every reader who finds no fresh value renders.
type Unprotected struct{}

// Read implements Refresh.
func (Unprotected) Read(e *Entry, _ bool, now time.Duration, _ *Random) Action {
	if e.fresh(now) {
		return Serve
	}
	return Render
}

// Locked implements Refresh.
func (Unprotected) Locked() bool { return false }
