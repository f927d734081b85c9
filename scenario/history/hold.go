package history

import (
	"fmt"
	"time"
)

// Hold has the further facts of an event: besides the name of a lock, or besides key and payload of an idempotent call.
type Hold struct {
	ID string // the number of a request or call, which all its later events have, too; unique in the history
	// Token is the fencing token that the holder was given, if it was given one.
	Token  int64
	Fenced bool
	// Excused is the part of the time since the lock was asked for or taken in which the lock is not to blame: its
	// requests were under way, or the node stood still.
	Excused time.Duration
	// Troubled says that, since the lock was asked for, one of its requests failed: it was not served, or its result is
	// not known.
	Troubled bool
	// Silent is how long before the event the node last wrote, or was told that a request of its failed, without the
	// time for which requests were under way since. It is 0 if that write was refused, or is under way. Only events
	// of a lock that extends itself have it.
	Silent time.Duration
	// Done says, where an effect begins, that its call was told before that its effect has happened, or that the call
	// has begun it before and does not know its end yet.
	Done bool
}

// String names the hold, and its token if it has one.
func (h *Hold) String() string {
	if h.Fenced {
		return fmt.Sprintf("%s, token %d", h.ID, h.Token)
	}
	return h.ID
}
