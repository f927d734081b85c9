package hooks

import "time"

// MostPatience is the largest patience that a scenario may give its cache.
const MostPatience = 1000

// NeverFresh reports whether a correct cache may never have a fresh page: if a page takes longer to make than a lease
// lasts, only caches that refresh their leases publish it; and a page that is stale as soon as it is made, or before
// the next look at it, is never found fresh. late is the delay of a look: by polls, replicas and clocks.
func NeverFresh(lease, revalidate, render, late time.Duration) bool {
	const second = time.Second // rows hold whole seconds
	return render+2*second > lease || render+late+2*second > revalidate
}
