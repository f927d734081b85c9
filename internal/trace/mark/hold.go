package mark

import (
	"fmt"
	"time"
)

// Hold has the further facts of an event: besides the lock's name in an event of a lock, and besides key and payload in
// an event of a call.
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
