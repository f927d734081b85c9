package hooks

import "time"

// MostPatience is the largest patience that a scenario may give its cache.
const MostPatience = 1000

// NeverFresh reports whether a correct cache may never have a fresh page: if a page takes longer to make than a lease
// lasts, only caches that refresh their leases publish it; and a page that is stale before somebody next looks at it is
// never found fresh. Replicas and clocks delay that look by the time behind. Waiting for the next poll delays it, too,
// unless the page is soon stale (see SoonStale), and is made and seen without any delay.
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
