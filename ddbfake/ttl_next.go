package ddbfake

import "time"

// NextDeletion returns the first instant after a given one at which the lag deletes a row, if nothing else happens
// before; false if there is none. A simulator stops time at this instant, because requests just before and just after
// it see different rows. It looks at every row that has a ttl.
func (db *DB) NextDeletion(after time.Time) (next time.Time, ok bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.settle(db.clock.Now())
	if !db.lag.deletes() {
		return time.Time{}, false
	}
	//isrsim:unordered a minimum has no order
	for _, t := range db.state.tables {
		t.dues.Scan(func(r *row) bool {
			lag, deleted := db.lag.of(db.seed, t, r)
			if !deleted || lag > (maxTTLAgeSeconds-1)*time.Second || r.due > latestDue {
				return true // by then its ttl is too old, or no clock shows such a time
			}
			// TTL deletes a row only after the second that its ttl names.
			if at := time.Unix(r.due, 0).UTC().Add(lag + time.Second); at.After(after) && (!ok || at.Before(next)) {
				next, ok = at, true
			}
			return true
		})
	}
	return next, ok
}

// latestDue is the last second that NextDeletion looks at: the end of year 9999.
const latestDue = 253402300799
