package isr

import "strings"

// Guards are the conditions under which a page is published: what keeps a writer
// that has been overtaken from overwriting what is newer. All nodes of a cache
// have the same.
//
// No single one of them is enough:
//   - the token alone lets a lease be used that is over, as long as nobody has taken it; and until TTL comes, which
//     then decides;
//   - the expiry alone is satisfied by anybody's lease: whoever took over is robbed of lock and page;
//   - the version alone does not ask for a lease: a publish as late as you like goes through if no other came first,
//     and whoever holds the lease by then works in vain;
//   - the order of generated_at alone does not either, and takes clocks for equal: a writer whose clock is ahead
//     shuts out everybody else until their clocks have come as far.
type Guards uint8

// The guards. Token and expiry together are the default, and what the seeds of recipe A ask for.
const (
	GuardToken     Guards = 1 << iota // LOCK carries the publisher's token
	GuardExpiry                       // the lease in LOCK is not over, by the publisher's clock when it sends
	GuardVersion                      // META has the version that was seen before the origin was read (Lease.Seen); it needs no clock
	GuardMonotonic                    // META was generated earlier, by at least a second
)

var guardNames = []string{"token", "expiry", "version", "monotonic"}

// String lists the guards: "token+expiry".
func (g Guards) String() string {
	var names []string
	for i, name := range guardNames {
		if g&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, "+")
}
