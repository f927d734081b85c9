package ddbfake

// This file counts the units of each operation, whether or not it reports them as ConsumedCapacity.

// spendRead counts the units of a read of a table, or of its index x.
func (db *DB) spendRead(t *table, x *index, units float64) {
	db.countersOf(t).of(x).ConsumedReadCapacityUnits += units
}

// spendWrites counts the units of writes; times is 2 within a transaction.
func (db *DB) spendWrites(times float64, writes ...write) {
	for i := range writes {
		w := &writes[i]
		c := db.countersOf(w.table)
		c.own.ConsumedWriteCapacityUnits += times * w.units()
		if w.table.indexes == nil {
			continue
		}
		for _, u := range w.indexUnits() {
			c.of(u.index).ConsumedWriteCapacityUnits += times * u.units
		}
	}
}

// spendFailed counts the units of a write whose condition failed: those of the larger of the row and the item of a put.
//
// Deviation: the item that an update would have made is not known.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
func (db *DB) spendFailed(a *action) {
	db.countersOf(a.table).own.ConsumedWriteCapacityUnits += blocks(max(sizeOf(a.row), a.sizeBytes), writeBlockBytes)
}
