package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// indexUnits are the units that a write takes of an index.
type indexUnits struct {
	index *index
	units float64
}

// indexUnits returns the units that a write takes of the indexes that it changes: one write puts, changes or deletes a
// row in the index, two move it.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier1/putItem/indexConsumedCapacity.test.ts
func (w *write) indexUnits() []indexUnits {
	var all []indexUnits
	for _, x := range w.table.indexes {
		if units := w.unitsOf(x); units > 0 {
			all = append(all, indexUnits{x, units})
		}
	}
	return all
}

func (w *write) unitsOf(x *index) float64 {
	var before, after indexKey
	var had, has bool
	if w.row != nil {
		before, had = x.keyOf(&w.row.record)
	}
	if w.after != nil {
		after, has = x.keyOf(&w.after.record)
	}
	switch {
	case !had && !has:
		return 0
	case !had:
		return blocks(x.sizeOf(w.after), writeBlockBytes)
	case !has:
		return blocks(x.sizeOf(w.row), writeBlockBytes)
	}
	old, now := x.project(w.row), x.project(w.after)
	switch {
	case before != after:
		return blocks(old.sizeBytes, writeBlockBytes) + blocks(now.sizeBytes, writeBlockBytes)
	case old.record.Equal(&now.record):
		return 0
	}
	return blocks(max(old.sizeBytes, now.sizeBytes), writeBlockBytes)
}

// addIndexes adds the units of indexes to those of a table. Like consumedBy, addIndexes does not say whether they were
// read or written.
func addIndexes(c *types.ConsumedCapacity, list []indexUnits) {
	for _, u := range list {
		*c.CapacityUnits += u.units
		if c.Table == nil {
			continue // only the total was asked for
		}
		byName := &c.LocalSecondaryIndexes
		if u.index.global {
			byName = &c.GlobalSecondaryIndexes
		}
		if *byName == nil {
			*byName = map[string]types.Capacity{}
		}
		sum := u.units + aws.ToFloat64((*byName)[u.index.name].CapacityUnits)
		(*byName)[u.index.name] = types.Capacity{CapacityUnits: aws.Float64(sum)}
	}
}

// addWrite adds the units of a write, those of indexes too; times is 2 for the table within a transaction.
func (u *tableUnits) addWrite(w *write, times float64) {
	u.add(w.table.name, times*w.units())
	for _, x := range w.indexUnits() {
		if u.indexes == nil {
			u.indexes = map[string][]indexUnits{}
		}
		u.indexes[w.table.name] = append(u.indexes[w.table.name], x)
	}
}

// markIndexes reports the units of indexes as written.
func markIndexes(indexes map[string]types.Capacity) {
	//isrsim:unordered each by itself
	for name, c := range indexes {
		c.WriteCapacityUnits = c.CapacityUnits
		indexes[name] = c
	}
}
