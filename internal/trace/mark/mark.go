// Package mark names the events that a run can reach. Scenarios use these names for their marks, and package scenario
// records them.
package mark

// The marks, in the order in which reports print them. Every kind of fault, and every fault of a dependency, is also a
// mark, under its own name.
const (
	Published   = "published"    // META showed another page than before
	ServedFresh = "served-fresh" // a page was served that the cache considered fresh

	LockTakenOver   = "lock-taken-over"  // another node took a lease that had ended
	LockRefused     = "lock-refused"     // an acquire found a held lease
	PublishRefused  = "publish-refused"  // a publish found that it had lost its lease
	OwnCommitMet    = "own-commit-met"   // a lock's put, retried after a lost response, found its own row
	ServedStale     = "served-stale"     // a page was served that the cache knew to be stale
	ExpiredRowRead  = "expired-row-read" // a row was read past its ttl, but before its deletion
	TTLDeletion     = "ttl-deletion"     // TTL deleted a row
	LeaseRefreshed  = "lease-refreshed"  // a holder extended its lease
	RolledBack      = "rolled-back"      // a rollback made a page show another version
	PageInvalidated = "page-invalidated" // a client was told that a page is no longer fresh
	RequestRepeated = "request-repeated" // a regeneration found that it had been requested before
	NodePaused      = "pause"            // a node stopped and continued later
	NodeCrashed     = "crash"            // a node lost its memory
	NodeRestarted   = "restart"          // a crashed node came back
	ClockSet        = "clock-step"       // a node's clock was set
	SkewBroken      = "skew-broken"      // a node's clock was off by more than promised
	CutOff          = "cut-off"          // a request of a machine that is cut off did not arrive
	SlowAnswer      = "latency"          // an answer was late
	OrphanTookPlace = "orphaned-request" // a request took effect after its sender had crashed
	Replicated      = "replicated"       // a write of one region changed the row in another one

	HoldTaken      = "hold-taken"      // a script's hold took its lock
	HoldContended  = "hold-contended"  // a lock was asked for while another node's script held it
	HoldTakenOver  = "hold-taken-over" // a lock was taken although an earlier holder had not released it
	HoldLost       = "hold-lost"       // a holder was told that it had lost its lock
	HoldExtended   = "hold-extended"   // a holder got another lease
	GuardedWritten = "guarded-write"   // a holder wrote what its lock guards
	GuardedRefused = "guarded-refused" // a late write was refused for its fencing token
	GuardedLate    = "guarded-late"    // a late write took effect, which no lock without fencing tokens can prevent

	CallAnswered = "call-answered" // an idempotent call was answered with a result
	CallRepeated = "call-repeated" // it was answered with the result of another call's effect
	// a call was made while another one with its key was in progress, or had died with its node
	CallContended    = "call-contended"
	CallTakenOver    = "call-taken-over" // an effect began during another call with the key whose effect had begun
	CallOtherPayload = "other-payload"   // a call was refused because its key was used with another payload
	EffectAgain      = "effect-again"    // the effect of a key took place after somebody had been told its result
)

// The faults of dependencies, in the order in which reports print them. Each of them is also a mark.
const (
	BodyPutFailed = "body-put-failed" // a body is not stored, and its writer is told
	BodyPutLost   = "body-put-lost"   // a body is stored, and its writer is told that it is not
	BodyGetFailed = "body-get-failed" // a body cannot be read now, whether or not it exists
	OriginFailed  = "origin-failed"   // the origin cannot be read now
)

// DependencyFaults returns the faults of the body store and of the origin.
func DependencyFaults() []string {
	return []string{BodyPutFailed, BodyPutLost, BodyGetFailed, OriginFailed}
}

// The kinds of a lock's events in a history, after those of package history: each is a history.Kind, and the event has
// a Hold. The event's key is the lock's name, and its node is the one that wants or has the lock.
const (
	EventLockAsked    = iota + 15 // a client asked for the lock
	EventLockTaken                // it was told that it has the lock
	EventLockRefused              // it was told that it does not have the lock; Note is the error
	EventLockChecking             // a holder asked whether it still holds the lock
	EventLockHeld                 // it was told that it still holds the lock
	// it was told that it no longer holds the lock, or that the lock could not be extended; Note is the error, if any
	EventLockLost
	EventLockExtending  // a holder asked for another lease
	EventLockExtended   // it was told that it has another lease
	EventLockReleasing  // a holder releases the lock
	EventLockReleased   // the release has returned; Note is its error, if there is one
	EventGuardedWrite   // a holder's write reached the resource that the lock guards
	EventGuardedRefused // the resource refused a holder's write because of its fencing token
)

// The kinds of events of idempotent calls, after those of locks: each is a history.Kind, and the event has a Hold. The
// event's key is the call's idempotency key, Inputs its payload, and Body the result of an effect.
const (
	EventCallAsked    = iota + 27 // a client made the call
	EventCallAnswered             // it was told a result
	EventCallRefused              // it was told to try again; Note is the error
	EventCallOther                // it was told that the key belongs to another payload; Note is the error
	EventEffectBegun              // the effect of the call began
	EventEffect                   // the effect took place
	EventEffectFailed             // the effect failed without taking place; Note is the error
)
