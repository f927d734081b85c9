package ddbfake

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// This file has the parts that BatchGetItem and BatchWriteItem share. The tables of a batch come in a map. They are
// served in the order of their names; AWS promises no order.

// duplicateKeys is the answer to a batch that names an item twice.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/batchWriteItem.test.ts
const duplicateKeys = "Provided list of item keys contains duplicates"

// mapKeys refuses RequestItems, echoed as the service prints it, if one of the tables' names is not valid.
func (c *constraints) mapKeys(tables []string, echo func() string) {
	for _, name := range tables {
		if plainTableName(name) || strings.HasPrefix(name, "arn:") && len(name) <= maxTableARN &&
			plainTableName(nameInARN(name)) {
			continue
		}
		c.add("'"+echo()+"'", "requestItems",
			"Map keys must satisfy constraint: [Member must have length less than or equal to 255, "+
				"Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: "+
				tableNamePattern+"]")
		return
	}
}

// batchKeys are the keys that a batch has named so far.
type batchKeys map[tableRow]bool

// add refuses a key that was named before.
func (k batchKeys) add(t *table, key primaryKey) error {
	if k[tableRow{t, key}] {
		return invalid(duplicateKeys)
	}
	k[tableRow{t, key}] = true
	return nil
}

// withholds reports whether a fault leaves one request of a batch undone.
func (db *DB) withholds(r *request, table string, values map[string]types.AttributeValue) bool {
	switch {
	case r.withheld == nil:
		return false
	case r.undone != nil:
		return r.undone(table)
	default:
		return db.hits(*r.withheld, r.region, target{table, values})
	}
}

// consumedByBatch reports units by table, without saying whether they were read or written.
func (u *tableUnits) consumedByBatch(asked types.ReturnConsumedCapacity) []types.ConsumedCapacity {
	if !wanted(asked) {
		return nil
	}
	out := make([]types.ConsumedCapacity, len(u.tables))
	for i, name := range u.tables {
		out[i] = *consumedBy(asked, name, u.units[name])
		addIndexes(&out[i], u.indexes[name])
	}
	return out
}
