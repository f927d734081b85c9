// Package mark names the events that a run can reach. A scenario names its marks by these words. Package scenario notes
// them.
package mark

// The marks, in the order in which reports print them. Every kind of fault, and every fault of a dependency, is also a
// mark, under its own name.
const (
	Published   = "published"    // META showed another page than before
	ServedFresh = "served-fresh" // a page was served that the cache held to be fresh

	LockTakenOver   = "lock-taken-over"  // a lease that was over was taken by another node
	LockRefused     = "lock-refused"     // an acquire met a lease that was held
	PublishRefused  = "publish-refused"  // a publish found that its lease was lost
	OwnCommitMet    = "own-commit-met"   // a lock's put, sent again after a lost response, met its own row
	ServedStale     = "served-stale"     // a page was served that the cache knew to be stale
	ExpiredRowRead  = "expired-row-read" // a row was read past its ttl, not deleted yet
	TTLDeletion     = "ttl-deletion"     // TTL deleted a row
	LeaseRefreshed  = "lease-refreshed"  // a holder extended its lease
	RolledBack      = "rolled-back"      // a rollback made a page show another version
	PageInvalidated = "page-invalidated" // a client was told that a page is not fresh any more
	RequestRepeated = "request-repeated" // a regeneration found that it had been asked for before
	NodePaused      = "pause"            // a node stopped and ran on later
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
	HoldTakenOver  = "hold-taken-over" // a lock was taken although an earlier holder had not given it back
	HoldLost       = "hold-lost"       // a holder was told that it had lost its lock
	HoldExtended   = "hold-extended"   // a holder got another lease
	GuardedWritten = "guarded-write"   // a holder wrote what its lock guards
	GuardedRefused = "guarded-refused" // a late write was refused for its fencing token
	GuardedLate    = "guarded-late"    // a late write took effect, which no lock without fencing tokens can prevent

	CallAnswered = "call-answered" // a call that runs once was answered with a result
	CallRepeated = "call-repeated" // it was answered with the result of another call's effect
	// a call was made while another one of its key was under way, or its node had died over it
	CallContended    = "call-contended"
	CallTakenOver    = "call-taken-over" // an effect began during another call of the key whose effect had begun
	CallOtherPayload = "other-payload"   // a call was refused because its key was used with another payload
	EffectAgain      = "effect-again"    // the effect of a key took place after somebody had been told a result of it
)

// The faults of dependencies, in the order in which reports print them. Each of them is also a mark.
const (
	BodyPutFailed = "body-put-failed" // a body is not stored, and its writer is told
	BodyPutLost   = "body-put-lost"   // a body is stored, and its writer is told that it is not
	BodyGetFailed = "body-get-failed" // a body cannot be read now, whether it is there or not
	OriginFailed  = "origin-failed"   // the origin cannot be read now
)

// DependencyFaults returns the faults of the body store and of the origin.
func DependencyFaults() []string {
	return []string{BodyPutFailed, BodyPutLost, BodyGetFailed, OriginFailed}
}

// The kinds of a lock's events in a history, after those of package history: each is a history.Kind, and the event has
// a Hold. The event's key is the lock's name. The event's node is the node that wants the lock or has it.
const (
	EventLockAsked    = iota + 15 // a client asked for the lock
	EventLockTaken                // it was told that it has the lock
	EventLockRefused              // it was told that it does not have the lock; Note is the error
	EventLockChecking             // a holder asked whether it still holds the lock
	EventLockHeld                 // it was told that it does
	// it was told that it no longer holds the lock, or that the lock could not be extended; Note is the error, if any
	EventLockLost
	EventLockExtending  // a holder asked for another lease
	EventLockExtended   // it was told that it has another lease
	EventLockReleasing  // a holder gives the lock back
	EventLockReleased   // the release has returned; Note is its error, if there is one
	EventGuardedWrite   // a holder's write reached the resource that the lock guards
	EventGuardedRefused // the resource refused a holder's write for its fencing token
)
