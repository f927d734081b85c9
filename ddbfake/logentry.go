package ddbfake

import "time"

// logEntry is a Change as it is kept. A writer leaves the rows that it has at
// hand, and the first reader of the change makes items of them. Its number is
// its place in the log.
type logEntry struct {
	request       int // 0 for TTL
	time, sent    time.Time
	actor         string
	table         *tableID
	before, after *row
}

// change returns the entry as readers see it.
func (e *logEntry) change(seq int) Change {
	c := Change{
		Seq:     seq,
		Request: e.request,
		Time:    e.time,
		Sent:    e.sent,
		Actor:   e.actor,
		Region:  e.table.region,
		Table:   e.table.name,
		Born:    e.table.born,
		Before:  itemOf(e.before),
		After:   itemOf(e.after),
	}
	if e.request == 0 {
		c.Cause = CauseTTL
	}
	c.Key = e.table.schema.idOf(e.row())
	return c
}

// row returns an image of the row that changed.
func (e *logEntry) row() *row {
	if e.after != nil {
		return e.after
	}
	return e.before
}

// of reports whether a row of the table changed. A table that was deleted and
// created again is another one.
func (e *logEntry) of(t *table) bool { return e.table == t.tableID }

// changeLog is the change log. Writers add to it in chunks, because an array
// that grows is copied, which is a tenth of what a write costs.
//
// Snapshots share chunks and the array of read. Entries in them are never
// written to.
type changeLog struct {
	full    [][]logEntry // the chunks that have no room left, oldest first
	tail    []logEntry   // the latest one; it is empty only if the log is
	length  int          // of all chunks
	dropped int          // Seq of the last change that was dropped, 0 if none was

	// read are changes that have been read, from the index readAt of the log
	// on.
	read   []Change
	readAt int
}

// The room that a log begins with, and the most that a writer adds to it.
const (
	minChunk = 4
	maxChunk = 64
)

// minRead is the room that the changes read begin with.
const minRead = 6

// nextChunk returns the room of the next chunk, when one is full.
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

// cut drops all but the latest changes. They are copied into a new array,
// because snapshots may share the old one. The copy is made each time the log
// has doubled.
func (l *changeLog) cut(keep int) {
	drop := l.length - keep
	kept := make([]logEntry, 0, 2*keep)
	for _, e := range l.from(drop) {
		kept = append(kept, *e)
	}
	l.read = l.read[min(max(drop-l.readAt, 0), len(l.read)):]
	l.readAt = max(l.readAt-drop, 0)
	l.full, l.tail, l.length, l.dropped = nil, kept, keep, l.dropped+drop
}

// from yields the entries from an index of the log on, with their indexes.
func (l *changeLog) from(start int) func(yield func(int, *logEntry) bool) {
	return func(yield func(int, *logEntry) bool) {
		// Readers come for the latest: those chunks are at the end.
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

// backward yields the entries from the latest to the oldest, with their Seqs.
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

// all returns the whole log, oldest first.
func (l *changeLog) all() []Change { return l.since(l.dropped) }

// since returns the changes whose Seq is greater than seq. They are in one
// array, which they share with the changes that were read before if some of
// these are asked for again.
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
		// A reader who comes for new changes, maybe after each one.
		l.read, l.readAt = make([]Change, 0, max(missing, nextChunk(len(l.read)))), done
	default:
		// A reader who comes again for old changes: the array doubles, so that
		// it is not copied each time.
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

// lastSeq returns the Seq of the last change, 0 if there is none.
func (l *changeLog) lastSeq() int { return l.dropped + l.length }

// seqBefore returns the Seq of the change before the one at an index of the
// log, which may be the end of it.
func (l *changeLog) seqBefore(i int) int { return l.dropped + i }

// copy returns a log that shares arrays with l; both may go on growing. Only one
// of them may append to the arrays that they share.
func (l *changeLog) copy() changeLog {
	c := *l
	c.full = l.full[:len(l.full):len(l.full)]
	c.tail = l.tail[:len(l.tail):len(l.tail)]
	c.read = l.read[:len(l.read):len(l.read)]
	return c
}
