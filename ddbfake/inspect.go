package ddbfake

import (
	"maps"
	"slices"
)

// Tables returns the names of the tables, and the ARNs of those that are not in the default region, sorted by region,
// then name. It is not a request, as ListTables is: no fault hits it, and it is not counted.
func (db *DB) Tables() []string {
	db.mu.Lock()
	defer db.mu.Unlock()
	var names []string
	for _, t := range slices.SortedFunc(maps.Values(db.state.tables), (*table).compare) {
		names = append(names, t.address())
	}
	return names
}

// Lag returns the lag of TTL: Options.Lag, or the argument of the latest SetLag.
func (db *DB) Lag() Lag {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.lag
}
