package history

import "time"

// Body is what happened to one body in the body store.
type Body struct {
	Time   time.Time // true time at which it took effect
	Actor  string    // the node
	Name   string    // under which it is kept
	Body   string    // which rendering; "" if Gone
	Gone   bool      // it was deleted
	Change int       // as in Event
}
