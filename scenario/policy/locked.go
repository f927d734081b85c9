package policy

import "time"

// Locked lets one reader at a time render a key, as recipe A does.
type Locked struct {
	// Stale is how long after its freshness a value is served while another one is made. 0 has the other readers wait.
	Stale time.Duration
	// Background has the reader who takes the lock get the old value too, and not wait for its own render.
	Background bool
}

// Read implements Refresh.
func (l Locked) Read(e *Entry, rendering bool, now time.Duration, _ *Random) Action {
	servable := e != nil && now < e.FreshUntil+l.Stale
	switch {
	case e.fresh(now), rendering && servable:
		return Serve
	case rendering:
		return Wait
	case servable && l.Background:
		return Revalidate
	}
	return Render
}

// Locked implements Refresh.
func (Locked) Locked() bool { return true }
