package ddbfake

import (
	"maps"
	"slices"
)

// Tables returns the names of the tables, and the ARNs of those that are not in
// the default region, sorted by region, then name. Unlike ListTables it is no request: no fault sees
// it, and it is not counted.
func (db *DB) Tables() []string {
	db.mu.Lock()
	defer db.mu.Unlock()
	var names []string
	for _, t := range slices.SortedFunc(maps.Values(db.state.tables), (*table).compare) {
		names = append(names, t.address())
	}
	return names
}

// Lag returns when TTL deletes: Options.Lag, or what SetLag has made of it.
func (db *DB) Lag() Lag {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.lag
}
