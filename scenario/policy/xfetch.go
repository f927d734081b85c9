package policy

import "time"

// XFetch renders early with a probability that grows towards the end of the lifetime: a reader renders in the
// background if the time left is less than beta times the time that the last render took, times an exponential draw.
// There is no lock. In the window before one expiry, about exp(1/beta) readers render, and not one.
//
// Source: A. Vattani, F. Chierichetti, K. Lowenstein, Optimal probabilistic cache stampede prevention, VLDB 2015.
func XFetch(beta float64) Refresh { return xfetch{beta} }

type xfetch struct{ beta float64 }

// Read implements Refresh.
func (x xfetch) Read(e *Entry, _ bool, now time.Duration, r *Random) Action {
	switch {
	case !e.fresh(now):
		return Render
	case float64(e.FreshUntil-now) < x.beta*float64(e.Render)*r.Exponential():
		return Revalidate
	}
	return Serve
}

// Locked implements Refresh.
func (xfetch) Locked() bool { return false }
