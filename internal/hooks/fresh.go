package hooks

import "time"

// MostPatience is the largest patience that a scenario may give its cache.
const MostPatience = 1000

// NeverFresh reports whether a correct cache may never have a fresh page: if a page takes longer to make than a lease
// lasts, only caches that refresh their leases publish it; and a page that is stale as soon as it is made, or before
// the next look at it, is never found fresh. A look is late by replicas and clocks (behind), and by a poll, unless a
// page that is soon stale is made and found in no time.
func NeverFresh(lease, revalidate, render, poll, behind time.Duration) bool {
	const second = time.Second // rows hold whole seconds
	late := behind
	if render > 0 || behind > 0 || !SoonStale(revalidate) {
		late += poll
	}
	return render+2*second > lease || render+late+2*second > revalidate
}

// SoonStale reports whether a page may be stale by the next poll after it is made. Who waits for it looks again at
// once.
func SoonStale(revalidate time.Duration) bool { return revalidate < 4*time.Second }
