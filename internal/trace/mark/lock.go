package mark

// The kinds of a lock's events in a history, after those of package history: each is a history.Kind, and the event has a
// Hold. The event's key is the lock's name. The node is the one that wants the lock, or has it.
const (
	EventLockAsked      = iota + 15 // a client asked for the lock
	EventLockTaken                  // it was told that it has the lock
	EventLockRefused                // it was told that it has not; Note is the error
	EventLockChecking               // a holder asked whether it still holds the lock
	EventLockHeld                   // it was told that it does
	EventLockLost                   // it was told that it does not, or that the lock could not be extended; Note is the error, if there is one
	EventLockExtending              // a holder asked for another lease
	EventLockExtended               // it was told that it has one
	EventLockReleasing              // a holder gives the lock back
	EventLockReleased               // the release has returned; Note is its error, if there is one
	EventGuardedWrite               // a holder's write reached the resource that the lock guards
	EventGuardedRefused             // the resource refused a holder's write for its fencing token
)
