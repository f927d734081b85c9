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
// are kept. It copies little, however often it is called and however long the
// log: what has been copied for one call serves the next.
func (db *DB) ChangesSince(seq int) []Change {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.expireByLag(db.clock.Now())
	return db.state.log.since(seq)
}

// record numbers a change and appends it. A log that has grown to twice what is
// to be kept is cut to that, in a new array, because the old one may be in
// somebody's hands: a copy every keepChanges changes.
func (db *DB) record(c Change) {
	log := &db.state.log
	c.Seq = log.lastSeq() + 1
	if keep := db.keepChanges; keep > 0 && log.lastSeq()-log.seqBefore(0) >= 2*keep {
		all := log.all()
		*log = changeLog{tail: append(make([]Change, 0, 2*keep), all[len(all)-keep:]...)}
	}
	log.add(c)
}

// changeLog is the change log. Writers add to it in chunks, because an array that
// grows is copied, which is a tenth of what a write costs. Readers want one
// array, so the first of them to come joins the chunks.
//
// Snapshots share chunks. What is in them is not written to.
type changeLog struct {
	full [][]Change // the chunks that have no room left, oldest first
	tail []Change   // the latest one; it is empty only if the log is
}

// The room that a log begins with, and the most that a writer adds to it.
const (
	minChunk = 4
	maxChunk = 64
)

func (l *changeLog) add(c Change) {
	if len(l.tail) == cap(l.tail) {
		if len(l.tail) > 0 {
			l.full = append(l.full, l.tail)
		}
		l.tail = make([]Change, 0, min(max(2*len(l.tail), minChunk), maxChunk))
	}
	l.tail = append(l.tail, c)
}

// all returns the whole log, oldest first. The array that it makes has room for
// as much again, so that a reader who comes after each change does not have the
// log copied each time.
func (l *changeLog) all() []Change {
	if len(l.full) > 0 {
		length := l.lastSeq() - l.seqBefore(0)
		joined := append(make([]Change, 0, 2*length), l.full[0]...)
		for _, chunk := range l.full[1:] {
			joined = append(joined, chunk...)
		}
		l.full, l.tail = nil, append(joined, l.tail...)
	}
	return l.tail[:len(l.tail):len(l.tail)]
}

// since returns the changes whose Seq is greater than seq.
func (l *changeLog) since(seq int) []Change {
	if len(l.tail) == 0 {
		return nil
	}
	log := l.tail[:len(l.tail):len(l.tail)]
	if seq < log[0].Seq-1 {
		log = l.all()
	}
	return log[min(max(seq-(log[0].Seq-1), 0), len(log)):]
}

// last returns the last change, nil if there is none.
func (l *changeLog) last() *Change {
	if len(l.tail) == 0 {
		return nil
	}
	return &l.tail[len(l.tail)-1]
}

// lastSeq returns the Seq of the last change, 0 if there is none.
func (l *changeLog) lastSeq() int {
	if last := l.last(); last != nil {
		return last.Seq // the last change is never dropped
	}
	return 0
}

// seqBefore returns the Seq of the change before the one at an index of the
// log, which may be the end of it.
func (l *changeLog) seqBefore(i int) int {
	switch {
	case len(l.tail) == 0:
		return 0
	case len(l.full) > 0:
		return l.full[0][0].Seq - 1 + i
	}
	return l.tail[0].Seq - 1 + i
}

// copy returns a log that shares chunks with l; both may go on growing. Only one
// of them may append to the arrays that they share.
func (l *changeLog) copy() changeLog {
	return changeLog{full: l.full[:len(l.full):len(l.full)], tail: l.tail[:len(l.tail):len(l.tail)]}
}
