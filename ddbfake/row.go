package ddbfake

import (
	"math"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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
	// template is how the row is answered: see toSDK. It is atomic because DBs
	// with locks of their own share rows.
	template atomic.Pointer[attr.Template]
}

// readOnce is the template of a row that was read once.
var readOnce = new(attr.Template)

// toSDK returns the whole row as an answer. A row that is read again is likely
// to be read many times, so it gets a template then. A row that is written
// between any two reads, or not read at all, takes no room for one.
func (r *row) toSDK() map[string]types.AttributeValue {
	template := r.template.Load()
	switch template {
	case nil:
		r.template.Store(readOnce)
		return r.item.ToSDK()
	case readOnce:
		template = r.item.Template()
		r.template.Store(template)
	}
	return template.ToSDK()
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
