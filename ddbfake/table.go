package ddbfake

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/tidwall/btree"
)

// table is one table with its rows.
type table struct {
	*tableID
	rows  rowSet
	bytes int64

	// counters are the table's counters in its DB; nil until they are looked up.
	counters *counters

	// indexes are the secondary indexes, the global ones first; nil if there are none, so that a table without indexes
	// pays nothing for them.
	indexes []*index

	ttl ttlSetting
	// dues holds the rows that TTL may delete, by due time; empty while TTL is disabled.
	dues *btree.BTreeG[*row]
	// quietUntil is an epoch second before which no lag ends.
	quietUntil int64
	// order is the order of a Scan; nil until it is worked out.
	order scanOrder

	stream *stream // the latest one, which may be disabled; nil if there was none
	*settings
}

// settings have the parts of a table that change seldom. Copies of the table share them: see table.changeSettings.
type settings struct {
	id                 string
	created            time.Time
	definitions        []types.AttributeDefinition
	keys               []types.KeySchemaElement
	billing            types.BillingMode
	billed             time.Time // when it last changed to payment per request; zero if it never did
	throughput         throughput
	ceiling            ceiling
	warmth             warmth
	encryption         encryption
	class              types.TableClass
	deletionProtection bool
	recovery           recovery
	tags               map[string]string // changed in a copy
	members            []groupMember     // the members of its global table, with this one; nil if it is not a replica
	strong             bool              // its global table is strongly consistent
	witness            string            // the region of its witness, "" if it has none
}

// changeSettings gives the table settings of its own. It is called before they are changed: snapshots, backups and
// replicas keep what they had.
func (t *table) changeSettings() {
	s := *t.settings
	t.settings = &s
}

// tableID has the parts of a table that never change. Copies of the table share it.
type tableID struct {
	region string
	name   string
	schema keySchema
	born   int // Seq of the last change before the table was created
}

func newDues() *btree.BTreeG[*row] {
	return btree.NewBTreeGOptions(lessByDue, btree.Options{NoLocks: true})
}

// copy returns a table that shares rows with t until one of them writes.
func (t *table) copy() *table {
	c := *t
	c.rows = t.rows.Copy()
	c.dues = t.dues.Copy()
	c.indexes = copyIndexes(t.indexes)
	return &c
}

// get returns the row with this key, nil if there is none.
func (t *table) get(key primaryKey) *row { return t.rows.Get(key) }

// put replaces the row before by next; before is nil if there was no row. at is the cell where before is or was, or
// nil.
func (t *table) put(before, next *row, at *cell, now time.Time) {
	if before == nil {
		t.order = nil // there may be a new partition
	}
	next.due = t.ttl.dueOf(&next.record, now)
	t.rows.Set(next, at)
	if t.indexes != nil {
		t.reindex(before, next)
	}
	t.bytes += int64(next.sizeBytes - sizeOf(before))
	if before != nil && before.due != noDue {
		t.dues.Delete(before)
	}
	if next.due != noDue {
		t.dues.Set(next)
		t.quiet(next.due + 1)
	}
}

// remove deletes a row. at is its cell, or nil.
func (t *table) remove(r *row, at *cell) {
	t.rows.Delete(r, at)
	if t.indexes != nil {
		t.reindex(r, nil)
	}
	t.bytes -= int64(r.sizeBytes)
	if r.due != noDue {
		t.dues.Delete(r)
	}
}
