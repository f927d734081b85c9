package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Capacity units. A consistent read takes one unit for each 4 KB, an eventually consistent one half a unit. A write
// takes one unit for each KB of the larger of its two images. A read or write counts as at least one block, even if
// there is no row, and takes twice as many units within a transaction; what a transaction writes to an index takes the
// units that it takes elsewhere.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
// Source: https://github.com/nubo-db/dynoxide/pull/188 (indexes in a transaction, measured at the service)
const (
	readBlockBytes  = 4096
	writeBlockBytes = 1024
)

func blocks(sizeBytes, blockBytes int) float64 {
	return float64(max(1, (sizeBytes+blockBytes-1)/blockBytes))
}

func readUnits(sizeBytes int, consistent bool) float64 {
	if consistent {
		return blocks(sizeBytes, readBlockBytes)
	}
	return blocks(sizeBytes, readBlockBytes) / 2
}

// units returns the write units of a write.
func (w *write) units() float64 { return blocks(w.largest(), writeBlockBytes) }

// largest returns the size of the larger image.
func (w *write) largest() int { return max(sizeOf(w.after), sizeOf(w.row)) }

// consumed returns the ConsumedCapacity of a write that is a request by itself, nil if it was not asked for.
func (w *write) consumed(asked types.ReturnConsumedCapacity) *types.ConsumedCapacity {
	if !wanted(asked) {
		return nil
	}
	c := consumedBy(asked, w.table.name, w.units())
	addIndexes(c, w.indexUnits())
	return c
}

func wanted(asked types.ReturnConsumedCapacity) bool {
	return asked == types.ReturnConsumedCapacityTotal || asked == types.ReturnConsumedCapacityIndexes
}

// consumedBy reports units without saying whether they were read or written: only transactions do. It returns nil if
// they were not asked for.
func consumedBy(asked types.ReturnConsumedCapacity, table string, units float64) *types.ConsumedCapacity {
	if !wanted(asked) {
		return nil
	}
	c := &types.ConsumedCapacity{TableName: aws.String(table), CapacityUnits: aws.Float64(units)}
	if asked == types.ReturnConsumedCapacityIndexes {
		c.Table = &types.Capacity{CapacityUnits: aws.Float64(units)}
	}
	return c
}

// tableUnits adds up units by table.
type tableUnits struct {
	tables []string // in order of first appearance
	units  map[string]float64
	// indexes has the units of each table's indexes.
	indexes map[string][]indexUnits
}

func (u *tableUnits) add(table string, units float64) {
	if u.units == nil {
		u.units = map[string]float64{}
	}
	if _, ok := u.units[table]; !ok {
		u.tables = append(u.tables, table)
	}
	u.units[table] += units
}

// consumed reports the units of a transaction, as read or as written.
func (u *tableUnits) consumed(asked types.ReturnConsumedCapacity, read bool) []types.ConsumedCapacity {
	if !wanted(asked) {
		return nil
	}
	out := make([]types.ConsumedCapacity, len(u.tables))
	for i, name := range u.tables {
		c := consumedBy(asked, name, u.units[name])
		if c.Table != nil {
			mark(&c.Table.ReadCapacityUnits, &c.Table.WriteCapacityUnits, *c.Table.CapacityUnits, read)
		}
		if !read && u.indexes != nil {
			addIndexes(c, u.indexes[name])
			markIndexes(c.GlobalSecondaryIndexes)
			markIndexes(c.LocalSecondaryIndexes)
		}
		mark(&c.ReadCapacityUnits, &c.WriteCapacityUnits, *c.CapacityUnits, read)
		out[i] = *c
	}
	return out
}

// mark sets the number of units that were read, or that were written.
func mark(readUnits, writeUnits **float64, units float64, read bool) {
	if read {
		*readUnits = aws.Float64(units)
	} else {
		*writeUnits = aws.Float64(units)
	}
}
