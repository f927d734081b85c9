package ddbfake

import "github.com/isr-sim/isr-sim/ddbfake/internal/packed"

// write is the replacement of one row. It takes effect at commit.
type write struct {
	found
	after *row // nil if no row is left; the same row if nothing changes
	check bool // a condition check, which writes nothing
}

// replace makes this the row's next image, unless it equals the present one.
func (w *write) replace(record *packed.Record, sizeBytes int) {
	if w.row == nil || !w.row.record.Equal(record) {
		w.after = w.next(record, sizeBytes)
	}
}

// commit does the writes of one request and logs those that change a row. It cannot fail: all checks were made before.
func (db *DB) commit(r *request, writes ...write) {
	db.noteWrites(r, writes)
	for i := range writes {
		w := &writes[i]
		e := logEntry{
			request: r.id,
			time:    r.now,
			sent:    r.sent,
			actor:   r.actor,
			table:   w.table.tableID,
			before:  w.row,
			after:   w.after,
		}
		db.store(w, e)
		if w.table.members != nil && !w.check {
			db.replicate(w.table, w.key, e)
		}
	}
}

// apart gives the next write of a batch a number of its own. A reader of the service may see one write of a batch and
// not the next, so those who read the log must not take the batch for a transaction.
func (db *DB) apart(r *request) {
	db.state.requests++
	r.id = db.state.requests
}

// store does a write and records it, unless it leaves the row as it is. It reports whether the row changes.
func (db *DB) store(w *write, e logEntry) bool {
	switch w.after {
	case w.row:
		return false
	case nil:
		w.table.remove(w.row, w.at)
	default:
		w.table.put(w.row, w.after, w.at, e.time)
	}
	db.record(e)
	return true
}
