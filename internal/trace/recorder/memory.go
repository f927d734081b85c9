package recorder

import (
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// Memory is the past that a check remembers in addition to the present rows. An exhaustive search needs it. The search
// merges two moments of different runs if the rows, the knowledge of every client and the memories are equal, and it
// continues only one of them. So the check must reach the same verdict after both.
type Memory interface {
	Change(ddbfake.Change) // the next entry of the change log
	Event(history.Event)   // the next entry of the history
	// Fingerprint is equal for equal memories, and hardly ever for different ones. It leaves out a past that no longer
	// matters after now (true time), and the order in which different nodes acted at the same instant.
	Fingerprint(now time.Time) uint64
}
