package history

import (
	"fmt"
	"strings"
	"time"
)

// Kind is the kind of an event.
type Kind uint8

// The kinds of events. The zero Kind is not valid.
const (
	Asked        Kind = iota + 1 // a client asked its node's cache for Key
	Served                       // the cache answered with Body, declaring it As fresh or stale
	Failed                       // the cache answered with an error; effects in the store are in doubt
	Rendered                     // a node read the origin's data for Key and made Body of it
	Changed                      // the origin's data behind Key changed
	Crashed                      // the node lost its memory and its open requests
	Restarted                    // the node came back under a new name
	Paused                       // the node stopped running (garbage collection, a frozen machine)
	Resumed                      // the node runs again and does not know that it stopped
	Stepped                      // the node's clock was set; Note says by how much
	Invalidating                 // a client asked its node to invalidate the page of Key
	Invalidated                  // the client was told that the page is invalidated
	Settled                      // faults have stopped and all other nodes are done
	RollingBack                  // a client asked its node to go back to an older version of the page of Key

	// The events of a lock called Key; see Hold. The node is the one that wants it, or has it.
	LockAsked      // a client asked for the lock
	LockTaken      // it was told that it has the lock
	LockRefused    // it was told that it has not; Note is the error
	LockChecking   // a holder asked whether it still holds the lock
	LockHeld       // it was told that it does
	LockLost       // it was told that it does not, or that the lock could not be extended; Note is the error, if there is one
	LockExtending  // a holder asked for another lease
	LockExtended   // it was told that it has one
	LockReleasing  // a holder gives the lock back
	LockReleased   // the release has returned; Note is its error, if there is one
	GuardedWrite   // a holder's write reached the resource that the lock guards
	GuardedRefused // the resource refused a holder's write for its fencing token
)

var kindNames = [...]string{
	Asked: "asked", Served: "served", Failed: "failed", Rendered: "rendered", Changed: "changed",
	Crashed: "crashed", Restarted: "restarted", Paused: "paused", Resumed: "resumed", Stepped: "clock-stepped",
	Invalidating: "invalidating", Invalidated: "invalidated", Settled: "settled", RollingBack: "rolling-back",
	LockAsked: "asks for lock", LockTaken: "takes lock", LockRefused: "is refused lock", LockChecking: "asks whether it holds lock",
	LockHeld: "is told that it holds lock", LockLost: "is told that it has lost lock", LockExtending: "asks to extend lock", LockExtended: "has extended lock",
	LockReleasing: "gives back lock", LockReleased: "has given back lock",
	GuardedWrite: "writes what is guarded by lock", GuardedRefused: "is refused a write of what is guarded by lock",
}

// String returns the kind as traces print it.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// ServedAs is the claim of a cache about the body that it serves.
type ServedAs uint8

// The claims of a Served event. Events of other kinds are Unclaimed.
const (
	Unclaimed ServedAs = iota
	Fresh              // by the cache's knowledge, the body is within its freshness window
	Stale              // the cache serves the body although its freshness window is over
)

// String returns "fresh", "stale" or "".
func (a ServedAs) String() string {
	switch a {
	case Fresh:
		return "fresh"
	case Stale:
		return "stale"
	default:
		return ""
	}
}

// Event is one thing that a client or its node saw or did.
type Event struct {
	Seq   int       // position in the history, from 1
	Time  time.Time // true time
	Actor string    // the node, with its incarnation after a restart
	Kind  Kind
	Key   string   // the cache key, where one is concerned
	As    ServedAs // for Served
	Body  string   // for Served and Rendered: the rendering
	Note  string   // an error's text, a clock step's size

	Tenant string // the tenant that the page belongs to; "" without tenants
	// Request is the idempotency key of a regeneration, for Asked and for the Rendered, Served and Failed that follow from
	// it. Inputs is the hash of its inputs. Both are "" for a page that was asked for without a key.
	Request, Inputs string
	// Partition, for Rendered, is the partition key of the META or LOCK rows that the node has named in its requests since
	// it was asked for the page; "" if it has named none, or rows of several pages.
	Partition string
	// Call tells the requests apart that one node has under way at once, in a history that clients tell
	// (live.Checker.Tell). It is "" in others.
	Call string
	// Within, for Rendered, is how long the page is fresh from then on, and for Settled the time within which every page
	// must be fresh. 0 is as the check's evidence says.
	Within time.Duration
	// Change is the sequence number of the last change in the store's log before the event, 0 if there is none.
	Change int
	// Hold is set for the events of locks.
	Hold *Hold
}

// Hold is what an event of a lock says besides the lock's name.
type Hold struct {
	ID string // of one request for the lock and everything that follows from it; unique in the history
	// Token is the fencing token that the holder was given, if it was given one.
	Token  int64
	Fenced bool
	// Excused is how much of the time since LockAsked, or since LockTaken, was spent on other things than the lock's own
	// doing: its requests were under way, or the node stood still.
	Excused time.Duration
	// Troubled says that since LockAsked the lock was told of a request whose result is not known, or that was not served.
	Troubled bool
}

// String prints the event as a trace shows it, without its sequence number and time.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(e.Kind.String())
	for _, part := range []string{prefixed(" ", e.Key), prefixed(" as ", e.As.String()), prefixed(" body ", e.Body), prefixed(": ", e.Note)} {
		b.WriteString(part)
	}
	if e.Hold != nil {
		b.WriteString(" (" + e.Hold.String() + ")")
	}
	return b.String()
}

// String names the hold, and its token if it has one.
func (h *Hold) String() string {
	if h.Fenced {
		return fmt.Sprintf("%s, token %d", h.ID, h.Token)
	}
	return h.ID
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}
