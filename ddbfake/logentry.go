package ddbfake

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// logEntry is a Change as the log keeps it. The writer stores its rows as they are, and the first reader of the change
// converts them to items. The entry's place in the log gives the Seq of the change.
type logEntry struct {
	request       int // 0 for TTL, replicated for a write that came from another region
	time, sent    time.Time
	actor         string
	table         *tableID
	before, after *row
}

// replicated replaces a request's number if a write came from another region.
const replicated = -1

// change returns the entry as readers see it.
func (e *logEntry) change(seq int) Change {
	c := e.frame(seq)
	c.Before, c.After = itemOf(e.before), itemOf(e.after)
	return c
}

// passing returns the entry for a reader that does not keep it, like row.passing.
func (e *logEntry) passing(seq int) Change {
	c := e.frame(seq)
	c.Before, c.After = e.before.passing(), e.after.passing()
	return c
}

// frame returns the entry without the row's images.
func (e *logEntry) frame(seq int) Change {
	c := Change{
		Seq:     seq,
		Request: e.request,
		Time:    e.time,
		Sent:    e.sent,
		Actor:   e.actor,
		Region:  e.table.region,
		Table:   e.table.name,
		Born:    e.table.born,
	}
	switch e.request {
	case 0:
		c.Cause = CauseTTL
	case replicated:
		c.Request, c.Cause = 0, CauseReplica
	}
	c.Key = e.table.schema.idOf(e.row())
	return c
}

// row returns the row after the change, or the one before it if it was deleted.
func (e *logEntry) row() *row {
	if e.after != nil {
		return e.after
	}
	return e.before
}

// of reports whether the entry concerns a row of the table. A table that was deleted and created again is another
// table.
func (e *logEntry) of(t *table) bool { return e.table == t.tableID }

// changeLog is the change log. It is stored in chunks: growing a single array would copy it, which would make a write
// 10 % more expensive.
//
// Snapshots share the chunks and the array of read. Entries in them are never overwritten.
type changeLog struct {
	full    [][]logEntry // the chunks without room, oldest first
	tail    []logEntry   // the latest chunk; empty only if the log is empty
	length  int          // the length of all chunks
	dropped int          // Seq of the last dropped change, 0 if there is none
	// droppedAt is the time of that change.
	droppedAt time.Time

	// read has the changes that readers have asked for, converted to items. readAt is the index of read[0] in the log.
	read   []Change
	readAt int
}

// The capacity of the first chunk, and that of the largest ones.
const (
	minChunk = 4
	maxChunk = 64
)

// minRead is the first capacity of changeLog.read.
const minRead = 6

// nextChunk returns the capacity of the chunk that follows a chunk of the given length.
func nextChunk(length int) int { return min(max(2*length, minChunk), maxChunk) }

func (l *changeLog) add(e logEntry) {
	if len(l.tail) == cap(l.tail) {
		if len(l.tail) > 0 {
			l.full = append(l.full, l.tail)
		}
		l.tail = make([]logEntry, 0, nextChunk(len(l.tail)))
	}
	l.tail = append(l.tail, e)
	l.length++
}

// cut drops all changes except the latest, whose number is keep. It copies those into a new array, because snapshots
// may share the old one. The caller cuts each time that the log has doubled.
func (l *changeLog) cut(keep int) {
	drop := l.length - keep
	kept := make([]logEntry, 0, 2*keep)
	for i, e := range l.from(drop - 1) {
		if i < drop {
			l.droppedAt = e.time
			continue
		}
		kept = append(kept, *e)
	}
	l.read = l.read[min(max(drop-l.readAt, 0), len(l.read)):]
	l.readAt = max(l.readAt-drop, 0)
	l.full, l.tail, l.length, l.dropped = nil, kept, keep, l.dropped+drop
}

// from yields the entries of the log from index start on, each with its index.
func (l *changeLog) from(start int) func(yield func(int, *logEntry) bool) {
	return func(yield func(int, *logEntry) bool) {
		// Readers ask for the latest entries, so the search begins at the end.
		at, chunk := l.length-len(l.tail), len(l.full)
		for at > start {
			chunk--
			at -= len(l.full[chunk])
		}
		for ; chunk <= len(l.full); chunk++ {
			entries := l.tail
			if chunk < len(l.full) {
				entries = l.full[chunk]
			}
			for i := range entries {
				if at+i >= start && !yield(at+i, &entries[i]) {
					return
				}
			}
			at += len(entries)
		}
	}
}

