package ddbfake

import (
	"math"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// maxItemBytes is the limit on an item, names included.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-items
const maxItemBytes = 400 * 1024

// row is one image of a row of a table. It is immutable: a write makes a new one, so snapshots and the change log share
// them.
type row struct {
	*place
	record    packed.Record
	sizeBytes int
	due       int64 // the ttl in epoch seconds, or noDue if TTL never deletes the row

	// The fields below are made when they are first asked for. They are atomic because several DBs, each with its own
	// lock, may share rows.

	item  lazyItem
	texts atomic.Pointer[packed.Texts] // see toSDK
}

// place identifies the row: all images of a row share it.
type place struct {
	key primaryKey
	id  lazyItem // the key attributes
}

// lazyItem holds an attr.Item, made when it is first asked for.
type lazyItem struct{ atomic.Value }

func (l *lazyItem) get(build func() attr.Item) attr.Item {
	if item, ok := l.Load().(attr.Item); ok {
		return item
	}
	item := build()
	l.Store(item)
	return item
}

// image returns an image of the row.
func (p *place) image(record packed.Record, sizeBytes int) *row {
	return &row{place: p, record: record, sizeBytes: sizeBytes}
}

// itemOf returns a row's item, nil for no row. It must not be modified.
func itemOf(r *row) attr.Item {
	if r == nil {
		return nil
	}
	return r.item.get(r.record.Item)
}

// passing returns a row's item, nil for no row. It is for a reader that does not keep it, so the item is not kept for
// the next reader either. It must not be modified.
func (r *row) passing() attr.Item {
	if r == nil {
		return nil
	}
	if item, ok := r.item.Load().(attr.Item); ok {
		return item
	}
	return r.record.Item()
}

// idOf returns the key attributes of a row of a table with this schema. They must not be modified.
func (s *keySchema) idOf(r *row) attr.Item {
	return r.id.get(func() attr.Item {
		id := attr.Item{s.hash.Name: r.record.Get(s.hash.Name)}
		if s.hasSort() {
			id[s.sort.Name] = r.record.Get(s.sort.Name)
		}
		return id
	})
}

// attributesOf returns the attributes of a row, for conditions; a missing row has none.
func attributesOf(r *row) packed.Attributes {
	if r == nil {
		return attr.Item(nil)
	}
	return &r.record
}

// sizeOf returns a row's size, 0 for no row.
func sizeOf(r *row) int {
	if r == nil {
		return 0
	}
	return r.sizeBytes
}

// readOnce stands in place of the texts of a row that was read only once.
var readOnce = new(packed.Texts)

// toSDK returns the whole row as an answer, nil for no row. A row that is read again is likely to be read many times,
// so its printed numbers are then kept. A row that is never read, or is written between any two reads, needs no room
// for them.
func (r *row) toSDK() map[string]types.AttributeValue {
	if r == nil {
		return nil
	}
	texts := r.texts.Load()
	switch texts {
	case nil:
		r.texts.Store(readOnce)
		return r.record.ToSDK(nil)
	case readOnce:
		texts = r.record.Texts()
		r.texts.Store(texts)
	}
	return r.record.ToSDK(texts)
}

// tableRow identifies a row, whether or not it exists.
type tableRow struct {
	table *table
	key   primaryKey
}

// noDue is the value of due if TTL will never delete the row.
const noDue = math.MaxInt64

// lessByDue orders the rows that have a ttl.
func lessByDue(a, b *row) bool {
	if a.due != b.due {
		return a.due < b.due
	}
	return a.key.less(b.key)
}
