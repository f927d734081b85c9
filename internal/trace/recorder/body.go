package recorder

import "time"

// Body is one write or deletion of a body in the body store. Change is that of history.Event.
type Body struct {
	Time   time.Time // true time at which it took effect
	Actor  string    // the node
	Name   string    // the name under which the body is kept
	Body   string    // the rendering; "" if Gone
	Gone   bool      // the body was deleted
	Change int
}
