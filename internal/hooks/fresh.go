package hooks

import "time"

// MostPatience is the largest patience that a scenario may give its cache.
const MostPatience = 1000

// NeverFresh reports whether a correct cache may never have a fresh page. If rendering takes longer than a lease, only
// caches that refresh their leases publish the page. And a page that is stale before somebody next looks at it is never
// found fresh. Replicas and clocks delay that look by the time behind. Waiting for the next poll delays it, too, unless
// the page is soon stale (see SoonStale), and is rendered and seen without any delay.
func NeverFresh(lease, revalidate, render, poll, behind time.Duration) bool {
	const second = time.Second // rows hold whole seconds
	late := behind
	if render > 0 || behind > 0 || !SoonStale(revalidate) {
		late += poll
	}
	return render+2*second > lease || render+late+2*second > revalidate
}

// SoonStale reports whether a page may be stale by the next poll after its rendering. Nodes that wait for it look again
// at once.
func SoonStale(revalidate time.Duration) bool { return revalidate < 4*time.Second }
