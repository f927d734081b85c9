package policy

import "time"

// Locked lets one reader at a time render a key, as recipe A does. The others wait.
func Locked() Refresh { return locked{} }

// LockedStale lets one reader at a time render a key. The others get the old value, for the time tolerance after its
// freshness, and then wait.
func LockedStale(tolerance time.Duration) Refresh { return locked{stale: tolerance} }

// StaleWhileRevalidate lets one reader at a time render a key, in the background. All readers get the old value
// meanwhile, the one who renders too.
func StaleWhileRevalidate() Refresh { return locked{stale: never / 4, background: true} }

type locked struct {
	stale      time.Duration // how long after its freshness a value is served
	background bool
}

// Read implements Refresh.
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

// Locked implements Refresh.
func (locked) Locked() bool { return true }
