package ddbfake

import (
	"fmt"
	"slices"
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

// Change is one row that changed. A write that leaves its row as it was makes
// none.
type Change struct {
	// Seq numbers changes from 1, without gaps.
	Seq int
	// Request numbers the calls of this DB from 1; changes of one transaction
	// share it. It is 0 for TTL.
	Request int
	// Time is when the change took effect by the service's clock; a TTL
	// deletion under a lag carries the instant at which it was due. Sent is
	// when the caller made the call; it equals Time for TTL.
	Time, Sent time.Time
	// Actor is who called, "" for TTL.
	Actor string
	// Cause is a client or TTL.
	Cause Cause
	// Region is where the table is, Table its name, Key the row's key
	// attributes.
	Region, Table string
	Key           attr.Item
	// Before and After are the row's two images; nil means absent. They must
	// not be modified.
	Before, After attr.Item
}

// Changes returns the change log, oldest first: all of it, or what
// Options.KeepChanges has left. The slice returned stays what it is while the
// log grows; its elements must not be modified.
func (db *DB) Changes() []Change { return db.ChangesSince(0) }

// ChangesSince returns the changes whose Seq is greater than seq, as far as they
// are kept. It copies nothing, however long the log.
func (db *DB) ChangesSince(seq int) []Change {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.expireByLag(db.clock.Now())
	return db.state.since(seq)
}

// since returns the changes whose Seq is greater than seq.
func (s *state) since(seq int) []Change {
	i := min(max(seq-s.seqBefore(0), 0), len(s.log))
	return s.log[i:len(s.log):len(s.log)]
}

// lastSeq returns the Seq of the last change, 0 if there is none.
func (s *state) lastSeq() int { return s.seqBefore(len(s.log)) }

// seqBefore returns the Seq of the change before the one at an index of the
// log, which may be the end of it.
func (s *state) seqBefore(i int) int {
	if len(s.log) == 0 {
		return 0 // the last change is never dropped
	}
	return s.log[0].Seq - 1 + i
}

// record numbers a change and appends it. A log that has grown to twice what is
// to be kept is cut to that, in a new array, because the old one may be in
// somebody's hands: a copy every keepChanges changes.
func (db *DB) record(c Change) {
	s := &db.state
	c.Seq = s.lastSeq() + 1
	if keep := db.keepChanges; keep > 0 && len(s.log) >= 2*keep {
		s.log = append(make([]Change, 0, 2*keep), s.log[len(s.log)-keep:]...)
	}
	if len(s.log) == cap(s.log) {
		// append lets a long slice grow by a quarter, and so copies each element
		// four times.
		s.log = slices.Grow(s.log, max(len(s.log), minLog))
	}
	s.log = append(s.log, c)
}

// minLog is the room that a log begins with.
const minLog = 4
