// Package promise has what a layer promises that a check cannot see.
package promise

import "time"

// LockTerms are what a lock promises besides its lease. The zero LockTerms are those of a lock that lasts for its lease
// and is extended only when it is asked to.
type LockTerms struct {
	// Heartbeats says that the lock extends itself, at least every third of its lease, until it is released.
	Heartbeats bool
	// Margin is how long before the end of its lease a lock may say that it is lost.
	Margin time.Duration
	// Wait is how long the lock may wait by itself, in one call, although no other node can hold it.
	Wait time.Duration
	// Takeover is how long after the last sign of a holder, and after a lease, its lock may still count as held.
	Takeover time.Duration
}

// OnceTerms are what a layer that has calls run once promises besides how long a call is in progress, and a
// result kept.
type OnceTerms struct {
	// Payload says that a call whose payload is not that of its key is refused.
	Payload bool
	// Wait and Takeover are as in LockTerms: of a call that nobody else is at, and of one whose node has died.
	Wait, Takeover time.Duration
}
