package ddbfake

import (
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// write is one row to be replaced, not yet done.
type write struct {
	table     *table
	key       primaryKey
	before    *row
	after     attr.Item // nil deletes
	sizeBytes int       // of after
}

// commit does the writes of one request and logs those that change a row. It
// cannot fail: whatever may is checked before.
func (db *DB) commit(r *request, writes ...write) {
	db.noteWrites(r, writes)
	for i := range writes {
		w := &writes[i]
		if w.after == nil {
			if w.before != nil {
				w.table.remove(w.before)
				db.log(r, w.table, w.before.id, w.before.item, nil)
			}
			continue
		}
		if w.before != nil && w.before.item.Equal(w.after) {
			continue
		}
		next := &row{key: w.key, item: w.after, sizeBytes: w.sizeBytes}
		if w.before != nil {
			next.id = w.before.id
		} else {
			next.id = w.table.schema.of(w.after)
		}
		w.table.put(w.before, next, r.now)
		db.log(r, w.table, next.id, itemOf(w.before), w.after)
	}
}

func (db *DB) log(r *request, t *table, key, before, after attr.Item) {
	db.record(Change{
		Request: r.id,
		Time:    r.now,
		Sent:    r.sent,
		Actor:   r.actor,
		Cause:   CauseClient,
		Region:  t.region,
		Table:   t.name,
		Key:     key,
		Before:  before,
		After:   after,
	})
}
