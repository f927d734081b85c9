package invariant

import (
	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// teller judges a log and a history while both are written. It is told of changes and events in the order in which they
// happened, and relies on that order, even for changes and events at the same time. It goes on after a violation.
//
// A teller remembers every key, rendering and event that it is told of. It is not safe for concurrent use.
type teller interface {
	// Request takes in the changes of one request, like a Watcher.
	Request(changes []ddbfake.Change)
	// Event judges the next event, whose Seq is greater than those before it. The event must not change afterwards. A
	// Finding without a Verdict judged nothing. The Events of a Finding are those that decide it.
	Event(e *history.Event) Finding
}
