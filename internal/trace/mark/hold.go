package mark

import (
	"fmt"
	"time"
)

// Hold has the facts in an event of a lock besides the lock's name, or in an event of a call besides its key and
// payload.
type Hold struct {
	ID string // the number of one request or call and all that follows from it; unique in the history
	// Token is the fencing token that the holder was given, if it was given one.
	Token  int64
	Fenced bool
	// Excused is the part of the time since the lock was asked for, or taken, for which the lock is not to blame: its
	// requests were under way, or the node stood still.
	Excused time.Duration
	// Troubled says that, since it was asked for, the lock was told of a request whose result is not known, or that was
	// not served.
	Troubled bool
}

// String names the hold, and its token if it has one.
func (h *Hold) String() string {
	if h.Fenced {
		return fmt.Sprintf("%s, token %d", h.ID, h.Token)
	}
	return h.ID
}
