package ddbfake

import "slices"

// UnderWay returns the writes that are under way to other regions, as the change log shows them once they have arrived,
// except for three fields: Before is nil; Seq is the number of the write among the writes to global tables; Time is
// when the write arrives by itself, zero if it does not. Writes to the same row stand together, oldest first. For a
// deletion that found no row, Key is nil.
//
// A simulator makes one of them arrive as a step, and stops time where others arrive by themselves.
func (db *DB) UnderWay() []Change {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.settle(db.clock.Now())
	u := &db.state.underWay
	if u.byRow == nil || u.byRow.Len() == 0 {
		return nil
	}
	all := make([]Change, 0, u.byRow.Len())
	u.byRow.Scan(func(d *delivery) bool {
		c := Change{
			Seq: d.number, Time: d.at, Sent: d.sent, Actor: d.actor, Cause: CauseReplica, Region: d.to, Table: d.table,
			After: itemOf(d.after),
		}
		if t := db.state.tables[address(d.to, d.table)]; t != nil {
			if key := t.schema.idOf(d.lags); key[t.schema.hash.Name] != nil {
				c.Key = key
			}
		}
		all = append(all, c)
		return true
	})
	return all
}

// Sent returns the number of writes to global tables. A random lag follows from the number of its write.
func (db *DB) Sent() int {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.state.underWay.numbers
}

// Deliver makes one of the writes of UnderWay arrive now, and reports whether that changed the row. Under LagNever
// nothing arrives.
func (db *DB) Deliver(c Change) bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	now := db.clock.Now()
	db.settle(now)
	if db.regionLag == LagNever {
		return false
	}
	all := db.state.underWay.inOrder()
	i := slices.IndexFunc(all, func(d *delivery) bool { return d.number == c.Seq && d.to == c.Region })
	return i >= 0 && db.arrive(all[i], now)
}
