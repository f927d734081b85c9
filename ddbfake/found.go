package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// found is the table, key and row of a request on one row. Reads and writes look for them in the same way.
type found struct {
	table *table
	key   primaryKey
	keyed bool  // key, at and row are set
	at    *cell // where the row is or was; nil if not known
	row   *row  // nil if there is none
}

// fits reports whether the table is there and the values are a valid key of it (or, if they are a whole item, contain
// one). If so, f has the key set, and it need not be looked for again.
func (f *found) fits(db *DB, tableName string, values map[string]types.AttributeValue, whole bool) bool {
	var err error
	if f.table, err = db.find(&db.request, tableName); err != nil || f.table == nil {
		return false
	}
	schema := &f.table.schema
	if !whole && len(values) != schema.size() {
		return false
	}
	key, ok := schema.within(values)
	if ok {
		f.look(key)
	}
	return ok
}

// look finds the row of the key.
func (f *found) look(key primaryKey) {
	f.key, f.keyed = key, true
	if f.at = f.table.rows.cell(key); f.at != nil {
		f.row = f.at.row()
	}
}

// like returns an image that the row's next one is likely to resemble, nil if there is none.
func (f *found) like() *packed.Record {
	if f.at == nil {
		return nil
	}
	return &f.at.last.record
}

// next returns the row's next image.
func (f *found) next(record *packed.Record, sizeBytes int) *row {
	if f.at == nil {
		return (&place{key: f.key}).image(*record, sizeBytes)
	}
	return f.at.image(*record, sizeBytes)
}

// locate finds the table.
func (f *found) locate(db *DB, r *request, tableName string) (err error) {
	if f.table == nil {
		f.table, err = db.table(r, tableName)
	}
	return err
}
