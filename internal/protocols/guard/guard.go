// Package guard names the conditions of a publish.
package guard

import "strings"

// Set is a set of guards, the conditions of a publish. They keep a writer that has been overtaken from overwriting a
// newer page. All nodes of a cache have the same guards.
//
// No guard is enough alone:
//   - the token alone accepts a lease that is over until another node takes it or TTL deletes it;
//   - the expiry alone accepts the lease of any node: the new holder loses its lock and its page;
//   - the version alone asks for no lease: a late publish goes through if no other came first, and the work of the
//     current holder is lost;
//   - the order of generated_at alone asks for no lease either, and treats all clocks as equal: a writer whose clock is
//     ahead shuts out all others until their clocks have caught up.
type Set uint8

// These are the guards. Token and expiry together are the default.
const (
	Token  Set = 1 << iota // LOCK carries the publisher's token
	Expiry                 // the lease in LOCK is not over, by the publisher's clock when it sends
	// META has the version that was seen before the origin was read (Lease.Seen). It needs no clock.
	Version
	Monotonic // META was generated earlier, by at least a second
)

var guardNames = []string{"token", "expiry", "version", "monotonic"}

// String lists the guards: "token+expiry".
func (g Set) String() string {
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
