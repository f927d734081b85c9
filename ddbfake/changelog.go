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
	// CauseReplica is a write of another region that has arrived in this one: see DB.SetRegionLag.
	CauseReplica
)

// String returns "client", "ttl" or "replica".
func (c Cause) String() string {
	switch c {
	case CauseClient:
		return "client"
	case CauseTTL:
		return "ttl"
	case CauseReplica:
		return "replica"
	}
	return fmt.Sprintf("Cause(%d)", uint8(c))
}

// Change is one row that changed. A write that leaves its row as it was is not a Change.
type Change struct {
	// Seq numbers changes from 1, without gaps.
	Seq int
	// Request numbers the calls of this DB from 1. Changes of one transaction share it; each write of a batch has its
	// own, because a batch is not atomic. It is 0 if Cause is not a client.
	Request int
	// Time is when the change took effect by the service's clock; for a TTL deletion under a lag, and for a write that
	// came from another region under a lag, it is the instant at which they were due. Sent is when the caller made the
	// call; it equals Time for TTL.
	Time, Sent time.Time
	// Actor is the caller, also of a write that came from another region; "" for TTL.
	Actor string
	// Cause is a client, TTL or another region.
	Cause Cause
	// Region is where the table is, Table its name, Key the row's key attributes.
	Region, Table string
	Key           attr.Item
	// Born is the Seq of the last change before the table was created. A table that was deleted and created again is a
	// different table.
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
	db.settle(db.clock.Now())
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
