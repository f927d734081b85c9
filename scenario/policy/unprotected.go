package policy

import "time"

// Unprotected is a cache without a lock: every reader who finds no fresh value renders.
func Unprotected() Refresh { return unprotected{} }

type unprotected struct{}

// Read implements Refresh.
func (unprotected) Read(e *Entry, _ bool, now time.Duration, _ *Random) Action {
	if e.fresh(now) {
		return Serve
	}
	return Render
}

// Locked implements Refresh.
func (unprotected) Locked() bool { return false }
