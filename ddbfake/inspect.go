package ddbfake

import (
	"maps"
	"slices"
)

// Tables returns the names of the tables, sorted. Unlike ListTables it is no
// request: no fault sees it, and it is not counted.
func (db *DB) Tables() []string {
	db.mu.Lock()
	defer db.mu.Unlock()
	return slices.Sorted(maps.Keys(db.state.tables))
}

// Lag returns when TTL deletes: Options.Lag, or what SetLag has made of it.
func (db *DB) Lag() Lag {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.lag
}
