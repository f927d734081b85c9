package history

import (
	"fmt"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// Kind is the kind of an event.
type Kind uint8

// The kinds of events. The zero Kind is not valid. After these kinds come those of locks and of idempotent calls,
// which are in package mark.
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
)

var kindNames = [...]string{
	Asked: "asked", Served: "served", Failed: "failed", Rendered: "rendered", Changed: "changed",
	Crashed: "crashed", Restarted: "restarted", Paused: "paused", Resumed: "resumed", Stepped: "clock-stepped",
	Invalidating: "invalidating", Invalidated: "invalidated", Settled: "settled", RollingBack: "rolling-back",
	mark.EventLockAsked: "asks for lock", mark.EventLockTaken: "takes lock", mark.EventLockRefused: "is refused lock",
	mark.EventLockChecking: "asks whether it holds lock", mark.EventLockHeld: "is told that it holds lock",
	mark.EventLockLost: "is told that it has lost lock", mark.EventLockExtending: "asks to extend lock",
	mark.EventLockExtended: "has extended lock", mark.EventLockReleasing: "gives back lock",
	mark.EventLockReleased: "has given back lock", mark.EventGuardedWrite: "writes what is guarded by lock",
	mark.EventGuardedRefused: "is refused a write of what is guarded by lock",
	mark.EventCallAsked:      "calls", mark.EventCallAnswered: "has the result of",
	mark.EventCallRefused: "is told to try again with", mark.EventCallOther: "is refused, for its payload,",
	mark.EventEffectBegun: "begins the effect of", mark.EventEffect: "has the effect happen of",
	mark.EventEffectFailed: "fails in the effect of",
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
	Fresh              // as far as the cache knows, the body is within its freshness window
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
	Key   string   // the cache key, if the event concerns one
	As    ServedAs // for Served
	Body  string   // for Served and Rendered: the rendering
	Note  string   // an error's text, a clock step's size

	Tenant string // the tenant that the page belongs to; "" without tenants
	// Request is the idempotency key of a regeneration, for Asked and for the Rendered, Served and Failed that follow
	// from it. Inputs is the hash of the regeneration's inputs. Both are "" for a page that was asked for without a
	// key. For an idempotent call, Key is the idempotency key, and Inputs the payload.
	Request, Inputs string
	// Partition, for Rendered, is the partition key of the META or LOCK rows that the node has named in its requests
	// since it was asked for the page; "" if it has named none, or rows of several pages.
	Partition string
	// Call, in a history that clients tell (live.Checker.Tell), distinguishes the requests that one node has under way
	// at once. In other histories it is "".
	Call string
	// Within, for Rendered, is how long the page is fresh from this event on. For Settled, it is the time within which
	// every page must be fresh. 0 means the time in the check's evidence.
	Within time.Duration
	// Change is the sequence number of the last change in the store's log before the event; 0 if there is none.
	Change int
	// Hold has further facts of an event of a lock, or of an idempotent call; nil for other events.
	Hold *Hold
}

// String prints the event in the form of a trace, without its sequence number and time.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(e.Kind.String())
	for _, part := range []string{prefixed(" ", e.Key), prefixed(" as ", e.As.String()), prefixed(" body ", e.Body),
		prefixed(": ", e.Note)} {
		b.WriteString(part)
	}
	if hold := e.Hold; hold != nil {
		b.WriteString(prefixed(" with payload ", e.Inputs) + " (" + hold.String() + ")")
	}
	return b.String()
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// Hold has the further facts of an event of a lock or of an idempotent call.
type Hold struct {
	ID string // the number of a request or call, the same in all its events; unique in the history
	// Token is the fencing token that the holder was given; Fenced says whether it was given one.
	Token  int64
	Fenced bool
	// Excused is the part of the time since the lock was asked for or taken for which the lock is not to blame: its
	// requests were under way, or the node stood still.
	Excused time.Duration
	// Troubled says that, since the lock was asked for, one of its requests failed: it was not served, or its result is
	// not known.
	Troubled bool
	// Silent is how long before the event the node last wrote, or was told that one of its requests failed, less the
	// time for which requests were under way since then. It is 0 if that write was refused, or is under way. Only
	// events of a self-extending lock have it.
	Silent time.Duration
	// Done is for the beginning of an effect. It says that the call already knows that its effect has happened, or has
	// already begun its effect and does not know yet how that ended.
	Done bool
}

// String names the hold, and its token if it has one.
func (h *Hold) String() string {
	if h.Fenced {
		return fmt.Sprintf("%s, token %d", h.ID, h.Token)
	}
	return h.ID
}
