// Package promise has the promises of a layer that a check cannot observe.
package promise

import "time"

// LockTerms are the promises of a lock besides its lease. The zero LockTerms describe a lock that lasts for its lease
// and is extended only on request.
type LockTerms struct {
	// Heartbeats means that the lock extends itself, at least every third of its lease, until it is released.
	Heartbeats bool
	// Margin is how long before the end of its lease a lock may report its loss.
	Margin time.Duration
	// Wait is how long one call of the lock may wait by itself, although no other node can hold it.
	Wait time.Duration
	// Takeover is how long a lock may count as held after its lease, if its holder has given no sign since. The lease
	// counts from the holder's last sign.
	Takeover time.Duration
}

// OnceTerms are the promises of an idempotency layer, besides the times for which a call is in progress
// and a result is kept.
type OnceTerms struct {
	// Payload means that a call is refused if its key belongs to another payload.
	Payload bool
	// Wait and Takeover are as in LockTerms: Wait for a key with no other call, Takeover for a key whose caller has
	// died.
	Wait, Takeover time.Duration
}

// The maximum by which rows may shorten a promised time, because they store times in whole units. Invariants subtract
// it from the promise.
const (
	LeaseRounding     = time.Millisecond // of a lease, or of a call that is in progress
	RetentionRounding = time.Second      // of the time for which a result is kept
)

// Sure is the part of a promised time that is certain: clocks may differ by skew when it begins and when it ends, and
// rows may round. It is 0 or less if nothing is left of the promise.
func Sure(promised, skew, rounded time.Duration) time.Duration { return promised - 2*skew - rounded }
