package history

import (
	"fmt"
	"time"
)

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
