package policy

import (
	"time"
)

// Locked lets one reader at a time render a key, as recipe A does. The others wait.
func Locked() Refresh { return locked{} }

// LockedStale lets one reader at a time render a key. The others get the old value, for the duration tolerance after
// its freshness, and then wait.
func LockedStale(tolerance time.Duration) Refresh { return locked{stale: tolerance} }

// StaleWhileRevalidate lets one reader at a time render a key, in the background. Meanwhile all readers get the old
// value, including the one that renders.
func StaleWhileRevalidate() Refresh { return locked{stale: never / 4, background: true} }

type locked struct {
	stale      time.Duration // how long a value is served after its freshness
	background bool
}

func (l locked) Read(e *Entry, rendering bool, now time.Duration, _ *Random) Action {
	servable := e != nil && now < e.FreshUntil+l.stale
	switch {
	case e.fresh(now), rendering && servable:
		return Serve
	case rendering:
		return Wait
	case servable && l.background:
		return Revalidate
	}
	return Render
}

func (locked) Locked() bool { return true }

// Periodic renders each value again at the end of its lifetime, whether it is read or not. Readers get the stored
// value.
func Periodic() Refresh { return periodic{} }

type periodic struct{}

// Read implements Refresh: only the first reader of a key renders.
func (periodic) Read(e *Entry, rendering bool, _ time.Duration, _ *Random) Action {
	switch {
	case e != nil:
		return Serve
	case rendering:
		return Wait
	}
	return Render
}

func (periodic) Locked() bool { return true }

// RefreshAhead renders in the background, under the lock, for a reader that finds a fresh value of at least this age,
// such as 0.8 of the lifetime: keys that are read stay fresh, and other keys expire. A reader that finds no fresh value
// acts as under [Locked].
func RefreshAhead(age time.Duration) Refresh { return refreshAhead{after: age} }

type refreshAhead struct {
	after   time.Duration
	expired locked
}

func (a refreshAhead) Read(e *Entry, rendering bool, now time.Duration, r *Random) Action {
	if !e.fresh(now) {
		return a.expired.Read(e, rendering, now, r)
	}
	if !rendering && now-e.Generated >= a.after {
		return Revalidate
	}
	return Serve
}

func (refreshAhead) Locked() bool { return true }

// Unprotected is a cache without a lock: every reader that finds no fresh value renders.
func Unprotected() Refresh { return unprotected{} }

type unprotected struct{}

func (unprotected) Read(e *Entry, _ bool, now time.Duration, _ *Random) Action {
	if e.fresh(now) {
		return Serve
	}
	return Render
}

func (unprotected) Locked() bool { return false }

// XFetch renders early with a probability that grows towards the end of the lifetime. A reader renders in the
// background if the remaining time is less than the product of beta, the duration of the last render, and an
// exponential draw. There is no lock. In the window before one expiry, about exp(1/beta) readers render, not just one.
//
// Source: A. Vattani, F. Chierichetti, K. Lowenstein, Optimal probabilistic cache stampede prevention, VLDB 2015.
func XFetch(beta float64) Refresh { return xfetch{beta} }

type xfetch struct{ beta float64 }

func (x xfetch) Read(e *Entry, _ bool, now time.Duration, r *Random) Action {
	switch {
	case !e.fresh(now):
		return Render
	case float64(e.FreshUntil-now) < x.beta*float64(e.Render)*r.Exponential():
		return Revalidate
	}
	return Serve
}

func (xfetch) Locked() bool { return false }
