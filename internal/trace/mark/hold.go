package mark

import (
	"fmt"
	"time"
)

// Hold is what an event of a lock says besides the lock's name, or one of a call besides its key and payload.
type Hold struct {
	ID string // of one request for the lock, or one call, and everything that follows from it; unique in the history
	// Token is the fencing token that the holder was given, if it was given one.
	Token  int64
	Fenced bool
	// Excused is how much of the time since the lock was asked for, or since it was taken, was not spent on the lock's own
	// doing: its requests were under way, or the node stood still.
	Excused time.Duration
	// Troubled says that since the lock was asked for it was told of a request whose result is not known, or that was not served.
	Troubled bool
}

// String names the hold, and its token if it has one.
func (h *Hold) String() string {
	if h.Fenced {
		return fmt.Sprintf("%s, token %d", h.ID, h.Token)
	}
	return h.ID
}
