package ddbfake

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// found is what a request on one row is about: reads and writes look for it in
// the same way.
type found struct {
	table *table
	key   primaryKey
	keyed bool // key is known
	row   *row // nil if there is none
}

// fits reports whether the table is there and the values are one of its keys.
// Then they are valid values too, and what has been found is found once.
func (f *found) fits(db *DB, tableName string, values map[string]types.AttributeValue) bool {
	var err error
	if f.table, err = db.find(&db.request, tableName); err != nil || f.table == nil {
		return false
	}
	f.key, err = f.table.schema.ofKey(values)
	f.keyed = err == nil
	return f.keyed
}

// locate finds the table.
func (f *found) locate(db *DB, r *request, tableName string) (err error) {
	if f.table == nil {
		f.table, err = db.table(r, tableName)
	}
	return err
}