// backward yields the entries with their Seqs, latest first.
func (l *changeLog) backward(yield func(int, *logEntry) bool) {
	seq := l.lastSeq()
	entries := l.tail
	for chunk := len(l.full); ; chunk-- {
		for i := len(entries) - 1; i >= 0; i-- {
			if !yield(seq, &entries[i]) {
				return
			}
			seq--
		}
		if chunk == 0 {
			return
		}
		entries = l.full[chunk-1]
	}
}

// asOf returns the Seq of the last change at or before an instant; none if all changes are later.
func (l *changeLog) asOf(at time.Time, none int) int {
	for seq, e := range l.backward {
		if !e.time.After(at) {
			return seq
		}
	}
	return none
}

// all returns the whole log, oldest first.
func (l *changeLog) all() []Change { return l.since(l.dropped) }

// since returns the changes whose Seq is greater than seq, in one array. It does not convert changes again that are in
// read.
func (l *changeLog) since(seq int) []Change {
	start := min(max(seq-l.dropped, 0), l.length)
	if start == l.length {
		return nil
	}
	if start < l.readAt || start > l.readAt+len(l.read) {
		l.read, l.readAt = nil, start
	}
	done := l.readAt + len(l.read)
	switch missing := l.length - done; {
	case missing <= cap(l.read)-len(l.read):
	case l.readAt == 0 && done <= maxChunk:
		// A log that is still short is likely to be read again from its beginning.
		l.read = append(make([]Change, 0, max(l.length, 2*done, minRead)), l.read...)
	case start == done:
		// This reader asks only for new changes, perhaps after each of them.
		l.read, l.readAt = make([]Change, 0, max(missing, nextChunk(len(l.read)))), done
	default:
		// This reader asks for old changes again. Doubling the array avoids a copy each time.
		l.read = append(make([]Change, 0, 2*(l.length-l.readAt)), l.read...)
	}
	for i, e := range l.from(done) {
		l.read = append(l.read, e.change(l.dropped+i+1))
	}
	return l.read[start-l.readAt : len(l.read) : len(l.read)]
}

// last returns the last entry, nil if there is none.
func (l *changeLog) last() *logEntry {
	if len(l.tail) == 0 {
		return nil
	}
	return &l.tail[len(l.tail)-1]
}

// lastSeq returns the Seq of the last change; 0 if there is none.
func (l *changeLog) lastSeq() int { return l.dropped + l.length }

// seqBefore returns the Seq of the change before index i of the log. i may be the end of the log.
func (l *changeLog) seqBefore(i int) int { return l.dropped + i }

// copy returns a log with the entries of l. Both logs may grow: the arrays of the copy have no spare capacity, so that
// only l appends to shared arrays.
func (l *changeLog) copy() changeLog {
	c := *l
	c.full = l.full[:len(l.full):len(l.full)]
	c.tail = l.tail[:len(l.tail):len(l.tail)]
	c.read = l.read[:len(l.read):len(l.read)]
	return c
}

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
	// Request numbers the calls of this DB from 1. All changes of a transaction share it; each write of a batch has its
	// own number, because a batch is not atomic. It is 0 if Cause is not a client.
	Request int
	// Time is when the change took effect by the service's clock. For a TTL deletion or a write from another region,
	// each under a lag, it is the instant at which it was due. Sent is when the caller made the call; for TTL it equals
	// Time.
	Time, Sent time.Time
	// Actor is the caller, even of a write that came from another region; "" for TTL.
	Actor string
	// Cause is a client, TTL or another region.
	Cause Cause
	// Region is the table's region, Table its name, and Key the row's key attributes.
	Region, Table string
	Key           attr.Item
	// Born is the Seq of the last change before the table was created. A table that was deleted and created again is a
	// different table.
	Born int
	// Before and After are the row's two images; nil means absent. They must not be modified.
	Before, After attr.Item
}

// Changes returns the change log, oldest first: all changes, or those that Options.KeepChanges has left. The returned
// slice does not change while the log grows; its elements must not be modified.
func (db *DB) Changes() []Change { return db.ChangesSince(0) }

// ChangesSince returns the changes whose Seq is greater than seq, unless they were dropped. Frequent calls on a long
// log are cheap: the next call reuses the changes that were copied for the last one.
func (db *DB) ChangesSince(seq int) []Change {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.settle(db.clock.Now())
	return db.state.log.since(seq)
}

// record appends to the change log. A log with twice the number of changes to be kept is cut to that number.
func (db *DB) record(e logEntry) {
	log := &db.state.log
	if keep := db.keepChanges; keep > 0 && log.length >= 2*keep {
		log.cut(keep)
	}
	log.add(e)
}
