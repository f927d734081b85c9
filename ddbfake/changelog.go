package ddbfake

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Cause says who changed a row: a client, or the service itself.
type Cause uint8

const (
	// CauseClient is a change made by a call.
	CauseClient Cause = iota
	// CauseTTL is a deletion of an expired row by the service.
	CauseTTL
)

// String returns "client" or "ttl".
func (c Cause) String() string {
	switch c {
	case CauseClient:
		return "client"
	case CauseTTL:
		return "ttl"
	}
	return fmt.Sprintf("Cause(%d)", uint8(c))
}

// Change is one row that changed. A write that leaves its row as it was makes none.
type Change struct {
	// Seq numbers changes from 1, without gaps.
	Seq int
	// Request numbers the calls of this DB from 1; changes of one transaction share it. It is 0 for TTL.
	Request int
	// Time is when the change took effect by the service's clock; a TTL deletion under a lag carries the instant at which
	// it was due. Sent is when the caller made the call; it equals Time for TTL.
	Time, Sent time.Time
	// Actor is the caller, "" for TTL.
	Actor string
	// Cause is a client or TTL.
	Cause Cause
	// Region is where the table is, Table its name, Key the row's key attributes.
	Region, Table string
	Key           attr.Item
	// Born is the Seq of the last change before the table was created. A table that was deleted and created again is
	// another one.
	Born int
	// Before and After are the row's two images; nil means absent. They must not be modified.
	Before, After attr.Item
}

// Changes returns the change log, oldest first: all of it, or what Options.KeepChanges has left. The returned slice
// does not change while the log grows; its elements must not be modified.
func (db *DB) Changes() []Change { return db.ChangesSince(0) }

// ChangesSince returns the changes whose Seq is greater than seq, as far as they are kept. Frequent calls on a long log
// are cheap: the changes that were copied for one call serve the next.
func (db *DB) ChangesSince(seq int) []Change {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.expireByLag(db.clock.Now())
	return db.state.log.since(seq)
}

// record appends to the change log. A log that has reached twice the number of changes to be kept is cut to that
// number.
func (db *DB) record(e logEntry) {
	log := &db.state.log
	if keep := db.keepChanges; keep > 0 && log.length >= 2*keep {
		log.cut(keep)
	}
	log.add(e)
}
