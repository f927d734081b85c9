package recorder

import (
	"time"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// Body is one write or deletion of a body in the body store. Its Change means the same as that of a history.Event.
type Body struct {
	Time   time.Time // true time at which it took effect
	Actor  string    // the node
	Name   string    // the name under which the body is kept
	Body   string    // the rendering; "" if Gone
	Gone   bool      // the body was deleted
	Change int
}

// Lagged is the history of the same schedule under another lag of TTL.
type Lagged struct {
	Lag     string
	History []history.Event
	// Diverged names the step at which the schedule could not be followed any further, because the nodes had made other
	// decisions. It is "" if the run came to its end.
	Diverged string
}
