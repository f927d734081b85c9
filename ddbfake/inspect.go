package ddbfake

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Tables returns the names of the tables, and the ARNs of those that are not in the default region, sorted by region,
// then name. Unlike ListTables it is not a request: no fault hits it, and it is not counted.
func (db *DB) Tables() []string {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.state.addresses()
}

// addresses names the tables: see DB.Tables.
func (s *state) addresses() (names []string) {
	for _, t := range slices.SortedFunc(maps.Values(s.tables), (*table).compare) {
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

// Fate says when TTL deletes a row. Due is the second that the row's ttl names: the row is expired from the next second
// on. It is zero for a row that TTL does not delete, and for a row that does not exist. Deletion is the instant at
// which the lag deletes the row, unless somebody writes the row before. It is zero if the lag never deletes the row, or
// leaves that to Sweep. Without a Region, Table may be an ARN, as in Tables.
func (db *DB) Fate(of Row) (due, deletion time.Time) {
	db.mu.Lock()
	defer db.mu.Unlock()
	now := db.clock.Now()
	db.settle(now)
	t := db.state.at(address(cmp.Or(of.Region, DefaultRegion), of.Table))
	if t == nil {
		return time.Time{}, time.Time{}
	}
	named, err := t.schema.ofItem(of.Key)
	if err != nil {
		return time.Time{}, time.Time{}
	}
	r := t.get(named)
	if r == nil || r.due == noDue || r.due < now.Unix()-maxTTLAgeSeconds {
		return time.Time{}, time.Time{}
	}
	deletion, _ = db.lag.ends(db.seed, t, r)
	return time.Unix(r.due, 0).UTC(), deletion
}
