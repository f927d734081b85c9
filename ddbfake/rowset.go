package ddbfake

import (
	"hash/maphash"
	"math"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/tidwall/btree"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// rowSet holds the rows of a table in key order. Its methods are named like the tree's methods.
//
// A lookup in a tree compares a dozen keys with a common prefix, and a replacement does the same again. Programs read
// and rewrite the same rows again and again, so there are two shortcuts. First, a hash table caches recently used
// cells. Second, cells are overwritten in place while no snapshot shares them. A deleted row leaves its cell in the
// tree, because rows such as locks soon come back. Cells without a row are removed when there are too many of them.
type rowSet struct {
	tree *btree.BTreeG[*cell]
	// era is the number of this set: cells with this era belong to it alone, and other cells may be shared.
	era uint64
	// recent caches cells that were looked up, each in one of the two slots that the hash of its key gives. It is nil
	// until needed.
	recent []*cell
	// misses counts the lookups that recent missed.
	misses int
	// empty counts the cells without a row.
	empty int
	// probe is the argument of lookups in the tree. Keeping it here saves an allocation per lookup.
	probe cell
}

// cell is the tree's entry for one place. Only the set with the same era may write to it.
type cell struct {
	*place
	last *row   // the last image of the row
	gone bool   // the row was deleted
	era  uint64 // 0 if the cell is no longer in a tree
}

// row returns the row, nil if it was deleted.
func (c *cell) row() *row {
	if c.gone {
		return nil
	}
	return c.last
}

// eras gives each set its era. The numbers differ from run to run, which affects no result: they only decide which set
// may write to which cell.
var eras atomic.Uint64

func newRowSet() rowSet {
	less := func(a, b *cell) bool { return a.key.less(b.key) }
	tree := btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
	return rowSet{tree: tree, era: eras.Add(1), probe: cell{place: new(place)}}
}

// Copy returns a set that shares rows with s until one of them writes.
func (s *rowSet) Copy() rowSet {
	s.era = eras.Add(1)
	return rowSet{tree: s.tree.Copy(), era: eras.Add(1), empty: s.empty, probe: cell{place: new(place)}}
}

// Len returns the number of rows.
func (s *rowSet) Len() int { return s.tree.Len() - s.empty }

// Get returns the row with this key, nil if there is none.
func (s *rowSet) Get(key primaryKey) *row {
	if c := s.cell(key); c != nil {
		return c.row()
	}
	return nil
}

// Set adds a row, or replaces the one with its key. at is the result of cell for that key, or nil.
func (s *rowSet) Set(r *row, at *cell) {
	if at == nil || at.era != s.era {
		at = &cell{place: r.place, last: r, era: s.era}
		if former, replaced := s.tree.Set(at); replaced && former.gone {
			s.empty--
		}
		s.note(at)
		return
	}
	if at.gone {
		s.empty--
	}
	at.last, at.gone = r, false
}

// Delete removes a row. at is the result of cell for its key, or nil.
func (s *rowSet) Delete(r *row, at *cell) {
	if at == nil || at.era != s.era {
		s.tree.Delete(s.at(r.key))
		s.forget(r.key)
		return
	}
	at.gone = true
	if s.empty++; s.empty > max(s.Len(), maxEmpty) {
		s.sweep()
	}
}

// maxEmpty is the number of empty cells that are always tolerated.
const maxEmpty = 64

// sweep removes the empty cells from the tree. It runs when half of the cells are empty, so its cost is one deletion
// per empty cell.
func (s *rowSet) sweep() {
	var empty []*cell
	s.tree.Scan(func(c *cell) bool {
		if c.gone {
			empty = append(empty, c)
		}
		return true
	})
	for _, c := range empty {
		s.tree.Delete(c)
		if c.era == s.era {
			c.era = 0
		}
		s.forget(c.key)
	}
	s.empty = 0
}

// Scan visits the rows in order until visit returns false.
func (s *rowSet) Scan(visit func(*row) bool) { s.tree.Scan(rowsOf(visit)) }

// rowsOf turns a visitor of rows into a visitor of cells.
func rowsOf(visit func(*row) bool) func(*cell) bool {
	return func(c *cell) bool { return c.gone || visit(c.last) }
}

// Ascend visits the rows in order, from the first with this key or a greater one.
func (s *rowSet) Ascend(from primaryKey, visit func(*row) bool) {
	s.tree.Ascend(s.at(from), rowsOf(visit))
}

// Descend visits the rows backwards, from the last with this key or a smaller one.
func (s *rowSet) Descend(from primaryKey, visit func(*row) bool) {
	s.tree.Descend(s.at(from), rowsOf(visit))
}

func (s *rowSet) at(key primaryKey) *cell {
	s.probe.key = key
	return &s.probe
}

func (s *rowSet) cell(key primaryKey) *cell {
	if s.recent != nil {
		one, other := s.slots(key)
		if c := *one; c != nil && c.key == key {
			return c
		}
		if c := *other; c != nil && c.key == key {
			return c
		}
	}
	c, ok := s.tree.Get(s.at(key))
	if !ok {
		return nil
	}
	s.misses++
	if s.misses > s.tree.Len() {
		s.misses = 0
		s.widen()
	}
	s.note(c)
	return c
}

// Bounds of recent: a small tree is fast enough without it, and a large set does not need a slot for each row.
const (
	minRecent = 64
	maxRecent = 1 << 16
)

// widen makes recent several times as large as the set, so that few rows share a slot. It runs after as many misses as
// there are rows, so it about doubles the cost of these misses.
func (s *rowSet) widen() {
	size := minRecent
	for size < maxRecent && size < 8*s.tree.Len() {
		size *= 2
	}
	if s.tree.Len() >= minRecent/2 && size > len(s.recent) {
		s.recent = make([]*cell, size)
	}
}

// slots returns the two slots of recent that may have a key.
func (s *rowSet) slots(key primaryKey) (one, other **cell) {
	const odd = 0x9e3779b97f4a7c15 // so that the keys of one partition have different slots
	h := maphash.String(keySeed, key.hash) + odd*maphash.String(keySeed, key.sort)
	h &= uint64(len(s.recent) - 1)
	return &s.recent[h], &s.recent[h^1]
}

// note puts a cell into recent, replacing another one if need be.
func (s *rowSet) note(c *cell) {
	if s.recent == nil {
		return
	}
	s.forget(c.key)
	one, other := s.slots(c.key)
	if *one != nil {
		one = other
	}
	*one = c
}

// forget removes a cell from recent.
func (s *rowSet) forget(key primaryKey) {
	if s.recent == nil {
		return
	}
	one, other := s.slots(key)
	for _, slot := range []**cell{one, other} {
		if *slot != nil && (*slot).key == key {
			*slot = nil
		}
	}
}

// keySeed differs from process to process, which affects no result: it only decides which lookups must go to the tree.
var keySeed = maphash.MakeSeed()

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

	// The fields below are filled on first use. They are atomic because several DBs, each with its own lock, may share
	// rows.

	item  lazyItem
	texts atomic.Pointer[packed.Texts] // see toSDK
	json  awsjson.Text                 // for an answer over a wire
}

// place identifies the row: all images of a row share it.
type place struct {
	key primaryKey
	id  lazyItem // the key attributes
}

// lazyItem holds an attr.Item that is made on first use.
type lazyItem struct{ atomic.Value }

func (l *lazyItem) get(build func() attr.Item) attr.Item {
	if item, ok := l.Load().(attr.Item); ok {
		return item
	}
	item := build()
	l.Store(item)
	return item
}

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

// passing returns a row's item, nil for no row. Its reader does not keep the item, so it is not stored for the next
// reader either. It must not be modified.
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

// readOnce replaces the texts of a row that was read only once.
var readOnce = new(packed.Texts)

// toSDK returns the whole row as an answer, nil for no row. The second read of a row keeps its printed numbers, because
// many reads are then likely to follow. A row that is never read, or is written between any two reads, needs no memory
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
