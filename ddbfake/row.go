package ddbfake

import (
	"math"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// maxItemBytes is the limit on an item, names included.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-items
const maxItemBytes = 400 * 1024

// row is one row of a table. Rows are immutable: a write makes a new one, so
// snapshots and the change log share them.
type row struct {
	key       primaryKey
	id        attr.Item // the key attributes
	item      attr.Item
	sizeBytes int
	due       int64 // epoch seconds of the ttl that TTL goes by, or noDue
}

// tableRow says which row, be it there or not.
type tableRow struct {
	table *table
	key   primaryKey
}

// noDue is the due of a row that TTL will never delete.
const noDue = math.MaxInt64

// lessByDue orders the rows that have a ttl.
func lessByDue(a, b *row) bool {
	if a.due != b.due {
		return a.due < b.due
	}
	return a.key.less(b.key)
}

// itemOf returns a row's item, nil for no row.
func itemOf(r *row) attr.Item {
	if r == nil {
		return nil
	}
	return r.item
}

// sizeOf returns a row's size, 0 for no row.
func sizeOf(r *row) int {
	if r == nil {
		return 0
	}
	return r.sizeBytes
}
